#pragma once
// Debug mode: where tasks were made and started is written down, and what is easily lost is said aloud, with that place.
//
// Any thread; for the whole process, switched on before the first task is made (what is older has no place). While it is on:
//   - a task<> that is freed without having begun (nobody awaited or started it) is reported. Otherwise it is freed quietly;
//   - an exception of a spawned task that nobody awaits is reported with the task, before loop::on_error gets it;
//   - every failed LOOPTASK_ASSERT names the task that was running, a scope that is destroyed in use the tasks in it.
// Costs a lock and an entry in a table for each task. While it is off: one load of a flag for each.
//
//   int main() {
//     looptask::set_debug_mode_from_environment();   // LOOPTASK_DEBUG=1 ./program
//     ...
//   }
#include <exception>
#include <string>
#include <string_view>

#include <looptask/source_place.hpp>

namespace looptask {

void set_debug_mode(bool on);  // off: what was written down is forgotten
bool debug_mode() noexcept;
// On if LOOPTASK_DEBUG is set to anything but "" and "0". The library never reads the environment by itself. Says whether it is
// on.
bool set_debug_mode_from_environment();

// Takes reports, one line without its end each, instead of standard error. On the thread of what is reported; must not throw.
// nullptr: standard error again.
void on_debug_report(void (*handler)(std::string_view text)) noexcept;

namespace detail {

class fiber;

inline constinit bool debug_on = false;
inline bool debugging() noexcept { return __atomic_load_n(&debug_on, __ATOMIC_RELAXED); }

// `promise` stands for a task that has not begun; `body`: its coroutine.
void note_made(const void* promise, const source_place& body) noexcept;
void note_begun(const void* promise) noexcept;                   // awaited: nothing more to say of it
void note_begun(const void* promise, const fiber& by) noexcept;  // as the outermost of a fiber
void note_started(const fiber& what, const source_place& by) noexcept;
void note_ended(const fiber& what) noexcept;

std::string origin_of(const fiber& what);  // in words
void report_never_begun(const void* promise) noexcept;
void report_unawaited(const std::string& task_words, const std::exception_ptr& error) noexcept;
void report_in_scope(const fiber& what) noexcept;

}  // namespace detail
}  // namespace looptask
