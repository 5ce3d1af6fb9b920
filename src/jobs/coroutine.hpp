#pragma once
// A job that runs a coroutine on the loop's thread. What it throws is the error of the run.
//
// stop() cancels it: each of its awaits throws `cancelled` until it has given way (scope.hpp). There is no force: a coroutine
// that does not give way goes on, and so does its attempt. Owner: the loop's thread.
//
//   task<void> refresh(engine::attempt_context context) { co_await sleep_for(10ms); ... }
//   auto body = make_coroutine(loop, refresh);
#include <memory>

#include <looptask/function.hpp>
#include <looptask/loop.hpp>
#include <looptask/task.hpp>

#include "engine/job_body.hpp"

namespace looptask::jobs {

std::unique_ptr<engine::job_body> make_coroutine(loop& where, unique_function<task<void>(engine::attempt_context)> work);

}  // namespace looptask::jobs
