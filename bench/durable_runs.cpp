// Durable runs: how many runs a second the embedded history records, each as two batches (its claim, then its end with output
// and the job's state), synchronous=FULL. Runs and syncs per second, and CPU
// microseconds per run.
//
// usage: bench_durable_runs [RUNS] [AT_ONCE]   (default 100000 runs, 500 under way)
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include <looptask/loop.hpp>
#include <looptask/real_host.hpp>

#include "ledger/sqlite_store.hpp"
#include "measure.hpp"

namespace {

using namespace looptask;

class load {
 public:
  load(loop& home, ledger::store& history, std::int64_t runs) : home_(home), history_(history), wanted_(runs) {}

  void begin_one() {
    if (begun_ == wanted_) return;
    ledger::run_record run = claimed(begun_++);
    submit(run, [this, run]() mutable { end(std::move(run)); });
  }

 private:
  ledger::run_record claimed(std::int64_t number) const {
    ledger::run_record run;
    run.key.job = "job-" + std::to_string(number % 100);
    run.key.nominal = instant(microseconds(number * 100));
    run.run_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    run.phase = ledger::record_phase::open;
    run.due = run.decided = run.key.nominal;
    run.started = run.key.nominal;
    run.attempts.resize(1);
    run.attempts[0].started = run.key.nominal;
    return run;
  }

  void end(ledger::run_record run) {
    run.phase = ledger::record_phase::closed;
    run.ended = run.due + std::chrono::milliseconds(1);
    run.result = run.attempts[0].result = run_result::success;
    run.attempts[0].ended = run.ended;
    run.attempts[0].exit_code = 0;
    run.attempts[0].output_head = "done\n";
    ledger::batch last;
    last.jobs.resize(1);
    last.jobs[0].name = run.key.job;
    last.jobs[0].watermark = run.key.nominal;
    submit(
        run,
        [this] {
          if (++ended_ == wanted_) home_.stop();
          begin_one();
        },
        std::move(last));
  }

  template <class Then>
  void submit(const ledger::run_record& run, Then then, ledger::batch what = ledger::batch()) {
    what.runs.push_back(run);
    history_.submit(std::move(what), [then = std::move(then)](ledger::commit_error error) mutable {
      if (error.failed) throw std::runtime_error(error.message);
      then();
    });
  }

  loop& home_;
  ledger::store& history_;
  std::int64_t wanted_;
  std::int64_t begun_ = 0;
  std::int64_t ended_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t runs = bench::argument(argc, argv, 1, 100'000);
  const std::int64_t at_once = bench::argument(argc, argv, 2, 500);
  std::string directory = std::filesystem::temp_directory_path() / "looptask-bench-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) return 1;
  std::uint64_t syncs = 0;
  real_host machine;
  const monotonic_time begin = machine.clock().monotonic();
  const double cpu = bench::cpu_microseconds(RUSAGE_SELF);
  {
    loop home(machine);
    const auto history = ledger::open_sqlite_store(directory, ledger::durability::full, home);
    load all(home, *history, runs);
    for (std::int64_t i = 0; i < at_once; ++i) all.begin_one();
    home.run();
    syncs = history->statistics().commits;
  }
  const double seconds = std::chrono::duration<double>(machine.clock().monotonic() - begin).count();
  bench::print("durable_runs", "looptask", "round",
               {{"runs_per_s", static_cast<double>(runs) / seconds},
                {"syncs_per_s", static_cast<double>(syncs) / seconds},
                {"cpu_us_per_run", (bench::cpu_microseconds(RUSAGE_SELF) - cpu) / static_cast<double>(runs)}});
  bench::print_command(argc, argv);
  std::filesystem::remove_all(directory);
}
