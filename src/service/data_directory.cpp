#include "service/data_directory.hpp"

#include <system_error>

namespace looptask::service {

directory_in_use::directory_in_use(const std::string& path)
    : std::runtime_error("another looptask runs on " + path + "; stop it, or give this one its own with --data-dir") {}

namespace {

[[noreturn]] void cannot_be(const char* what, const std::string& path, const std::system_error& why) {
  throw std::runtime_error("the data directory " + path + " cannot be " + what + ": " + why.code().message() +
                           "; choose another with --data-dir");
}

}  // namespace

data_directory::data_directory(file_port& files, const std::string& path) : path_(files.absolute(path)) {
  try {
    files.make_directories(path_, 0700);
  } catch (const std::system_error& why) {
    cannot_be("created", path_, why);
  }
  try {
    lock_ = files.try_lock(path_ + "/lock");
  } catch (const std::system_error& why) {
    cannot_be("written", path_, why);
  }
  if (!lock_) throw directory_in_use(path_);
}

}  // namespace looptask::service
