#pragma once
// A directory of its own for one test, removed with everything in it.
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace looptask::ledger {

class temporary_directory {
 public:
  temporary_directory() : temporary_directory(std::filesystem::temp_directory_path()) {}
  explicit temporary_directory(const std::filesystem::path& where) : path_(where / "looptask-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
  }
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;

  const std::string& path() const { return path_; }
  // For many short-lived files whose syncs prove nothing.
  static std::filesystem::path in_memory() {
    return ::access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
  }

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace looptask::ledger
