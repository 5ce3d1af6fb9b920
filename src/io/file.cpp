#include <looptask/file.hpp>

#include <looptask/blocking.hpp>

namespace looptask {
namespace {

file_port& files_here() { return this_loop().where().files(); }

}  // namespace

task<std::string> read_file(std::string path, std::size_t limit) {
  const auto work = [&files = files_here(), &path, limit] { return files.read(path, limit); };
  co_return co_await run_blocking(work, on_cancel::wait, "read " + path);
}

task<> write_file(std::string path, std::string bytes) {
  const auto work = [&files = files_here(), &path, &bytes] { files.replace(path, bytes); };
  co_await run_blocking(work, on_cancel::wait, "write " + path);
}

task<> append_file(std::string path, std::string bytes) {
  const auto work = [&files = files_here(), &path, &bytes] { files.append(path, bytes); };
  co_await run_blocking(work, on_cancel::wait, "append " + path);
}

task<file> open_file(std::string path, file_mode how) {
  const auto work = [&files = files_here(), &path, how] { return files.open(path, how); };
  std::unique_ptr<file_port::open_file> opened = co_await run_blocking(work, on_cancel::wait, "open " + path);
  co_return file(std::move(opened), std::move(path));
}

const std::shared_ptr<file_port::open_file>& file::opened() const noexcept {
  LOOPTASK_ASSERT(opened_ != nullptr, "use of a file that was closed or moved away");
  return opened_;
}

namespace {

template <class F>
task<std::invoke_result_t<F&, file_port::open_file&>> on_worker(std::shared_ptr<file_port::open_file> opened, std::string name,
                                                                F what) {
  const auto work = [&opened, &what] { return what(*opened); };
  co_return co_await run_blocking(work, on_cancel::wait, name);
}

}  // namespace

task<std::string> file::read_at(std::uint64_t position, std::size_t size) {
  return on_worker(opened(), "read " + path_, [position, size](file_port::open_file& f) { return f.read_at(position, size); });
}

task<> file::write_at(std::uint64_t position, std::string bytes) {
  return on_worker(opened(), "write " + path_,
                   [position, bytes = std::move(bytes)](file_port::open_file& f) { f.write_at(position, bytes); });
}

task<std::uint64_t> file::size() {
  return on_worker(opened(), "size of " + path_, [](file_port::open_file& f) { return f.size(); });
}

task<> file::sync() {
  return on_worker(opened(), "sync " + path_, [](file_port::open_file& f) { f.sync(); });
}

task<> file::close() {
  std::shared_ptr<file_port::open_file> closing = opened();
  opened_.reset();
  return on_worker(std::move(closing), "close " + path_, [](file_port::open_file& f) { f.close(); });
}

}  // namespace looptask
