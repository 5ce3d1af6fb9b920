#pragma once
// A file system in memory, with the errors of a real one (no such file, no such directory, is a directory). Contents stay over
// the lives of a simulated service; its locks go with their holders.
//
// Owner: the thread of the world. A lock must not outlive the file system.
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <looptask/host.hpp>

namespace looptask::sim {

class memory_files final : public file_port {
 public:
  std::string read(const std::string& path, std::size_t limit = default_read_limit) override;
  void append(const std::string& path, std::string_view bytes) override;
  void replace(const std::string& path, std::string_view bytes) override;
  std::unique_ptr<open_file> open(const std::string& path, open_mode how) override;
  bool exists(const std::string& path) override;
  std::string absolute(const std::string& path) override;
  void make_directories(const std::string& path, unsigned mode) override;
  std::unique_ptr<lock> try_lock(const std::string& path) override;

 private:
  class held_lock;
  class opened;
  using content = std::shared_ptr<std::string>;  // also of those who have the file open, when it is replaced
  content& create(const std::string& path);      // an empty file in a directory that exists, if it is not there
  content& find(const char* what, const std::string& path);

  std::map<std::string, content> contents_;
  std::set<std::string> directories_{"/", "/tmp"};
  std::set<std::string> locked_;
};

}  // namespace looptask::sim
