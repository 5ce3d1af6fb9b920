#include "sim/files.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

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

class memory_files::opened final : public file_port::open_file {
 public:
  opened(content bytes, bool writable, std::string path) noexcept
      : bytes_(std::move(bytes)), writable_(writable), path_(std::move(path)) {}

  std::string read_at(std::uint64_t position, std::size_t size) override {
    check(true);
    return position < bytes_->size() ? bytes_->substr(static_cast<std::size_t>(position), size) : std::string{};
  }
  void write_at(std::uint64_t position, std::string_view bytes) override {
    check(writable_);
    if (bytes.empty()) return;
    const auto from = static_cast<std::size_t>(position);
    if (bytes_->size() < from + bytes.size()) bytes_->resize(from + bytes.size());
    bytes_->replace(from, bytes.size(), bytes);
  }
  std::uint64_t size() override {
    check(true);
    return bytes_->size();
  }
  void sync() override { check(true); }
  void close() override {
    check(true);
    bytes_.reset();
  }

 private:
  void check(bool allowed) const {
    if (bytes_ == nullptr || !allowed) fail(EBADF, "use", path_);
  }
  content bytes_;  // nullptr: closed
  const bool writable_;
  const std::string path_;
};

memory_files::content& memory_files::find(const char* what, const std::string& path) {
  const std::string name = normal(what, path);
  if (directories_.contains(name)) fail(EISDIR, what, path);
  const auto found = contents_.find(name);
  if (found == contents_.end()) fail(ENOENT, "open", path);
  return found->second;
}

std::string memory_files::read(const std::string& path, std::size_t limit) {
  const content& found = find("read", path);
  if (found->size() > limit) fail(EFBIG, "read", path);
  return *found;
}

memory_files::content& memory_files::create(const std::string& path) {
  const std::string name = normal("open", path);
  if (directories_.contains(name)) fail(EISDIR, "open", path);
  const std::string parent = parent_of(name);
  if (contents_.contains(parent)) fail(ENOTDIR, "open", path);
  if (!directories_.contains(parent)) fail(ENOENT, "open", path);
  content& made = contents_[name];
  if (made == nullptr) made = std::make_shared<std::string>();
  return made;
}

void memory_files::append(const std::string& path, std::string_view bytes) { create(path)->append(bytes); }

void memory_files::replace(const std::string& path, std::string_view bytes) {
  create(path) = std::make_shared<std::string>(bytes);
}

std::unique_ptr<file_port::open_file> memory_files::open(const std::string& path, open_mode how) {
  return std::make_unique<opened>(how == open_mode::create ? create(path) : find("open", path), how != open_mode::read, path);
}

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
  create(path);
  std::string name = normal("lock", path);
  if (!locked_.insert(name).second) return nullptr;
  return std::make_unique<held_lock>(*this, std::move(name));
}

}  // namespace looptask::sim
