#pragma once
// A folder of a test's own, removed with everything in it.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace looptask {

class scratch {
 public:
  scratch() : path_((std::filesystem::temp_directory_path() / "looptask-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + path_);
    ::chmod(path_.c_str(), 0755);
    path_ = std::filesystem::canonical(path_).string();
  }
  ~scratch() {
    std::error_code ignored;  // a test that failed may have left it in use
    std::filesystem::remove_all(path_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

  void write(std::string_view name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }
  void write_program(std::string_view name, std::string_view text) const {
    write(name, text);
    ::chmod(path(name).c_str(), 0755);
  }
  std::string read(std::string_view name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

}  // namespace looptask
