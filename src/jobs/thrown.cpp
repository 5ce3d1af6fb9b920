#include "jobs/thrown.hpp"

#include "base/thrown_text.hpp"

namespace looptask::jobs {

engine::attempt_end end_by(const std::exception_ptr& thrown) {
  engine::attempt_end how;
  how.result = run_result::failed;
  how.error = thrown_text(thrown);
  return how;
}

}  // namespace looptask::jobs
