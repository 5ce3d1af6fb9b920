#include "sim/files.hpp"

#include <cerrno>
#include <system_error>

namespace looptask::sim {
namespace {

[[noreturn]] void fail(int error, const char* what, const std::string& path) {
  throw std::system_error(error, std::generic_category(), std::string(what) + " " + path);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

// One name for one file: absolute, single slashes, none at the end.
std::string normal(const char* what, const std::string& path) {
  if (path.empty()) fail(ENOENT, what, path);
  if (path[0] != '/') fail(EINVAL, what, path + " (a simulated world has no working directory: give an absolute path)");
  std::string out;
  for (const char c : path) {
    if (c != '/' || out.empty() || out.back() != '/') out.push_back(c);
  }
  if (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

}  // namespace

class memory_files::held_lock final : public file_port::lock {
 public:
  held_lock(memory_files& files, std::string path) : files_(files), path_(std::move(path)) {}
  held_lock(const held_lock&) = delete;
  held_lock& operator=(const held_lock&) = delete;
  ~held_lock() override { files_.locked_.erase(path_); }

 private:
  memory_files& files_;
  std::string path_;
};

std::string memory_files::read(const std::string& path, std::size_t limit) {
  const std::string name = normal("read", path);
  if (directories_.contains(name)) fail(EISDIR, "read", path);
  const auto found = contents_.find(name);
  if (found == contents_.end()) fail(ENOENT, "open", path);
  if (found->second.size() > limit) fail(EFBIG, "read", path);
  return found->second;
}

std::string& memory_files::open(const std::string& path) {
  const std::string name = normal("open", path);
  if (directories_.contains(name)) fail(EISDIR, "open", path);
  const std::string parent = parent_of(name);
  if (contents_.contains(parent)) fail(ENOTDIR, "open", path);
  if (!directories_.contains(parent)) fail(ENOENT, "open", path);
  return contents_[name];
}

void memory_files::append(const std::string& path, std::string_view bytes) { open(path).append(bytes); }

bool memory_files::exists(const std::string& path) {
  const std::string name = normal("stat", path);
  return contents_.contains(name) || directories_.contains(name);
}

std::string memory_files::absolute(const std::string& path) { return normal("getcwd", path); }

void memory_files::make_directories(const std::string& path, unsigned) {
  const std::string name = normal("mkdir", path);
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    if (contents_.contains(part)) fail(end == std::string::npos ? EEXIST : ENOTDIR, "mkdir", path);
    directories_.insert(part);
    if (end == std::string::npos) return;
  }
}

std::unique_ptr<file_port::lock> memory_files::try_lock(const std::string& path) {
  open(path);
  std::string name = normal("lock", path);
  if (!locked_.insert(name).second) return nullptr;
  return std::make_unique<held_lock>(*this, std::move(name));
}

}  // namespace looptask::sim
