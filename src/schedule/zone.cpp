#include "schedule/zone.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <cctz/time_zone.h>

#include <looptask/assert.hpp>

#include "base/printable.hpp"
#include "schedule/zone_names.hpp"

namespace looptask::schedule {

// The table of one zone. `entries` are its stretches in order, the last one a sentinel that begins at `latest` (or, where the
// rule for the future goes on, in the first stretch after cycle_end). Instants from cycle_end on are looked up 400 years
// (or a multiple) earlier: cctz unrolls the rule for 400 years after the last change the database lists, and the calendar
// repeats after that.
struct zone::rules {
  struct entry {
    std::int64_t begin;
    std::int64_t passed;
    std::int32_t offset;
  };

  std::string name;
  std::vector<entry> entries;
  // For each bucket of 2^bucket_bits seconds since 1970 the entry its first second lies in: a lookup needs no search.
  std::vector<std::uint16_t> index;
  std::int64_t cycle_begin = latest, cycle_end = latest;
  std::int32_t least_offset = 0, greatest_offset = 0;

  // One table for all who use the zone now, so that ten thousand jobs in one zone share it; what nobody uses is freed.
  static std::shared_ptr<const rules> of(const std::string& name, const cctz::time_zone& source);

  static constexpr int bucket_bits = 23;  // 97 days: hardly ever two changes in one

  std::size_t find(std::int64_t when) const noexcept {
    std::size_t i = 0;
    if (when >= 0) {
      i = index[std::min(static_cast<std::size_t>(when >> bucket_bits), index.size() - 1)];
      while (entries[i + 1].begin <= when) ++i;
    } else {
      const auto after =
          std::upper_bound(entries.begin(), entries.end(), when, [](std::int64_t t, const entry& e) { return t < e.begin; });
      i = static_cast<std::size_t>(after - entries.begin()) - 1;
    }
    return i;
  }

  void add(std::int64_t begin, std::int32_t offset) {
    // A clock that was set back shows times again that it has shown already: what counts as passed never goes back.
    const std::int64_t passed = entries.empty() ? earliest : std::max(entries.back().passed, begin + entries.back().offset);
    entries.push_back({begin, passed, offset});
  }

  void finish() {
    const auto [least, greatest] =
        std::minmax_element(entries.begin(), entries.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
    least_offset = least->offset;
    greatest_offset = greatest->offset;
    if (cycle_end == latest) add(latest, entries.back().offset);
    const std::int64_t last = cycle_end == latest ? entries[entries.size() - 2].begin : cycle_end;
    std::size_t i = 0;
    for (std::int64_t bucket = 0; bucket <= std::max<std::int64_t>(last, 0) >> bucket_bits; ++bucket) {
      while (i + 2 < entries.size() && entries[i + 1].begin <= bucket << bucket_bits) ++i;
      index.push_back(static_cast<std::uint16_t>(i));
    }
  }
};

namespace {

using cctz_seconds = cctz::time_point<cctz::seconds>;

cctz_seconds cctz_time(std::int64_t when) { return cctz_seconds(cctz::seconds(when)); }

std::int64_t wall_of_cctz(const cctz::civil_second& c) { return c - cctz::civil_second(1970, 1, 1); }

struct change {
  std::int64_t at;
  std::int32_t offset;
};

std::vector<change> changes_of(const cctz::time_zone& source, std::int32_t offset) {
  std::vector<change> changes;
  cctz::time_zone::civil_transition found;
  for (auto at = cctz_seconds::min(); source.next_transition(at, &found);) {
    const std::int64_t when = wall_of_cctz(found.from) - offset;
    at = cctz_time(when);
    const std::int32_t after = source.lookup(at).offset;
    if (after != offset) changes.push_back({when, after});
    offset = after;
  }
  return changes;
}

}  // namespace

std::shared_ptr<const zone::rules> zone::rules::of(const std::string& name, const cctz::time_zone& source) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const rules>> in_use;
  const std::lock_guard lock(mutex);
  if (auto shared = in_use[name].lock()) return shared;

  auto made = std::make_shared<rules>();
  made->name = name;
  // No zone has a change so far back: the offset here is that of the first stretch.
  const std::int32_t first = source.lookup(cctz_time(-std::int64_t{10'000} * 365 * seconds_per_day)).offset;
  made->add(earliest, first);
  const auto changes = changes_of(source, first);
  for (const change& c : changes) made->add(c.at, c.offset);
  constexpr std::int64_t far = days_of(2300, 1, 1) * seconds_per_day;  // beyond what any database lists one by one
  if (!changes.empty() && changes.back().at > far) {
    // The last 400 years that lie wholly under the rule for the future; the first change after them is that of their beginning.
    made->cycle_end = days_of(civil_of(changes.back().at).year + 1, 1, 1) * seconds_per_day;
    made->cycle_begin = made->cycle_end - seconds_per_400_years;
    const auto again = std::ranges::find_if(changes, [&](const change& c) { return c.at >= made->cycle_begin; });
    made->add(again->at + seconds_per_400_years, again->offset);
  }
  made->finish();
  in_use[name] = made;
  return made;
}

result<zone> zone::load(const std::string& name, std::span<const std::string> known) {
  const auto refuse = [&](const std::string& why) {
    std::string message = "unknown time zone " + in_quotes(name) + ": " + why;
    if (const std::string advice = zone_name_advice(name, known); !advice.empty()) message += "; " + advice;
    return error{std::move(message)};
  };
  if (const auto fault = zone_name_fault(name)) return refuse("the name " + *fault);
  cctz::time_zone source;
  if (!cctz::load_time_zone(name, &source)) {
    return refuse(known.empty() ? "not in the installed time zone database (letter case counts; is tzdata installed?)"
                                : "not in the installed time zone database");
  }
  return zone(rules::of(name, source));
}

zone zone::utc() {
  auto loaded = load("UTC");
  LOOPTASK_ASSERT(static_cast<bool>(loaded), "UTC needs no database");
  return std::move(loaded).value();
}

const std::string& zone::name() const noexcept { return rules_->name; }
std::int32_t zone::least_offset() const noexcept { return rules_->least_offset; }
std::int32_t zone::greatest_offset() const noexcept { return rules_->greatest_offset; }

zone::stretch zone::stretch_at(std::int64_t when) const noexcept {
  const rules& r = *rules_;
  std::int64_t shift = 0;
  if (when >= r.cycle_end) {
    shift = (when - r.cycle_begin) / seconds_per_400_years * seconds_per_400_years;
    when -= shift;
  }
  const std::size_t i = r.find(when);
  return {r.entries[i].begin + shift, r.entries[i + 1].begin + shift, r.entries[i].passed + shift, r.entries[i].offset};
}

civil zone::to_civil(std::chrono::sys_seconds when) const noexcept {
  const std::int64_t t = when.time_since_epoch().count();
  return civil_of(t + stretch_at(t).offset);
}

zone::lookup zone::resolve(const civil& when) const noexcept {
  LOOPTASK_ASSERT(when.month >= 1 && when.month <= 12 && when.day >= 1 && when.day <= days_in_month(when.year, when.month) &&
                      when.hour >= 0 && when.hour < 24 && when.minute >= 0 && when.minute < 60 && when.second >= 0 &&
                      when.second < 60,
                  "zone::resolve: no valid date and time of day");
  const auto at = [](std::int64_t t) { return std::chrono::sys_seconds(std::chrono::seconds(t)); };
  const std::int64_t wall = wall_of(when);
  std::int64_t jump = latest;
  std::optional<std::int64_t> first;
  // Every instant that can show `wall` lies between these bounds.
  stretch s = stretch_at(wall - greatest_offset());
  for (;;) {
    if (wall < s.begin + s.offset && wall >= s.passed && jump == latest) jump = s.begin;
    if (wall >= s.begin + s.offset && wall < s.end + s.offset) {
      if (first) return {showing::repeated, at(*first), at(wall - s.offset)};
      first = wall - s.offset;
    }
    if (s.end > wall - least_offset()) break;
    s = stretch_at(s.end);
  }
  if (first) return {showing::once, at(*first), at(*first)};
  return {showing::missing, at(jump), at(jump)};
}

std::optional<zone::transition> zone::next_transition(std::chrono::sys_seconds when) const noexcept {
  const stretch before = stretch_at(when.time_since_epoch().count());
  if (before.end >= latest) return std::nullopt;
  const stretch after = stretch_at(before.end);
  return transition{std::chrono::sys_seconds(std::chrono::seconds(before.end)), civil_of(before.end + before.offset),
                    civil_of(before.end + after.offset)};
}

}  // namespace looptask::schedule
