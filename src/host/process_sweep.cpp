#include "host/process_sweep.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>

#include <looptask/assert.hpp>

#include "host/process_table.hpp"
#include "host/quiet_thread.hpp"
#include "host/raw_descriptor.hpp"

namespace looptask {
namespace {

using steady = std::chrono::steady_clock;
using sweep = process_sweeper::search;
using table = std::vector<process_entry>;

// After each round of KILL the dying get this long before the next reading of /proc.
constexpr std::chrono::milliseconds pause(20);
// And this long when nobody is known to be dying.
constexpr std::chrono::milliseconds short_pause(1);
// More than this many are not waited for one by one; the next reading finds those that still live.
constexpr std::size_t watched_at_most = 256;
// One reading may miss a process that was made during it.
constexpr int empty_readings_needed = 2;

struct active {
  sweep what;
  steady::time_point until;
  std::set<std::pair<std::int32_t, std::uint64_t>> killed{};  // pid, start time
  std::set<std::int32_t> proven{};                            // sessions without leader that were ours when last looked at
  int empty_readings = 0;                                     // in a row
};

struct round {
  int alive = 0;      // found, or not to be ruled out
  int forbidden = 0;  // of these, the ones that we may not signal
  std::set<std::int32_t> stopped{};
};

// This thread needs none of the descriptors of the others: what they close would stay open here. Only the place for the last
// words of an assertion is kept. A kernel that refuses leaves the thread with the common table.
void take_a_table_of_our_own() noexcept {
  constexpr unsigned unshare = 1U << 1U;  // CLOSE_RANGE_UNSHARE, missing from older headers
  if (::syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, unshare) != 0) return;
  ::syscall(SYS_close_range, 0U, STDERR_FILENO - 1U, 0U);
}

bool has_ended(int pidfd) noexcept {
  pollfd ended{pidfd, POLLIN, 0};
  return ::poll(&ended, 1, 0) == 1;
}

bool is_member(const process_entry& entry, const process_sweeper::session& of) {
  return entry.session == of.leader && entry.start_time >= of.start_time;
}

// The number is a group's, and the reading shows nobody who has it: somebody was missed.
bool hides_somebody(std::int32_t number, const table& all) {
  if (::kill(-number, 0) != 0 && errno == ESRCH) return false;
  return std::none_of(all.begin(), all.end(), [number](const process_entry& one) {
    return one.pid == number || one.group == number || one.session == number;
  });
}

enum class claim : std::uint8_t { ours, not_ours, undecided };

// Is this session still the one we mean? The pid of a leader is not given to anybody else while its session has members, so a
// process with that pid and another start time says that the session is over; and members without a leader are all ours or all
// a stranger's.
claim claim_on(const process_sweeper::session& session, active& job, const table& all) {
  const auto leader = std::find_if(all.begin(), all.end(), [&](const process_entry& one) { return one.pid == session.leader; });
  if (leader != all.end()) return leader->start_time == session.start_time ? claim::ours : claim::not_ours;
  bool any = false;
  bool unread = false;
  bool proven = job.proven.contains(session.leader);
  for (const process_entry& entry : all) {
    if (!is_member(entry, session)) continue;
    any = true;
    if (proven) break;
    proven = entry.start_time <= session.last_seen;
    if (proven || session.variable.empty()) continue;
    if (const std::optional<std::string> environment = read_environment(entry.pid))
      proven = holds_variable(*environment, session.variable);
    else
      unread = unread || (errno != EACCES && errno != EPERM);
  }
  if (!any && hides_somebody(session.leader, all)) return claim::undecided;
  if (any && proven) {
    job.proven.insert(session.leader);  // whatever they start while they die is theirs
    return claim::ours;
  }
  job.proven.erase(session.leader);
  return unread ? claim::undecided : claim::not_ours;
}

bool is_of_one(const process_entry& entry, const std::vector<process_sweeper::session>& sessions) {
  return std::any_of(sessions.begin(), sessions.end(), [&](const auto& session) { return is_member(entry, session); });
}

// Was it started with one of the variables? nullopt: cannot be told now.
std::optional<bool> is_marked(const process_entry& entry, const std::vector<std::string>& variables) {
  if (variables.empty()) return false;
  const std::optional<std::string> environment = read_environment(entry.pid);
  if (!environment && (says_gone(errno) || errno == EACCES || errno == EPERM)) return false;
  if (!environment) return std::nullopt;
  return std::any_of(variables.begin(), variables.end(),
                     [&](const std::string& variable) { return holds_variable(*environment, variable); });
}

class killer {
 public:
  killer(const table& all, std::vector<raw_descriptor>& dying) : all_(all), dying_(dying) {}

  round kill_all(active& job) {
    std::vector<process_sweeper::session> ours;
    round result;
    for (const process_sweeper::session& session : job.what.sessions) {
      const claim what = claim_on(session, job, all_);
      if (what == claim::ours) ours.push_back(session);
      if (what == claim::undecided) ++result.alive;
    }
    for (const process_entry& entry : all_) {
      if (entry.pid == ::getpid()) continue;
      const bool member = is_of_one(entry, ours);
      // The dying lose their environment first; they are waited for all the same.
      const bool known = member || job.killed.contains({entry.pid, entry.start_time});
      const std::optional<bool> wanted = known ? true : is_marked(entry, job.what.variables);
      if (!wanted)
        ++result.alive;
      else if (*wanted)
        kill_one(entry, member, job, result);
    }
    return result;
  }

 private:
  void kill_one(const process_entry& entry, bool of_our_session, active& job, round& result) {
    raw_descriptor pidfd(::syscall(SYS_pidfd_open, entry.pid, 0));
    if (!pidfd && make_room()) pidfd = raw_descriptor(::syscall(SYS_pidfd_open, entry.pid, 0));
    std::optional<process_entry> again;
    if (pidfd) again = read_process(entry.pid);
    if (pidfd && !again && make_room()) again = read_process(entry.pid);
    if (!again && !says_gone(errno)) {
      ++result.alive;  // cannot be told; the next round may
      return;
    }
    if (!again || again->start_time != entry.start_time || has_ended(pidfd.get())) {
      // It ended since the reading, and may have started another before: the next reading tells. What stood still ended by our
      // doing: the system sends HUP to a stopped group that the death of others has orphaned.
      if (entry.state == 'Z' || job.killed.contains({entry.pid, entry.start_time})) return;
      ++result.alive;
      if (result.stopped.contains(entry.group)) job.killed.emplace(entry.pid, entry.start_time);
      return;
    }
    ++result.alive;
    if (again->session != entry.session) return;  // it has just left: the next reading says whether it is still wanted
    if (of_our_session && again->group > 0 && again->group != ::getpgrp() && result.stopped.insert(again->group).second)
      ::kill(-again->group, SIGSTOP);
    if (::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) != 0) {
      if (errno == ESRCH) --result.alive;
      if (errno == EPERM) ++result.forbidden;
      return;
    }
    job.killed.emplace(entry.pid, entry.start_time);
    if (dying_.size() < watched_at_most) dying_.push_back(std::move(pidfd));
  }

  // Those that are watched hold the descriptors that are missing.
  bool make_room() noexcept {
    if (errno != EMFILE || dying_.empty()) return false;
    dying_.clear();
    return true;
  }

  const table& all_;
  std::vector<raw_descriptor>& dying_;
};

// Needs neither descriptor nor reading. The leader is there as long as it is not reaped, and keeps the number from others.
void kill_pinned_groups(const active& job) noexcept {
  for (const process_sweeper::session& session : job.what.sessions) {
    siginfo_t unused{};
    if (session.unreaped && ::waitid(P_PID, static_cast<id_t>(session.leader), &unused, WEXITED | WNOWAIT | WNOHANG) == 0)
      ::kill(-session.leader, SIGKILL);
  }
}

void wait_for(std::vector<raw_descriptor> dying) {
  const steady::time_point until = steady::now() + (dying.empty() ? short_pause : pause);
  std::vector<pollfd> list;
  list.reserve(dying.size());
  for (const raw_descriptor& pidfd : dying) list.push_back({pidfd.get(), POLLIN, 0});
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

// One round: how many are left when the search is over, nullopt when it goes on.
std::optional<int> go_on_with(active& job, const std::optional<table>& all, std::vector<raw_descriptor>& dying) {
  if (job.what.sessions.empty() && job.what.variables.empty()) return 0;
  round found;
  if (all)
    found = killer(*all, dying).kill_all(job);
  else
    found.alive = 1;  // unknown is not "nobody"
  kill_pinned_groups(job);
  job.empty_readings = found.alive == 0 ? job.empty_readings + 1 : 0;
  const bool over = found.alive > 0 ? found.alive == found.forbidden : job.empty_readings >= empty_readings_needed;
  if (over || steady::now() >= job.until) return found.alive;
  return std::nullopt;
}

}  // namespace

process_sweeper::process_sweeper(std::chrono::milliseconds bound, report done)
    : bound_(bound), done_(std::move(done)), teller_(quiet_thread([this] { tell(); })) {
  try {
    thread_ = quiet_thread([this] { work(); });
  } catch (...) {
    stop();
    throw;
  }
}

process_sweeper::~process_sweeper() { stop(); }

void process_sweeper::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  answered_.notify_one();
  if (thread_.joinable()) thread_.join();
  teller_.join();
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

void process_sweeper::answer_with(answer what) {
  {
    const std::lock_guard lock(mutex_);
    answers_.push_back(what);
  }
  answered_.notify_one();
}

void process_sweeper::tell() {
  while (true) {
    std::vector<answer> now;
    {
      std::unique_lock lock(mutex_);
      answered_.wait(lock, [this] { return stopping_ || !answers_.empty(); });
      if (stopping_) return;
      now = std::exchange(answers_, {});
    }
    for (const answer& one : now) done_(one.ticket, one.killed, one.left);
  }
}

void process_sweeper::work() {
  take_a_table_of_our_own();
  std::vector<active> jobs;
  while (true) {
    std::optional<std::vector<search>> more = next(jobs.empty());
    if (!more) return;
    for (search& what : *more) jobs.push_back({std::move(what), steady::now() + bound_});

    const std::optional<table> all = list_processes();
    std::vector<raw_descriptor> dying;
    std::vector<active> unfinished;
    for (active& job : jobs) {
      if (const std::optional<int> left = go_on_with(job, all, dying))
        answer_with({job.what.ticket, count_killed(job), *left});
      else
        unfinished.push_back(std::move(job));
    }
    jobs = std::move(unfinished);
    if (!jobs.empty()) wait_for(std::move(dying));
  }
}

}  // namespace looptask
