// ledger_writer DIRECTORY FIRST: submits numbered batches from FIRST on without end, several at a time, and writes one line
// "NUMBER\n" to stdout after each acknowledgement. Made to be killed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "ledger/sqlite_store.hpp"
#include "numbered_batches.hpp"
#include "test_loop.hpp"

namespace {

using namespace looptask::ledger;

void say(std::int64_t number) {
  const std::string line = std::to_string(number) + "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

void write_without_end(const std::string& directory, std::int64_t first) {
  test_loop home;
  const auto ledger = open_sqlite_store(directory, durability::full, home);
  std::int64_t submitted = first;
  std::int64_t acknowledged = first;
  while (true) {
    while (submitted < acknowledged + 5) {
      const std::int64_t number = submitted++;
      ledger->submit(numbered_batch(number), [&acknowledged, number](commit_error error) {
        if (error.failed) {
          std::fprintf(stderr, "%s\n", error.message.c_str());
          std::abort();
        }
        say(number);
        ++acknowledged;
      });
    }
    const std::int64_t before = acknowledged;
    home.run_until([&] { return acknowledged != before; });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    write_without_end(argv[1], std::atoll(argv[2]));
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
  }
}
