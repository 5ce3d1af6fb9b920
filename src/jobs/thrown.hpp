#pragma once
// The end of an attempt by an exception. Pure, any thread.
//
//   try { work(); } catch (...) { events.on_end(end_by(std::current_exception())); }
#include <exception>

#include "engine/job_body.hpp"

namespace looptask::jobs {

// `failed`, with the exception's words as one line (base/thrown_text.hpp). Of an aggregate_error: what() says how many and
// which.
engine::attempt_end end_by(const std::exception_ptr& thrown);

}  // namespace looptask::jobs
