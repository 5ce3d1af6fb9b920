#pragma once
// The data directory of a service: made if it is not there, and held by at most one service at a time. Owner: the loop's
// thread.
//
//   data_directory data(host.files(), "/var/lib/looptask");  // throws directory_in_use
#include <memory>
#include <stdexcept>
#include <string>

#include <looptask/host.hpp>

namespace looptask::service {

// Another service holds it.
class directory_in_use : public std::runtime_error {
 public:
  explicit directory_in_use(const std::string& path);
};

class data_directory {
 public:
  // Throws directory_in_use, or std::runtime_error with what to do if it cannot be made or written. Mode 0700 for what is made;
  // what is there stays as it is. `path` may be relative.
  data_directory(file_port& files, const std::string& path);

  const std::string& path() const noexcept { return path_; }  // absolute

 private:
  std::string path_;
  std::unique_ptr<file_port::lock> lock_;
};

}  // namespace looptask::service
