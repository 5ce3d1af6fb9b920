#include <algorithm>
#include <chrono>

#include "schedule/cron.hpp"

namespace looptask::schedule {

namespace {

constexpr instant at(std::int64_t when) { return instant(std::chrono::seconds(when)); }

// Remembers the last search: walls from `from_` on do not match before `match_`. Stretches of a zone follow one another on the
// wall but for the hours around a change, so that one search serves many of them.
class match_search {
 public:
  explicit match_search(const cron_fields& fields) : fields_(fields) {}
  std::int64_t first_from(std::int64_t wall) noexcept {
    if (wall < from_ || wall > match_) {
      from_ = wall;
      match_ = fields_.first_match(wall);
    }
    return match_;
  }
  std::int64_t from() const noexcept { return from_; }

 private:
  const cron_fields& fields_;
  std::int64_t from_ = zone::latest, match_ = zone::earliest;
};

// The stretches of the zone one after another; in each of them the wall clock runs without a break, so the first match is plain
// arithmetic. A wildcard job fires at every showing. A fixed time fires at its first showing (wall times below `passed` are
// over), and if the clock jumps over it, at the first instant after the jump.
std::optional<std::int64_t> next_second(const cron_fields& fields, std::int64_t from, const zone& where) noexcept {
  const bool fixed = !fields.wildcard();
  match_search search(fields);
  for (;;) {
    const zone::stretch s = where.stretch_at(from);
    const std::int64_t begin_wall = s.begin + s.offset;
    if (fixed && from == s.begin && begin_wall > s.passed &&
        search.first_from(s.passed) < std::min(begin_wall, cron_fields::no_wall))
      return s.begin;

    std::int64_t wall = from + s.offset;
    if (fixed) wall = std::max(wall, s.passed);
    const std::int64_t match = search.first_from(wall);
    if (match < cron_fields::no_wall && match < s.end + s.offset) return match - s.offset;

    from = s.end;
    // All stretches that end before the match shows nowhere can be left out, unless the clock goes back behind what was
    // searched.
    if (from + where.least_offset() >= search.from()) from = std::max(from, match - where.greatest_offset());
    if (from + where.least_offset() >= cron_fields::no_wall) return std::nullopt;
  }
}

}  // namespace

std::optional<instant> cron_expression::next(instant after, const zone& where) const noexcept {
  switch (kind_) {
    case kind::reboot:
      return std::nullopt;
    case kind::every:
      if (after >= end_of_time - every_) return std::nullopt;
      return after + every_;
    case kind::fields:
      break;
  }
  if (after >= end_of_time + std::chrono::hours(48)) return std::nullopt;
  const std::int64_t second = std::chrono::floor<std::chrono::seconds>(after).time_since_epoch().count();
  const auto found = next_second(fields_, second + 1, where);
  if (!found) return std::nullopt;
  return at(*found);
}

dst_note cron_expression::note_of(instant fire, const zone& where) const noexcept {
  if (kind_ != kind::fields) return dst_note::none;
  const std::int64_t t = std::chrono::floor<std::chrono::seconds>(fire).time_since_epoch().count();
  const zone::stretch s = where.stretch_at(t);
  const std::int64_t wall = t + s.offset;
  if (!is_wildcard() && t == s.begin && wall > s.passed && fields_.first_match(s.passed) < wall) {
    return fields_.matches(wall) ? dst_note::merged : dst_note::moved;
  }
  if (wall < s.passed) return dst_note::second_showing;
  if (s.end < zone::latest) {
    const zone::stretch following = where.stretch_at(s.end);
    if (wall >= following.begin + following.offset) return dst_note::first_showing;
  }
  return dst_note::none;
}

std::optional<microseconds> cron_expression::every() const noexcept {
  if (kind_ != kind::every) return std::nullopt;
  return every_;
}

bool cron_expression::operator==(const cron_expression& other) const noexcept {
  return kind_ == other.kind_ && every_ == other.every_ && (kind_ != kind::fields || fields_ == other.fields_);
}

}  // namespace looptask::schedule
