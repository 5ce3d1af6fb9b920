// That no public awaitable is without its kind: what the public headers declare is compared with what the kinds cover. An
// awaitable is a final class that derives from `operation`, however far, or a function that returns a task or such a class.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "cancellation/kind.hpp"
#include "source_tree.hpp"

namespace looptask::tests {
namespace {

// No waits of their own, and why.
const std::set<std::string> no_kinds{"scope.hpp run",                // runs what it is given
                                     "scope.hpp move_on_at",         // as run
                                     "scope.hpp move_on_after",      // as run
                                     "scope.hpp with_timeout",       // as run
                                     "scope.hpp shield",             // as run
                                     "process.hpp spawned",          // private; the beginning of with_process
                                     "process.hpp end",              // private; the end of with_process, in a shield
                                     "task_local.hpp run",           // runs what it is given
                                     "reader.hpp search",            // private; what read_until and read_line wait for
                                     "writer.hpp writer",            // a duplex::waiter, which is no operation
                                     "stream.hpp checkpoint",        // never waits
                                     "task.hpp get_return_object",   // makes a task for the compiler
                                     "generator.hpp final_suspend",  // the end of each generator
                                     "task.hpp final_suspend"};      // the end of each task

std::map<std::string, std::string> public_headers() {
  std::map<std::string, std::string> all;
  static const std::regex comment("//[^\n]*");
  for (const auto& one : std::filesystem::directory_iterator(source_dir() + "/include/looptask")) {
    std::ifstream file(one.path());
    std::stringstream text;
    text << file.rdbuf();
    all[one.path().filename()] = std::regex_replace(text.str(), comment, "");
  }
  return all;
}

// "HEADER NAME" of every final class that derives from operation.
std::set<std::string> awaitable_classes(const std::map<std::string, std::string>& headers) {
  struct declared {
    std::string where;
    std::string name;
    std::string bases;
    bool final;
  };
  std::vector<declared> all;
  static const std::regex declaration(R"((?:class|struct) ([\w:<>]+)( final)? :([^{;]*)\{)");
  for (const auto& [header, text] : headers) {
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) {
      std::string name = (*at)[1];
      if (const auto colons = name.rfind(':'); colons != std::string::npos) name = name.substr(colons + 1);
      all.push_back({header, name, (*at)[3], (*at)[2].matched});
    }
  }
  std::set<std::string> bases{"operation"};
  std::set<std::string> found;
  for (std::size_t before = 0; before != bases.size();) {
    before = bases.size();
    for (const declared& one : all) {
      const bool derives = std::any_of(bases.begin(), bases.end(), [&one](const std::string& base) {
        return std::regex_search(one.bases, std::regex("\\b" + base + "\\b"));
      });
      if (!derives) continue;
      if (one.final)
        found.insert(one.where + " " + one.name);
      else
        bases.insert(one.name);
    }
  }
  return found;
}

std::set<std::string> awaitable_functions(const std::map<std::string, std::string>& headers) {
  std::set<std::string> found;
  static const std::regex declaration(R"((?:\b(?!co_await\b)\w+_await(?:<[^;{}()]*>)?|\btask<[^;{}()]*>)\s+([a-z_]+)\()");
  for (const auto& [header, text] : headers) {
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) {
      const std::string name = (*at)[1];
      if (name != "operator") found.insert(header + " " + name);
    }
  }
  return found;
}

TEST(Registered, EveryPublicAwaitableHasAKind) {
  const auto headers = public_headers();
  std::set<std::string> covered = no_kinds;
  for (const kind& one : kinds()) covered.insert(one.covers.begin(), one.covers.end());
  std::set<std::string> all = awaitable_classes(headers);
  all.merge(awaitable_functions(headers));
  EXPECT_GT(all.size(), 30U) << "the search finds nothing any more";
  for (const std::string& one : all) EXPECT_TRUE(covered.contains(one)) << one << " is in no kind of tests/cancellation";
}

TEST(Registered, WhatIsRegisteredExists) {
  const auto headers = public_headers();
  std::set<std::string> covered = no_kinds;
  for (const kind& one : kinds()) covered.insert(one.covers.begin(), one.covers.end());
  for (const std::string& one : covered) {
    const auto space = one.find(' ');
    const auto header = headers.find(one.substr(0, space));
    ASSERT_NE(header, headers.end()) << one;
    EXPECT_TRUE(std::regex_search(header->second, std::regex("\\b" + one.substr(space + 1) + "\\b"))) << one;
  }
}

}  // namespace
}  // namespace looptask::tests
