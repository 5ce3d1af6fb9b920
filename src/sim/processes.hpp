#pragma once
// The process port of a simulated world. A process ends at its own virtual time whether or not anybody looks; what the loop
// hears of it comes in later calls of the reactor's wait(). Processes outlive the loop that spawned them, so that the next life
// of a simulated service finds them.
//
// Invariant: whether a process is alive depends on the virtual time alone (its end lies after now), never on whether its end
// has been reported yet.
//
// Owner: the thread of the world. A child_process must not outlive the world.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <looptask/function.hpp>
#include <looptask/host.hpp>

#include "sim/agenda.hpp"
#include "sim/program.hpp"

namespace looptask::sim {

class world;

using spawn_decision = unique_function<program(const process_spec& spec)>;

struct living_process {
  process_identity who;
  std::string run_id;  // LOOPTASK_RUN_ID of its environment
  std::vector<std::string> argv;
  bool main = true;  // the main process itself is alive
  int children = 0;  // living children of its session
};

class virtual_processes final : public process_port {
 public:
  explicit virtual_processes(world& where) : world_(where) {}

  std::unique_ptr<child_process> spawn(process_spec spec, process_events& events) override;
  containment_tier containment() const noexcept override { return containment_tier::tree; }
  void kill_leftovers(std::vector<leftover> runs, unique_function<void(int killed, int left)> done) override;

  void install(std::string name, spawn_decision decide) { programs_[std::move(name)] = std::move(decide); }
  void install_default(spawn_decision decide) { default_ = std::move(decide); }
  std::vector<living_process> alive() const;
  std::uint64_t spawned() const noexcept { return spawned_; }
  void detach() noexcept;  // the loop goes away: nobody is told of anything any more
  void end_all();          // the machine goes down

 private:
  struct session;
  class handle;
  using session_pointer = std::shared_ptr<session>;
  program decide(const process_spec& spec);
  void plan(const session_pointer& who);
  void report_exit(const session_pointer& who);
  void report_output_end(const session_pointer& who);
  void let_output_go(const session_pointer& who);  // hold_output(false)
  void forget_if_over(session& who);
  struct ended {
    int main = 0;
    int children = 0;
  };
  ended signal(const session_pointer& who, int number);  // how many processes it ended
  void search_and_kill(const std::vector<leftover>& runs, unique_function<void(int killed, int left)> done);
  process_events* listener(const session& who) const noexcept;  // nullptr: nobody listens

  world& world_;
  std::map<std::string, spawn_decision> programs_;
  spawn_decision default_;
  std::map<std::int32_t, session_pointer> sessions_;  // by pid: alive, or not wholly reported yet
  std::vector<agenda::entry> answers_;                // of kill_leftovers, due and not given
  std::int32_t next_pid_ = 1000;
  std::uint64_t spawned_ = 0;
  std::uint64_t life_ = 0;  // counts the loops that have gone
};

}  // namespace looptask::sim
