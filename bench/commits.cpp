// How many durable syncs a start costs when starts come evenly spread, and how late they get by it: the engine with the history
// in SQLite, synchronous=FULL, against a bare write and fdatasync for each start in the same folder.
// usage: bench_commits [STARTS PER SECOND] [SECONDS] [ROUNDS]
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include <looptask/real_host.hpp>

#include "ledger/sqlite_store.hpp"
#include "noop_jobs.hpp"

namespace looptask::bench {
namespace {

class scratch_folder {
 public:
  scratch_folder() {
    path_ = (std::filesystem::temp_directory_path() / "looptask-bench-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

figures through_engine(std::int64_t rate, std::int64_t seconds) {
  const scratch_folder folder;
  real_host host;
  loop l(host);
  const auto history = ledger::open_sqlite_store(folder.path(), ledger::durability::full, l);
  const noop_outcome seen = noop_jobs(l, *history, rate).run(seconds);
  const auto commits = static_cast<double>(history->statistics().commits);
  const auto starts = static_cast<double>(seen.engine.total.attempts);
  return {{"starts", starts},
          {"starts_per_s", static_cast<double>(seen.starts) / seen.seconds},
          {"commits_per_start", commits / starts},
          {"lateness_p50_us", percentile(seen.lateness_us, 0.5)},
          {"lateness_p99_us", percentile(seen.lateness_us, 0.99)},
          {"cpu_us_per_start", seen.cpu_us / static_cast<double>(seen.starts)}};
}

figures bare_syncs(std::int64_t count) {
  const scratch_folder folder;
  const int file = ::open((folder.path() + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::vector<char> page(4096, 'x');
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i) {
    if (::write(file, page.data(), page.size()) != static_cast<ssize_t>(page.size()) || ::fdatasync(file) != 0) std::abort();
  }
  const double elapsed = seconds_since(begin);
  ::close(file);
  return {{"commits_per_start", 1}, {"starts_per_s", static_cast<double>(count) / elapsed}};
}

}  // namespace
}  // namespace looptask::bench

int main(int argc, char** argv) {
  using namespace looptask::bench;
  const std::int64_t rate = argument(argc, argv, 1, 1000), seconds = argument(argc, argv, 2, 2);
  compare<std::function<figures()>>(
      "commits-" + std::to_string(rate), static_cast<int>(argument(argc, argv, 3, 5)),
      {{"engine", [=] { return through_engine(rate, seconds); }}, {"one sync each", [=] { return bare_syncs(rate); }}});
  print_command(argc, argv);
}
