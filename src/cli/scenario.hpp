#pragma once
// Scenarios: one job, what its runs do, what happens to the machine meanwhile, and what comes of it, all in virtual time. The
// format is that of tests/corpus/loop/README.md. They run through the real engine on sim::world, with command jobs and the
// memory ledger: what a scenario shows is what the service does.
//
//   auto wanted = read_scenario(text);
//   if (!wanted) return fail(wanted.message());
//   std::puts(to_json(wanted.value(), run_scenario(wanted.value())).c_str());
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <looptask/result.hpp>
#include <looptask/run.hpp>
#include <looptask/time.hpp>

#include "schedule/definition.hpp"

namespace looptask::cli {

// All times are since the beginning of the scenario, whole milliseconds.
struct scenario {
  std::string id;
  schedule::job_definition job;
  struct work_step {
    microseconds takes{0};
    bool ok = true;
  };
  std::vector<work_step> work;  // what the k-th attempt does; the last repeats for ever
  instant wall0{};
  struct event {
    enum class kind : std::uint8_t { down, stall, wall_jump };
    kind what{};
    microseconds at{0};
    microseconds until{0};  // down, stall
    microseconds jump{0};   // wall_jump
  };
  std::vector<event> events;
  microseconds until{0};
};

// Unknown keys, missing ones and wrong values are errors that name the key. `expect` is accepted and ignored.
result<scenario> read_scenario(std::string_view text_of_file);

struct scenario_outcome {
  struct attempt {
    microseconds start{0};
    std::optional<microseconds> end;
    std::optional<run_result> result;  // none: still going
  };
  struct run {
    instant nominal{};
    microseconds start{0};
    std::optional<microseconds> end;
    std::optional<run_result> result;
    std::vector<attempt> attempts;
  };
  struct drop {
    instant nominal{};
    microseconds at{0};
    slot_outcome outcome{};
  };
  std::vector<run> runs;      // by start, then due
  std::vector<drop> dropped;  // by decision, then due
};

scenario_outcome run_scenario(const scenario& what);

// One line: {"id":...,"runs":[...],"dropped":[...]} in the form of a scenario's `expect`.
std::string to_json(const scenario& what, const scenario_outcome& outcome);

}  // namespace looptask::cli
