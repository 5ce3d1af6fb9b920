#pragma once
// What the shim of a child (shim.cpp) and the process that started it say to each other, over a SOCK_SEQPACKET pair: each
// message whole, both ends of the same build on the same machine.
//
// The shim speaks first: `born` (sent by the child itself, before anything of it may hang), then `running` or `failed`. From
// then on: `exited` once; one answer to each `kill` and each `leave`. The shim ends, with status 0, when it has been let go
// (`release`, `leave`, `kill`, or the other end is closed) and has no child left; since all orphans below it become its own,
// nothing of the tree is alive then. The end of the stream is therefore the last word on a child, whatever has been said or
// not: with status 0 all is gone, with any other somebody has killed the shim, and what it guarded is out of its reach.
#include <cstdint>

namespace looptask::shim_protocol {

inline constexpr int channel = 3;  // the shim's end; 0 is /dev/null, 1 and 2 are the output, no other is open

// argv of the shim: its name, options, the working folder, the path of the program, then argv of the program. The environment
// is that of the program; the shim wipes its own copy.
inline constexpr int options_argument = 1;
inline constexpr int workdir_argument = 2;
inline constexpr int path_argument = 3;
inline constexpr int first_argument = 4;
inline constexpr char end_with_owner = 'e';  // an option: kill all when the other end is closed

// What a child does before it is its program.
enum class step : std::int32_t { stopped, session, signals, input, output, workdir, descriptors, limit, exec, shim };

enum class news : std::int32_t { none, born, running, failed, exited, swept, stays };

struct report {
  news what = news::none;
  std::int32_t pid = 0;    // born: of the main process
  std::int32_t code = 0;   // failed: the step. exited: si_code. swept: how many others had to be killed
  std::int32_t value = 0;  // failed: errno. exited: si_status. swept: how many are left, with 0 the shim ends
  std::int64_t cpu = 0;    // exited: microseconds
  std::int64_t peak = 0;   // exited: KiB
};

enum class wish : std::int32_t {
  signal,   // `value` to the group of the main process, which has not been let go
  release,  // the main process need not be kept as a zombie any more
  leave,    // as release; answered with `stays` if something is left, else with the end
  kill      // as release, and KILL to all of the tree for at most `value` milliseconds; answered with `swept`
};

struct request {
  wish what = wish::signal;
  std::int32_t value = 0;
};

}  // namespace looptask::shim_protocol
