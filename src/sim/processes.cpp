#include "sim/processes.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "sim/world.hpp"

namespace looptask::sim {
namespace {

constexpr std::string_view run_id_name = "LOOPTASK_RUN_ID=";

std::string run_id_of(const process_spec& spec) {
  for (const std::string& entry : spec.env) {
    if (entry.starts_with(run_id_name)) return entry.substr(run_id_name.size());
  }
  return {};
}

bool has_no_effect(int signal) {
  return signal == 0 || signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

// After this long without dying, a process is reported instead of waited for.
constexpr duration kill_bound = std::chrono::seconds(5);

duration later(duration start, duration by) { return by == for_ever ? for_ever : start + by; }

}  // namespace

// One virtual process and the children of its session. The plan in the agenda always agrees with the ends noted here.
struct virtual_processes::session {
  explicit session(std::uint64_t in) : life(in) {}
  const std::uint64_t life;  // of the loop that spawned it
  process_identity who;
  std::vector<std::string> argv;
  std::string run_id;
  bool ends_with_loop = false;
  program what;
  duration started{};
  duration main_end{};
  std::optional<int> end_signal;  // how the main process ends at main_end; else by end_code
  int end_code = 0;
  bool asked = false;  // `exits` has begun
  std::vector<duration> child_ends;
  process_events* events = nullptr;                     // nullptr: nobody listens
  std::vector<unique_function<void(int, int)>> killed;  // the answers that kill_session owes

  bool held = false;                         // hold_output
  std::vector<const program::text*> unread;  // came while held
  bool end_unread = false;
  std::vector<agenda::entry> texts;  // planned, by time
  std::optional<agenda::entry> exit, output_end, gone;
  bool exit_reported = false, output_end_reported = false;

  duration output_closes() const {
    duration end = main_end;
    for (std::size_t i = 0; i < child_ends.size(); ++i) {
      if (what.children[i].holds_output) end = std::max(end, child_ends[i]);
    }
    return end;
  }
  duration last_end() const {
    duration end = main_end;
    for (const duration child : child_ends) end = std::max(end, child);
    return end;
  }
  int alive_at(duration now) const {
    return (main_end > now ? 1 : 0) +
           static_cast<int>(std::count_if(child_ends.begin(), child_ends.end(), [now](duration end) { return end > now; }));
  }
};

class virtual_processes::handle final : public child_process {
 public:
  handle(virtual_processes& port, session_pointer who) : port_(port), who_(std::move(who)) {}
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() override {
    who_->events = nullptr;
    who_->killed.clear();
  }

  void hold_output(bool hold) override {
    if (std::exchange(who_->held, hold) == hold || hold) return;
    port_.world_.agenda_.add(port_.world_.now_, rank::ordinary,
                             [this_port = &port_, who = who_] { this_port->let_output_go(who); });
  }

  containment_tier tier() const noexcept override { return containment_tier::tree; }

  void signal_group(int number) noexcept override {
    port_.world_.trace_.record(port_.world_.now_, "signal-group", who_->who.pid, std::to_string(number));
    port_.signal(who_, number);
  }

  void kill_session(unique_function<void(int killed, int left)> done) override {
    port_.world_.trace_.record(port_.world_.now_, "kill-session", who_->who.pid);
    const int killed = port_.signal(who_, SIGKILL).children;
    who_->killed.push_back(std::move(done));
    // Planned after the ends it brought about, so it is reported after them.
    world& where = port_.world_;
    const duration answer = std::clamp(who_->last_end(), where.now_, where.now_ + kill_bound);
    where.agenda_.add(answer, rank::ordinary, [this_port = &port_, who = who_, killed] {
      if (who->killed.empty() || who->life != this_port->life_) return;  // the handle is gone, or the loop
      unique_function<void(int, int)> next = std::move(who->killed.front());
      who->killed.erase(who->killed.begin());
      next(killed, who->alive_at(this_port->world_.now_));
    });
  }

 private:
  virtual_processes& port_;
  const session_pointer who_;
};

program virtual_processes::decide(const process_spec& spec) {
  program none;
  none.spawn_error = ENOENT;
  const auto found = programs_.find(spec.argv[0]);
  if (found != programs_.end()) return found->second(spec);
  return default_ ? default_(spec) : none;
}

std::unique_ptr<child_process> virtual_processes::spawn(process_spec spec, process_events& events) {
  LOOPTASK_ASSERT(!spec.argv.empty(), "spawn needs a program: argv is empty");
  LOOPTASK_ASSERT(spec.workdir.starts_with('/'), "spawn needs an absolute workdir");
  LOOPTASK_ASSERT(spec.containment != containment_tier::session || !spec.end_with_us,
                  "end_with_us needs containment: a session has nobody to see to it");
  const auto made = std::make_shared<session>(life_);
  made->what = decide(spec);
  made->events = &events;
  made->started = world_.now_;
  ++spawned_;
  if (made->what.spawn_error != 0) {
    made->main_end = world_.now_;
    made->exit_reported = made->output_end_reported = true;  // there is nothing to report, whatever is done to it later
    made->argv = std::move(spec.argv);
    world_.agenda_.add(world_.now_, rank::ordinary, [this, made] {
      const std::string step = "exec " + made->argv[0];
      world_.trace_.record(world_.now_, "spawn-failed", made->what.spawn_error, step);
      if (process_events* const heard = listener(*made)) heard->on_spawn_failed(made->what.spawn_error, step);
    });
    return std::make_unique<handle>(*this, made);
  }

  made->who.pid = next_pid_++;
  made->who.start_time = static_cast<std::uint64_t>(world_.boot() / std::chrono::milliseconds(10));
  made->who.boot_id = world_.boot_id();
  made->run_id = run_id_of(spec);
  made->ends_with_loop = spec.end_with_us;
  made->argv = std::move(spec.argv);
  made->main_end = later(made->started, made->what.takes);
  made->end_signal = made->what.signal;
  made->end_code = made->what.exit_code;
  for (const program::child& child : made->what.children) made->child_ends.push_back(later(made->started, child.takes));
  sessions_.emplace(made->who.pid, made);

  world_.agenda_.add(world_.now_, rank::ordinary, [this, made] {
    world_.trace_.record(world_.now_, "spawned", made->who.pid, made->argv[0]);
    if (process_events* const heard = listener(*made)) heard->on_spawned(made->who);
  });
  for (const program::text& text : made->what.output) {
    const duration at = made->started + text.after;
    if (at > made->output_closes()) continue;
    made->texts.push_back(world_.agenda_.add(at, rank::ordinary, [this, made, &text] {
      world_.trace_.record(world_.now_, "output", made->who.pid, text.bytes);
      if (made->held || !made->unread.empty()) {
        made->unread.push_back(&text);
      } else if (process_events* const heard = listener(*made)) {
        heard->on_output(text.bytes);
      }
    }));
  }
  plan(made);
  return std::make_unique<handle>(*this, made);
}

// Brings the agenda in line with the ends of `who`. Main exit and end of output of one instant come in an order that nobody may
// rely on.
void virtual_processes::plan(const session_pointer& who) {
  agenda& plan = world_.agenda_;
  const duration closes = who->output_closes(), over = who->last_end();
  for (const agenda::entry& text : who->texts) {
    if (text.at > closes) plan.remove(text);
  }
  const auto replan = [&](std::optional<agenda::entry>& entry, bool reported, duration at, auto action) {
    if (reported || (entry && entry->at == at)) return;
    if (entry) plan.remove(*entry);
    entry.reset();
    if (at != for_ever) entry = plan.add(at, rank::ordinary, action);
  };
  const auto replan_exit = [&] { replan(who->exit, who->exit_reported, who->main_end, [this, who] { report_exit(who); }); };
  const auto replan_output_end = [&] {
    replan(who->output_end, who->output_end_reported, closes, [this, who] { report_output_end(who); });
  };
  if (world_.chance_.next() % 2 == 0) {
    replan_exit();
    replan_output_end();
  } else {
    replan_output_end();
    replan_exit();
  }
  // Those that do not hold the output may be the last ones alive.
  replan(who->gone, false, over > closes ? over : for_ever, [this, who] { forget_if_over(*who); });
}

void virtual_processes::report_exit(const session_pointer& who) {
  who->exit_reported = true;
  world_.trace_.record(who->main_end, who->end_signal ? "killed" : "exit", who->who.pid,
                       std::to_string(who->end_signal.value_or(who->end_code)));
  process_exit how;
  how.at = world_.reading_at(who->main_end);
  how.signal = who->end_signal;
  if (!who->end_signal) how.code = who->end_code;
  how.cpu = std::min(who->what.cpu, std::chrono::floor<microseconds>(who->main_end - who->started));
  how.max_rss = who->what.max_rss;
  forget_if_over(*who);
  if (process_events* const heard = listener(*who)) heard->on_exit(how);
}

void virtual_processes::report_output_end(const session_pointer& who) {
  who->output_end_reported = true;
  world_.trace_.record(who->output_closes(), "output-end", who->who.pid);
  forget_if_over(*who);
  if (who->held || !who->unread.empty()) {
    who->end_unread = true;
  } else if (process_events* const heard = listener(*who)) {
    heard->on_output_end();
  }
}

void virtual_processes::let_output_go(const session_pointer& who) {
  while (!who->held && !who->unread.empty()) {
    const program::text* const next = who->unread.front();
    who->unread.erase(who->unread.begin());
    if (process_events* const heard = listener(*who)) heard->on_output(next->bytes);
  }
  if (who->held || !std::exchange(who->end_unread, false)) return;
  if (process_events* const heard = listener(*who)) heard->on_output_end();
}

void virtual_processes::forget_if_over(session& who) {
  if (who.exit_reported && who.output_end_reported && who.last_end() <= world_.now_) sessions_.erase(who.who.pid);
}

virtual_processes::ended virtual_processes::signal(const session_pointer& who, int number) {
  LOOPTASK_ASSERT(number != SIGSTOP && number != SIGTSTP && number != SIGTTIN && number != SIGTTOU,
                  "a virtual process cannot be stopped and continued");
  if (has_no_effect(number)) return {};
  const duration now = world_.now_;
  const bool forced = number == SIGKILL;
  ended count;
  if (who->main_end > now) {
    if (forced || who->what.on_signal == reaction::dies) {
      const duration end = later(now, forced ? who->what.outlives_kill : duration(0));
      if (end < who->main_end) {
        who->main_end = end;
        who->end_signal = number;
      }
      ++count.main;
    } else if (who->what.on_signal == reaction::exits && !who->asked) {
      who->asked = true;
      const duration end = later(now, who->what.signal_delay);
      if (end < who->main_end) {
        who->main_end = end;
        who->end_signal.reset();
        who->end_code = who->what.signal_exit_code;
      }
    }
  }
  for (std::size_t i = 0; i < who->child_ends.size(); ++i) {
    if (who->child_ends[i] <= now || (!forced && who->what.children[i].on_signal == reaction::ignores)) continue;
    who->child_ends[i] = std::min(who->child_ends[i], later(now, forced ? who->what.children[i].outlives_kill : duration(0)));
    ++count.children;
  }
  plan(who);
  return count;
}

void virtual_processes::kill_leftovers(std::vector<leftover> runs, unique_function<void(int killed, int left)> done) {
  if (world_.search_takes_ == duration(0)) return search_and_kill(runs, std::move(done));
  answers_.push_back(world_.agenda_.add(
      world_.now_ + world_.search_takes_, rank::ordinary,
      [this, runs = std::move(runs), done = std::move(done)]() mutable { search_and_kill(runs, std::move(done)); }));
}

void virtual_processes::search_and_kill(const std::vector<leftover>& runs, unique_function<void(int killed, int left)> done) {
  int killed = 0;
  std::vector<session_pointer> found;
  duration answer = world_.now_;
  const std::map<std::int32_t, session_pointer> present = sessions_;
  for (const auto& [pid, who] : present) {
    const session& one = *who;
    const bool wanted = std::any_of(runs.begin(), runs.end(), [&one](const leftover& run) {
      if (!run.run_id.empty() && run.run_id == one.run_id) return true;
      return run.who == one.who;
    });
    if (!wanted) continue;
    const ended count = signal(who, SIGKILL);
    killed += count.main + count.children;
    answer = std::max(answer, who->last_end());
    found.push_back(who);
  }
  world_.trace_.record(world_.now_, "kill-leftovers", killed);
  std::erase_if(answers_, [this](const agenda::entry& entry) { return entry.at < world_.now_; });
  answers_.push_back(world_.agenda_.add(std::min(answer, world_.now_ + kill_bound), rank::ordinary,
                                        [this, killed, found = std::move(found), done = std::move(done)]() mutable {
                                          int left = 0;
                                          for (const session_pointer& who : found) left += who->alive_at(world_.now_);
                                          done(killed, left);
                                        }));
}

std::vector<living_process> virtual_processes::alive() const {
  std::vector<living_process> out;
  for (const auto& [pid, who] : sessions_) {
    living_process one{who->who, who->run_id, who->argv, who->main_end > world_.now_, 0};
    for (const duration end : who->child_ends) one.children += end > world_.now_ ? 1 : 0;
    if (one.main || one.children > 0) out.push_back(std::move(one));
  }
  return out;
}

void virtual_processes::detach() noexcept {
  for (const agenda::entry& answer : answers_) world_.agenda_.remove(answer);
  answers_.clear();
  const std::map<std::int32_t, session_pointer> present = sessions_;
  for (const auto& [pid, who] : present) {
    if (who->life == life_ && who->ends_with_loop) signal(who, SIGKILL);
  }
  ++life_;
}

process_events* virtual_processes::listener(const session& who) const noexcept {
  return who.life == life_ ? who.events : nullptr;
}

void virtual_processes::end_all() {
  const std::map<std::int32_t, session_pointer> present = sessions_;
  for (const auto& [pid, who] : present) {
    who->what.outlives_kill = duration(0);
    for (program::child& child : who->what.children) child.outlives_kill = duration(0);
    signal(who, SIGKILL);
  }
}

}  // namespace looptask::sim
