#include "jobs/thrown.hpp"

#include <algorithm>

namespace looptask::jobs {

engine::attempt_end end_by(const std::exception_ptr& thrown) {
  engine::attempt_end how;
  how.result = run_result::failed;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    how.error = error.what();
  } catch (...) {
    how.error = "threw something that is no std::exception";
  }
  std::replace_if(
      how.error.begin(), how.error.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  if (how.error.empty()) how.error = "threw an exception without a text";
  return how;
}

}  // namespace looptask::jobs
