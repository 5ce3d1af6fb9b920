#include <looptask/process.hpp>

#include <algorithm>
#include <csignal>
#include <system_error>

#include <looptask/callback.hpp>
#include <looptask/task_group.hpp>

namespace looptask {

void process::moment::start() {
  if (passed_) return complete();  // the turn's budget was spent
  LOOPTASK_ASSERT(place_ == nullptr, "two tasks wait for the same event of a process");
  place_ = this;
}

process::process(loop& where, process_spec spec, std::size_t output_buffer)
    : hold_(where.hold()),
      output_buffer_(std::max<std::size_t>(output_buffer, 1)),
      child_(where.where().processes().spawn(std::move(spec), *this)) {}

// Not gone: the task is destroyed with its loop, which can wait for nothing. The group at least does not survive it.
process::~process() {
  if (!gone_) child_->signal_group(SIGKILL);
}

void process::on_spawned(const process_identity& who) {
  who_ = who;
  answered_ = true;
  moment::pass(spawn_waiter_);
}

void process::on_spawn_failed(int error, std::string_view what) {
  spawn_error_ = error;
  failed_step_ = what;
  answered_ = true;
  gone_ = true;
  moment::pass(spawn_waiter_);
}

void process::on_output(std::string_view bytes) {
  unread_.append(bytes);
  readable_ = true;
  moment::pass(reader_);
  if (!output_held_ && unread_.size() >= output_buffer_) {
    child_->hold_output(true);
    output_held_ = true;
  }
}

void process::on_output_end() {
  output_ended_ = readable_ = true;
  moment::pass(reader_);
}

void process::on_exit(const process_exit& how) {
  exit_ = how;
  exited_ = true;
  moment::pass(exit_waiter_);
}

task<> process::spawned() {
  co_await moment(spawn_waiter_, answered_);
  if (spawn_error_ != 0) throw std::system_error(spawn_error_, std::generic_category(), failed_step_);
}

task<std::string> process::read() {
  co_await moment(reader_, readable_);
  if (output_held_) {  // first: if it fails, what has been written stays to be read
    child_->hold_output(false);
    output_held_ = false;
  }
  std::string bytes = std::exchange(unread_, {});
  readable_ = output_ended_;
  co_return bytes;
}

task<process_exit> process::wait() {
  co_await moment(exit_waiter_, exited_);
  co_return exit_;
}

task<> process::end() {
  if (gone_) co_return;
  auto kill = [this](completion<int> done) {
    child_->kill_session([done = std::move(done)](int, int left) mutable { done.set_value(left); });
  };
  const int left = co_await await_callback<int>(kill);
  gone_ = true;
  if (left > 0) {
    const char* const of = child_->tier() == containment_tier::session ? " processes of session " : " processes below process ";
    throw std::runtime_error(std::to_string(left) + of + std::to_string(who_.pid) + " cannot be killed");
  }
}

std::exception_ptr process::settle(std::exception_ptr body, std::exception_ptr survivors) {
  if (!body) return survivors;
  try {
    std::rethrow_exception(body);
  } catch (const cancelled&) {
    this_loop().report(std::move(survivors));
    return body;
  } catch (...) {
    return std::make_exception_ptr(aggregate_error({std::move(body), std::move(survivors)}));
  }
}

namespace {

// Reads to the end and keeps the beginning.
task<process_result> collect(process& from, std::size_t limit) {
  process_result result;
  while (true) {
    const std::string bytes = co_await from.read();
    if (bytes.empty()) break;
    const std::size_t kept = std::min(bytes.size(), limit - result.output.size());
    result.output.append(bytes, 0, kept);
    result.dropped += bytes.size() - kept;
  }
  result.exit = co_await from.wait();
  co_return result;
}

}  // namespace

task<process_result> run_process(process_spec spec, std::size_t output_limit) {
  auto body = [output_limit](process& child) { return collect(child, output_limit); };
  return with_process(std::move(spec), body);
}

}  // namespace looptask
