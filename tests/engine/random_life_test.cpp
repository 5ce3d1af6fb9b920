// Random jobs, policies, faults and restarts, and what must hold whatever happens (docs/semantics.md, "What always holds").
// A failure prints its seed; LOOPTASK_SEED=N replays that one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "engine/house.hpp"
#include "schedule/series.hpp"

namespace looptask::engine {
namespace {

class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

 private:
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

// What the jobs themselves saw, over all lives.
struct side_log {
  std::set<std::pair<run_key, std::uint32_t>> begun, ended_well;
  std::map<std::string, int> going;  // attempts of this life, by job
  int going_now = 0;
};

class witness final : public job_body {
 public:
  witness(house& where, dice& fate, side_log& log, std::uint32_t max_running)
      : where_(where), fate_(fate), log_(log), max_running_(max_running) {}

  std::unique_ptr<attempt> start(const attempt_context& context, attempt_events& events) override {
    EXPECT_TRUE(log_.begun.emplace(context.key, context.attempt).second) << "an attempt was started twice: " << context.key.job;
    if (fate_.chance(5)) throw std::runtime_error("no luck");
    EXPECT_EQ(log_.going[context.key.job], 0) << "two runs of " << context.key.job << " at once";
    EXPECT_LT(log_.going_now, static_cast<int>(max_running_));
    return std::make_unique<work>(*this, context, events);
  }
  microseconds kill_after() const override { return std::chrono::seconds(1); }

 private:
  class work final : public attempt {
   public:
    work(witness& of, const attempt_context& context, attempt_events& events) : of_(of), context_(context), events_(events) {
      ++of_.log_.going[context_.key.job];
      ++of_.log_.going_now;
      const microseconds takes = of_.fate_.chance(5) ? ms(40'000) : ms(of_.fate_.between(0, 1500));
      timer_ =
          of_.where_.loop->call_later(takes, [this] { end(of_.fate_.chance(70) ? run_result::success : run_result::failed); });
    }
    ~work() override {
      timer_.cancel();
      --of_.log_.going[context_.key.job];
      --of_.log_.going_now;
    }
    void stop(microseconds kill_after) override {
      if (std::exchange(stopped_, true)) return;
      timer_.cancel();
      const microseconds takes = std::min(kill_after, ms(of_.fate_.between(0, 500)));
      timer_ = of_.where_.loop->call_later(takes, [this] { end(run_result::failed); });
    }

   private:
    void end(run_result result) {
      attempt_end how;
      how.result = result;
      if (result == run_result::success) of_.log_.ended_well.emplace(context_.key, context_.attempt);
      events_.on_end(how);
    }
    witness& of_;
    attempt_context context_;
    attempt_events& events_;
    timer_handle timer_;
    bool stopped_ = false;
  };

  house& where_;
  dice& fate_;
  side_log& log_;
  std::uint32_t max_running_;
};

schedule::job_definition random_job(dice& fate, std::string name) {
  schedule::job_definition d = every(std::move(name), fate.between(100, 4000));
  auto& trigger = std::get<schedule::every_trigger>(d.trigger);
  switch (fate.between(0, 6)) {
    case 0:
      trigger.from = schedule::interval_from::end;
      break;
    case 1:
      trigger.from = schedule::interval_from::start;
      break;
    case 2:
      d = cron(d.name, "* * * * * *");
      break;
    case 3:
      d = cron(d.name, fate.chance(50) ? "*/7 * * * * *" : fate.chance(50) ? "@every 3s" : "@reboot");
      break;
    case 4:
      d.trigger = schedule::at_trigger{sim::default_wall0 + ms(fate.between(-5000, 60'000))};
      break;
    default:
      trigger.initial_delay = ms(fate.between(0, 3000));
      break;
  }
  d.overlap = fate.chance(50) ? schedule::overlap_policy::skip : schedule::overlap_policy::queue_one;
  d.misfire = fate.chance(50) ? schedule::misfire_policy::skip : schedule::misfire_policy::run_once;
  d.misfire_grace = ms(fate.chance(30) ? 0 : fate.between(0, 2000));
  if (fate.chance(50)) d.timeout = ms(fate.between(100, 2000));
  d.retry.max = static_cast<std::uint32_t>(fate.chance(50) ? 0 : fate.between(1, 3));
  d.retry.delay = ms(fate.between(0, 1000));
  d.retry.jitter = fate.chance(50) ? 0 : 0.5;
  return d;
}

class random_life {
 public:
  explicit random_life(std::uint64_t seed) : fate_(seed), house_(seed) {
    house_.options.max_running = static_cast<std::uint32_t>(fate_.between(1, 5));
    house_.options.shutdown_grace = ms(fate_.between(0, 1000));
    const std::int64_t count = fate_.between(1, 6);
    for (std::int64_t i = 0; i < count; ++i) {
      definitions_.push_back(random_job(fate_, "job" + std::to_string(i)));
      house_.body(definitions_.back(),
                  [this] { return std::make_shared<witness>(house_, fate_, log_, house_.options.max_running); });
    }
  }

  void live() {
    house_.observer = [this](const event& e) { check_start(e); };
    house_.up();
    std::int64_t now = 0;
    while (now < 60'000) {
      now = here() + fate_.between(1, 6000);  // a stall may have ended later than wanted
      fault(now);
      if (!house_.run_to(now)) revive(now);
      house_.store->failing = false;
      if (fate_.chance(50)) house_.store->release();
      if (house_.it->stopping()) revive(now);
      ask();
      for (const std::string& line : house_.take("record_refused")) ADD_FAILURE() << line;
    }
    // Everything heals, and what is due is resolved.
    house_.store->release();
    while (!house_.run_to(here() + 30'000)) revive(now);  // a crash that was planned for a stall is still to come
    house_.stop();
    house_.run_to(here() + 60'000);
    ASSERT_TRUE(house_.stopped);
    EXPECT_EQ(house_.stopped->message, "");
    check();
  }

 private:
  // Never before due. On the wall clock that holds as long as nobody sets it back between claim and start.
  void check_start(const event& e) {
    if (e.what != event_kind::attempt_started || e.run->key.kind != run_kind::schedule) return;
    const auto of = std::find_if(definitions_.begin(), definitions_.end(), [&](const auto& d) { return d.name == e.job; });
    ASSERT_NE(of, definitions_.end());
    if (!schedule::on_wall_clock(of->trigger)) {
      EXPECT_GE(e.elapsed, e.run->due) << e.job << " started before it was due";
    } else if (!set_back_) {
      EXPECT_GE(e.wall, e.run->due) << e.job << " started before it was due";
    }
  }

  std::int64_t here() const { return std::chrono::ceil<std::chrono::milliseconds>(house_.world.now()).count(); }

  void fault(std::int64_t now) {
    const std::int64_t when = fate_.between(here(), std::max(here(), now - 1));
    switch (fate_.between(0, 8)) {
      case 0:
        return house_.world.crash_at(ms(when));
      case 1:
        return house_.world.stall(ms(when), ms(when + fate_.between(1, 8000)));
      case 2:
        return jump(when, fate_.between(-20'000, 20'000));
      case 3:
        return jump(when, fate_.chance(50) ? -14'400'000 : 14'400'000);
      case 4:
        house_.store->failing = true;
        return;
      case 5:
        house_.store->holding = true;
        return;
      case 6:
        house_.stop();
        return;
      default:
        return;
    }
  }

  void jump(std::int64_t when, std::int64_t by) {
    set_back_ = set_back_ || by < 0;
    house_.world.wall_jump(ms(when), ms(by));
  }

  void revive(std::int64_t& now) {
    house_.crash();
    if (fate_.chance(20)) house_.world.reboot();
    house_.store->failing = house_.store->holding = false;
    now = here() + fate_.between(0, 5000);
    house_.world.pass_until(ms(now));
    house_.stopped.reset();
    house_.up();
    if (fate_.chance(50)) house_.it->confirm_wall_clock();
  }

  void ask() {
    const std::string name =
        definitions_[static_cast<std::size_t>(fate_.between(0, static_cast<std::int64_t>(definitions_.size()) - 1))].name;
    switch (fate_.between(0, 9)) {
      case 0:
        house_.it->pause(name);
        return;
      case 1:
      case 2:
        house_.it->resume(name);
        return;
      case 3:
      case 4:
        house_.it->trigger(name, house_.it->new_run_id());
        return;
      case 5:
        if (const auto status = house_.it->status(name)) {
          for (const std::string& id : status->active) house_.it->cancel(id);
        }
        return;
      default:
        return;
    }
  }

  void check() {
    std::map<std::string, ledger::job_record> jobs;
    for (const ledger::job_record& j : house_.memory->load().jobs) jobs[j.name] = j;
    std::map<std::pair<std::string, std::uint32_t>, std::vector<ledger::run_record>> slots;
    for (const ledger::run_record& r : house_.records()) {
      check_record(r);
      if (r.key.kind == run_kind::schedule) slots[{r.key.job, r.key.epoch}].push_back(r);
    }
    for (const schedule::job_definition& d : definitions_) {
      const ledger::job_record& job = jobs.at(d.name);
      for (auto& [key, records] : slots) {
        if (key.first != d.name) continue;
        std::reverse(records.begin(), records.end());
        check_conservation(d, job, records);
      }
    }
  }

  void check_record(const ledger::run_record& r) {
    EXPECT_NE(r.phase, ledger::record_phase::open) << "still open after the end: " << r.key.job;
    if (r.phase == ledger::record_phase::waiting || r.outcome != slot_outcome::ran) {
      EXPECT_TRUE(r.attempts.empty());
      return;
    }
    ASSERT_TRUE(r.result);
    if (r.result == run_result::success) {
      EXPECT_TRUE(log_.ended_well.contains({r.key, r.attempts.back().n})) << "a success that nobody saw";
    }
    std::uint32_t n = 0;
    for (const ledger::attempt_record& a : r.attempts) {
      EXPECT_EQ(a.n, ++n);
      EXPECT_TRUE(a.result && a.ended && *a.ended >= a.started);
    }
  }

  // The first slot of an epoch is the first one since it is judged from: an `at` wherever it lies.
  static void check_beginning(const schedule::job_definition& d, const ledger::job_record& job, instant first) {
    const bool grid = !schedule::on_wall_clock(d.trigger);
    if (std::holds_alternative<schedule::at_trigger>(d.trigger)) return;
    EXPECT_EQ(schedule::next_slot(d.trigger, job.anchor, job.judged_from - microseconds(grid ? 1 : 0)), first)
        << d.name << ": a slot before the first record";
  }

  // Within an epoch the slots follow each other without gap or overlap, up to the watermark.
  void check_conservation(const schedule::job_definition& d, const ledger::job_record& job,
                          const std::vector<ledger::run_record>& records) {
    for (std::size_t i = 1; i < records.size(); ++i) {
      EXPECT_GT(records[i].key.nominal, records[i - 1].nominal_last) << d.name;
    }
    if (!schedule::has_series(d.trigger)) return;
    for (const ledger::run_record& r : records) {
      const schedule::slot_range range = schedule::slots_between(d.trigger, job.anchor, r.key.nominal, r.nominal_last);
      EXPECT_EQ(range.count + 1, r.slots) << d.name;
    }
    for (std::size_t i = 1; i < records.size(); ++i) {
      const auto next = schedule::next_slot(d.trigger, job.anchor, records[i - 1].nominal_last);
      EXPECT_EQ(next, records[i].key.nominal) << d.name << ": a slot without an outcome";
    }
    if (records.back().key.epoch != job.epoch) return;
    EXPECT_EQ(records.back().nominal_last, job.watermark) << d.name;
    check_beginning(d, job, records.front().key.nominal);
  }

  dice fate_;
  bool set_back_ = false;  // the wall clock was, at some time
  side_log log_;
  std::vector<schedule::job_definition> definitions_;
  house house_;
};

TEST(RandomLife, KeepsWhatAlwaysHolds) {
  std::uint64_t first = 1, last = 300;
  if (const char* const only = std::getenv("LOOPTASK_SEED")) first = last = std::strtoull(only, nullptr, 10);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("LOOPTASK_SEED=" + std::to_string(seed));
    random_life(seed).live();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace looptask::engine
