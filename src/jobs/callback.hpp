#pragma once
// A job that calls a function on the loop's thread. The function must not block; what it throws is the error of the run.
//
// The call comes in a later turn than the start. It cannot be interrupted: stop() before the call keeps it from being made.
// Owner: the loop's thread.
//
//   auto body = make_callback(loop, [&](const engine::attempt_context&) { cache.refresh(); });
#include <memory>

#include <looptask/function.hpp>
#include <looptask/loop.hpp>

#include "engine/job_body.hpp"

namespace looptask::jobs {

std::unique_ptr<engine::job_body> make_callback(loop& where, unique_function<void(const engine::attempt_context&)> work);

}  // namespace looptask::jobs
