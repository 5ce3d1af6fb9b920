#pragma once
// What a virtual process does: how long it takes, what it writes, how it ends, how it meets a signal, what it leaves behind.
// Plain values.
//
//   sim::program slow{.takes = 5s, .exit_code = 3};
//   sim::program stubborn{.takes = sim::for_ever, .on_signal = sim::reaction::ignores};
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <looptask/time.hpp>

namespace looptask::sim {

inline constexpr duration for_ever = duration::max();

// How a process meets a signal that would end it by default. KILL always ends it, sooner or later (`outlives_kill`).
enum class reaction : std::uint8_t {
  dies,     // at once, by the signal
  ignores,  // as if there had been none
  exits     // with `signal_exit_code`, `signal_delay` after the first signal
};

struct program {
  duration takes{0};            // from start to the exit of the main process; `for_ever`: until a signal ends it
  int exit_code = 0;            // 0 to 255
  std::optional<int> signal{};  // instead of exit_code: it ends by this signal (a crash)
  reaction on_signal = reaction::dies;
  duration signal_delay{0};
  int signal_exit_code = 0;
  duration outlives_kill{0};  // how long it goes on after the first KILL, as in a sleep that nothing interrupts

  struct text {
    duration after{0};  // counted from the start; what would come after the end is not written
    std::string bytes{};
  };
  std::vector<text> output{};

  // A process of the same session and group that lives on when the main process has exited.
  struct child {
    duration takes = for_ever;            // counted from the start
    bool holds_output = true;             // keeps the output open, so that its end comes with the last of these
    reaction on_signal = reaction::dies;  // `exits`: as dies
    duration outlives_kill{0};
  };
  std::vector<child> children{};

  int spawn_error = 0;  // an errno: it cannot be started
  microseconds cpu{0};
  std::int64_t max_rss = 0;  // bytes
};

}  // namespace looptask::sim
