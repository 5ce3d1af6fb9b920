// What an edit of a job's definition does to its slots.
#include <algorithm>
#include <utility>

#include "schedule/decide.hpp"
#include "schedule/series.hpp"
#include "schedule/trigger_text.hpp"
#include "schedule/wording.hpp"

namespace looptask::schedule {
namespace {

constexpr std::string_view off = "off ";

bool disabled(std::string_view text) { return text.substr(0, off.size()) == off; }

class revision {
 public:
  revision(const job_definition* before, std::string_view before_text, const job_definition& after, job_state&& state,
           instant elapsed, instant wall)
      : before_(before), before_text_(before_text), after_(after), elapsed_(elapsed), wall_(wall) {
    out_.after = std::move(state);
  }

  verdict run() && {
    const bool added_again = before_text_.empty();
    if (before_text_ == trigger_text(after_)) return std::move(out_);
    if (!disabled(before_text_)) end_old_slots();
    if (after_.enabled || added_again) begin_anew();
    if (added_again && out_.after.paused) decide_to(set_paused{false});
    return std::move(out_);
  }

 private:
  void decide_to(decision what) {
    apply_decision(out_.after, what);
    out_.decisions.push_back(std::move(what));
  }

  void end_old_slots() {
    const std::vector<waiting_slot> waiting = out_.after.waiting;
    for (const waiting_slot& w : waiting) {
      if (w.what.id.kind != run_kind::schedule) continue;
      decide_to(close_slots{w.what, w.what.id.nominal, 1, slot_outcome::superseded, cause::removed,
                            "it waited when the job's trigger was changed", true});
    }
    if (before_ == nullptr) return;
    const instant here = on_wall_clock(before_->trigger) ? wall_ : elapsed_;
    const slot_range passed = slots_between(before_->trigger, out_.after.anchor, out_.after.watermark, here - microseconds(1));
    if (passed.count == 0) return;
    const slot first{.id = {run_kind::schedule, passed.first, out_.after.epoch}, .due = passed.first, .run_id = {}};
    if (out_.after.paused) {
      decide_to(close_slots{first, passed.last, passed.count, slot_outcome::suppressed, cause::paused,
                            "the job was paused until its trigger was changed at " + to_text(here), false});
    } else {
      decide_to(close_slots{first, passed.last, passed.count, slot_outcome::superseded, cause::removed,
                            "not yet judged when the job's trigger was changed at " + to_text(here), false});
    }
  }

  void begin_anew() {
    const bool same_trigger = disabled(before_text_) && before_text_.substr(off.size()) == trigger_text(after_);
    const job_state fresh = new_state(after_, elapsed_, wall_);
    instant anchor = fresh.anchor;
    if (same_trigger) {
      // The phase stays. A due time of `end` or `start` that lies before the enabling moves to it.
      anchor = out_.after.anchor;
      if (const std::optional<instant> due = interval_due(after_.trigger, out_.after); due && *due < elapsed_)
        anchor = elapsed_;
    }
    instant watermark = fresh.watermark;
    std::string story = before_text_.empty() ? "the job was added again"
                        : same_trigger       ? "the job was enabled"
                                             : "the job's trigger was changed";
    if (const auto* const at = std::get_if<at_trigger>(&after_.trigger)) {
      // Unlike a new job's, an instant that lies before the edit is none of its slots.
      if (at->when < wall_ || (same_trigger && at->when <= out_.after.watermark)) {
        watermark = std::max(out_.after.watermark, at->when);
        if (!same_trigger) story += "; its new time has passed already, so it never runs";
      }
    } else if (same_trigger) {
      watermark = std::max(watermark, out_.after.watermark);
    }
    const std::uint32_t epoch = out_.after.epoch + (watermark < out_.after.watermark ? 1 : 0);
    decide_to(rejudge{fresh.judged_from, anchor, watermark, epoch, std::max(out_.after.wall_high, wall_), std::move(story)});
  }

  const job_definition* const before_;
  const std::string_view before_text_;
  const job_definition& after_;
  const instant elapsed_, wall_;
  verdict out_;
};

}  // namespace

verdict revise(const job_definition* before, std::string_view before_text, const job_definition& after, job_state state,
               instant elapsed, instant wall) {
  return revision(before, before_text, after, std::move(state), elapsed, wall).run();
}

}  // namespace looptask::schedule
