#include "host/process_sweep.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>

#include <looptask/assert.hpp>

#include "host/descriptor.hpp"
#include "host/process_table.hpp"
#include "host/quiet_thread.hpp"

namespace looptask {
namespace {

using steady = std::chrono::steady_clock;
using sweep = process_sweeper::search;

// After each round of KILL the dying get this long before the next reading of /proc.
constexpr std::chrono::milliseconds pause(20);
// More than this many are not waited for one by one; the next reading finds those that still live.
constexpr std::size_t watched_at_most = 256;

struct active {
  sweep what;
  steady::time_point until;
  std::set<std::pair<std::int32_t, std::uint64_t>> killed{};  // pid, start time
  std::set<std::int32_t> proven{};                            // sessions without leader that were ours when last looked at
};

struct round {
  int alive = 0;      // found, or not to be ruled out
  int forbidden = 0;  // of these, the ones that we may not signal
};

bool has_ended(int pidfd) noexcept {
  pollfd ended{pidfd, POLLIN, 0};
  return ::poll(&ended, 1, 0) == 1;
}

bool is_member(const process_entry& entry, const process_sweeper::session& of) {
  return entry.session == of.leader && entry.start_time >= of.start_time;
}

// Is this session still the one we mean? The pid of a leader is not given to anybody else while its session has members, so a
// process with that pid and another start time says that the session is over; and members without a leader are all ours or all
// a stranger's.
bool is_ours(const process_sweeper::session& session, active& job, const std::vector<process_entry>& table) {
  const auto leader =
      std::find_if(table.begin(), table.end(), [&](const process_entry& one) { return one.pid == session.leader; });
  if (leader != table.end()) return leader->start_time == session.start_time;
  bool any = false;
  bool proven = job.proven.contains(session.leader);
  for (const process_entry& entry : table) {
    if (!is_member(entry, session)) continue;
    any = true;
    if (proven) break;
    proven = entry.start_time <= session.last_seen ||
             (!session.variable.empty() && holds_variable(read_environment(entry.pid), session.variable));
  }
  if (any && proven)
    job.proven.insert(session.leader);  // whatever they start while they die is theirs
  else
    job.proven.erase(session.leader);
  return any && proven;
}

bool is_wanted(const process_entry& entry, const sweep& what, const std::vector<process_sweeper::session>& ours) {
  for (const process_sweeper::session& session : ours)
    if (is_member(entry, session)) return true;
  if (what.variables.empty()) return false;
  const std::string environment = read_environment(entry.pid);
  return std::any_of(what.variables.begin(), what.variables.end(),
                     [&](const std::string& variable) { return holds_variable(environment, variable); });
}

void kill_one(const process_entry& entry, active& job, round& result, std::vector<descriptor>& dying) {
  descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, entry.pid, 0)));
  if (!pidfd) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) ++result.alive;  // cannot tell; the next round may
    return;
  }
  const std::optional<process_entry> again = read_process(entry.pid);
  if (!again || again->start_time != entry.start_time || again->session != entry.session) return;
  if (has_ended(pidfd.get())) return;  // a zombie, somebody else's to reap
  ++result.alive;
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) != 0) {
    if (errno == ESRCH) --result.alive;
    if (errno == EPERM) ++result.forbidden;
    return;
  }
  job.killed.emplace(entry.pid, entry.start_time);
  if (dying.size() < watched_at_most) dying.push_back(std::move(pidfd));
}

round kill_all(active& job, const std::vector<process_entry>& table, std::vector<descriptor>& dying) {
  std::vector<process_sweeper::session> ours;
  for (const process_sweeper::session& session : job.what.sessions)
    if (is_ours(session, job, table)) ours.push_back(session);
  round result;
  for (const process_entry& entry : table) {
    // The dying lose their environment first; they are waited for all the same.
    const bool dying_already = job.killed.contains({entry.pid, entry.start_time});
    if (entry.pid == ::getpid() || !(dying_already || is_wanted(entry, job.what, ours))) continue;
    kill_one(entry, job, result, dying);
  }
  return result;
}

void wait_for(std::vector<descriptor> dying) {
  const steady::time_point until = steady::now() + pause;
  std::vector<pollfd> list;
  list.reserve(dying.size());
  for (const descriptor& pidfd : dying) list.push_back({pidfd.get(), POLLIN, 0});
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady::now());
    if (left <= std::chrono::milliseconds::zero()) return;
    const int ready = ::poll(list.data(), list.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) return;
    if (ready > 0) {
      std::erase_if(list, [](const pollfd& one) { return one.revents != 0; });
      if (list.empty()) return;
    }
  }
}

int count_killed(const active& job) {
  const auto& main = job.what.expected;
  const bool with_main = main && job.killed.contains({main->leader, main->start_time});
  return static_cast<int>(job.killed.size()) - (with_main ? 1 : 0);
}

}  // namespace

process_sweeper::process_sweeper(std::chrono::milliseconds bound, report done)
    : bound_(bound), done_(std::move(done)), thread_(quiet_thread([this] { work(); })) {}

process_sweeper::~process_sweeper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void process_sweeper::begin(search what) {
  // Session 0 is that of the kernel's threads and of the first process.
  for (const session& one : what.sessions) LOOPTASK_ASSERT(one.leader > 0, "no process leads session 0");
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(what));
  }
  changed_.notify_one();
}

std::optional<std::vector<process_sweeper::search>> process_sweeper::next(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
  if (stopping_) return std::nullopt;
  return std::exchange(waiting_, {});
}

void process_sweeper::work() {
  std::vector<active> jobs;
  while (true) {
    std::optional<std::vector<search>> more = next(jobs.empty());
    if (!more) return;
    for (search& what : *more) jobs.push_back({std::move(what), steady::now() + bound_});

    const std::optional<std::vector<process_entry>> table = list_processes();
    std::vector<descriptor> dying;
    for (active& job : jobs) {
      round found;
      if (table)
        found = kill_all(job, *table, dying);
      else
        found.alive = 1;  // unknown is not "nobody"
      if (found.alive > found.forbidden && steady::now() < job.until) continue;
      done_(job.what.ticket, count_killed(job), found.alive);
      job.what.ticket = 0;
    }
    std::erase_if(jobs, [](const active& job) { return job.what.ticket == 0; });
    if (!jobs.empty()) wait_for(std::move(dying));
  }
}

}  // namespace looptask
