#pragma once
// Files by plain system calls, any thread. Every call blocks: on the loop's thread for small files only.
#include <looptask/host.hpp>

namespace looptask {

class system_files final : public file_port {
 public:
  ~system_files() = default;
  std::string read(const std::string& path, std::size_t limit) override;
  void append(const std::string& path, std::string_view bytes) override;   // creates it with mode 0600
  void replace(const std::string& path, std::string_view bytes) override;  // creates it with mode 0600
  std::unique_ptr<open_file> open(const std::string& path, open_mode how) override;
  bool exists(const std::string& path) override;
  std::string absolute(const std::string& path) override;
  void make_directories(const std::string& path, unsigned mode) override;  // those that exist are left as they are
  std::unique_ptr<lock> try_lock(const std::string& path) override;        // creates it with mode 0600
};

}  // namespace looptask
