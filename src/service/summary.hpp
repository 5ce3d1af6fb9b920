#pragma once
// What a life of the service did, per job and in all: runs, failures, retries, timeouts, slots that did not run and why, and
// how late runs were. Fed by the engine's events, read at the end. Its memory grows with the number of jobs, not of runs.
//
// Owner: the loop's thread. All numbers can be recomputed from `looptask runs --json --all` over the same time:
//   runs      records that ended, `interrupted` ones apart: those began in an earlier life of the service
//   failures  of these, the ones that did not end in success
//   retries   attempts of these runs with n > 1
//   timeouts  attempts of these runs whose result is timeout
//   not run   the sum of `slots` of records with an outcome other than ran, by outcome and cause
//   lateness  quantiles over runs (see lateness_histogram)
//
//   summary total;
//   total.note(event);  // each event of the engine
//   io.out(total.text());
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "engine/events.hpp"
#include "service/lateness_histogram.hpp"

namespace looptask::service {

class summary {
 public:
  void note(const engine::event& what);

  std::string text() const;  // a table for people, a line for each job
  std::string json() const;  // one object and a line end; durations in seconds

  struct numbers {
    std::uint64_t runs = 0;
    std::array<std::uint64_t, 8> results{};  // of the runs, by run_result
    std::uint64_t interrupted = 0;           // runs of an earlier life
    std::uint64_t retries = 0;
    std::uint64_t timeouts = 0;
    std::map<std::pair<slot_outcome, cause>, std::uint64_t> not_run;
    lateness_histogram lateness;

    std::uint64_t failures() const noexcept { return runs - results[static_cast<std::size_t>(run_result::success)]; }
    void add(const numbers& other);
  };
  const std::map<std::string, numbers, std::less<>>& jobs() const noexcept { return jobs_; }
  numbers total() const;

 private:
  void forget_if_idle(std::string_view job);

  std::map<std::string, numbers, std::less<>> jobs_;
};

}  // namespace looptask::service
