#include <looptask/debug.hpp>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include <looptask/assert.hpp>
#include <looptask/operation.hpp>

#include "base/thrown_text.hpp"

namespace looptask {
namespace {

struct origin {
  source_place body;
  source_place started_by;
};

// By the address of a promise (until the task begins) or of a fiber (until it ends). Tasks of all threads.
struct origins {
  std::mutex guard;
  std::unordered_map<const void*, origin> of;
};

origins& known() {
  static auto* const all = new origins;  // never destroyed: tasks may end after everything static
  return *all;
}

void to_standard_error(std::string_view text) {
  std::fprintf(stderr, "looptask: %.*s\n", static_cast<int>(text.size()), text.data());
}

void (*report_handler)(std::string_view) = nullptr;

void report(const std::string& text) noexcept {
  auto* const handler = __atomic_load_n(&report_handler, __ATOMIC_ACQUIRE);
  (handler != nullptr ? handler : to_standard_error)(text);
}

// line 0: not known, the mode was switched on later.
std::string place(const source_place& at) { return std::string(at.file_name()) + ':' + std::to_string(at.line()); }

std::string in_words(const origin* from) {
  if (from == nullptr || from->body.line() == 0) return "a task made before debug mode";
  std::string words = "task '" + std::string(from->body.function_name()) + "' of " + place(from->body);
  if (from->started_by.line() != 0) words += ", started at " + place(from->started_by);
  return words;
}

std::string origin_words(const void* of) {
  const std::lock_guard lock(known().guard);
  const auto found = known().of.find(of);
  return in_words(found == known().of.end() ? nullptr : &found->second);
}

void running_task() noexcept {
  const detail::fiber* const now = detail::fiber::current();
  if (now != nullptr) report("in " + detail::origin_of(*now));
}

}  // namespace

void set_debug_mode(bool on) {
  detail::assertion_note(on ? running_task : nullptr);
  __atomic_store_n(&detail::debug_on, on, __ATOMIC_RELAXED);
  if (on) return;
  const std::lock_guard lock(known().guard);
  known().of.clear();
}

bool debug_mode() noexcept { return detail::debugging(); }

bool set_debug_mode_from_environment() {
  const char* const value = std::getenv("LOOPTASK_DEBUG");
  const std::string_view text = value == nullptr ? "" : value;
  const bool on = !text.empty() && text != "0";
  set_debug_mode(on);
  return on;
}

void on_debug_report(void (*handler)(std::string_view text)) noexcept {
  __atomic_store_n(&report_handler, handler, __ATOMIC_RELEASE);
}

namespace detail {

void note_made(const void* promise, const source_place& body) noexcept {
  const std::lock_guard lock(known().guard);
  known().of.insert_or_assign(promise, origin{body, {}});
}

void note_begun(const void* promise) noexcept {
  const std::lock_guard lock(known().guard);
  known().of.erase(promise);
}

void note_begun(const void* promise, const fiber& by) noexcept {
  const std::lock_guard lock(known().guard);
  auto entry = known().of.extract(promise);
  if (entry.empty()) {
    known().of.erase(&by);  // of an older one at this address
    return;
  }
  known().of.insert_or_assign(&by, entry.mapped());
}

void note_started(const fiber& what, const source_place& by) noexcept {
  const std::lock_guard lock(known().guard);
  known().of[&what].started_by = by;
}

void note_ended(const fiber& what) noexcept {
  const std::lock_guard lock(known().guard);
  known().of.erase(&what);
}

std::string origin_of(const fiber& what) { return origin_words(&what); }

void report_never_begun(const void* promise) noexcept {
  report(origin_words(promise) + " was never awaited: it is freed without having begun");
  note_begun(promise);
}

void report_unawaited(const std::string& task_words, const std::exception_ptr& error) noexcept {
  report(task_words + " ended by an exception that nobody awaits: " + thrown_text(error));
}

void report_in_scope(const fiber& what) noexcept { report("still in the scope: " + origin_of(what)); }

}  // namespace detail
}  // namespace looptask
