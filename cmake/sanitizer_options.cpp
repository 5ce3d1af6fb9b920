// Linked into every program of a sanitizer build: the first report ends the program, whatever its environment says, and
// children that a test starts with an empty environment obey as well. Nothing is suppressed.
extern "C" {
const char* __asan_default_options();
const char* __ubsan_default_options();
const char* __tsan_default_options();

const char* __asan_default_options() {
  return "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1:abort_on_error=1";
}

const char* __ubsan_default_options() { return "print_stacktrace=1:halt_on_error=1"; }

const char* __tsan_default_options() { return "halt_on_error=1:second_deadlock_stack=1"; }
}
