#include "service/data_directory.hpp"

namespace looptask::service {

directory_in_use::directory_in_use(const std::string& path)
    : std::runtime_error("another looptask runs on " + path + "; stop it, or give this one its own with --data-dir") {}

data_directory::data_directory(file_port& files, const std::string& path) : path_(files.absolute(path)) {
  files.make_directories(path_, 0700);
  lock_ = files.try_lock(path_ + "/lock");
  if (!lock_) throw directory_in_use(path_);
}

}  // namespace looptask::service
