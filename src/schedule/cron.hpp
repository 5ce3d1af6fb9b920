#pragma once
// Cron expressions of five, six and seven fields and the macros, as docs/cron.md defines them. Parsed values are immutable,
// may be shared by threads, and next() allocates nothing.
//
//   auto weekdays = cron_expression::parse("30 9 * * MON-FRI");   // error: "column 5, hour \"25\": ..."
//   auto berlin = zone::load("Europe/Berlin");
//   instant from = ...;
//   for (auto at = weekdays.value().next(from, berlin.value()); at; at = weekdays.value().next(*at, berlin.value())) use(*at);
//   weekdays.value().to_string() == "30 9 * * 1-5"
#include <optional>
#include <string>
#include <string_view>

#include <looptask/result.hpp>
#include <looptask/time.hpp>

#include "schedule/cron_fields.hpp"
#include "schedule/zone.hpp"

namespace looptask::schedule {

// What a change of the clock had to do with one fire time.
enum class dst_note : std::uint8_t {
  none,
  moved,           // fixed time: it stands for missing times, at the first instant after the jump
  merged,          // fixed time: the same, and the expression matches this instant anyway
  first_showing,   // the wall time of this fire comes again; a fixed time fires now only
  second_showing,  // wildcard: this is the second time the wall shows it
};

class cron_expression {
 public:
  // Errors name column, field, the offending text and what would be right. Bounded time and memory for any input.
  static result<cron_expression> parse(std::string_view text);

  // The smallest fire time strictly later than `after`; nullopt: never again (or not before the year 10000). Bounded search.
  // For `@every` the instants are after + interval (so a chain of calls is start + k * interval, microseconds kept);
  // `@reboot` has none.
  std::optional<instant> next(instant after, const zone& where) const noexcept;

  // The fire times t with after < t <= upto, counted by whole months: a year of a job that fires each second costs no more than
  // that of a yearly one. For `@every` as next() chained from `after`.
  struct fire_span {
    std::uint64_t count = 0;
    instant first{}, last{};  // valid if count > 0
    instant before_last{};    // valid if count > 1: the fire time before `last`
  };
  fire_span fires_between(instant after, instant upto, const zone& where) const noexcept;

  // Why `fire`, one of the instants next() gives for `where`, is what it is.
  dst_note note_of(instant fire, const zone& where) const noexcept;

  // Canonical text: parse(to_string()) is the same expression.
  std::string to_string() const;
  bool operator==(const cron_expression& other) const noexcept;

  bool is_wildcard() const noexcept { return kind_ == kind::fields && fields_.wildcard(); }  // minute or hour begins with `*`
  bool is_reboot() const noexcept { return kind_ == kind::reboot; }
  std::optional<microseconds> every() const noexcept;  // of "@every"
  const cron_fields* fields() const noexcept { return kind_ == kind::fields ? &fields_ : nullptr; }

  // How the text was written, where that hints at a misunderstanding. No part of the meaning, nor of ==.
  struct spelling {
    bool wrapped = false;           // a range runs over the end of its field
    bool stepped_day_star = false;  // a day field begins with `*/n`
    bool step_too_big = false;      // a step leaves the first value only
    bool uneven_step = false;       // `*/n` of a field whose length n does not divide
    bool many_fields = false;       // six or seven: the first is seconds
  };
  const spelling& written() const noexcept { return written_; }

 private:
  static constexpr instant end_of_time{std::chrono::seconds(cron_fields::no_wall)};  // the year 10000
  enum class kind : std::uint8_t { fields, every, reboot };
  friend class cron_parser;
  cron_expression() = default;

  kind kind_ = kind::fields;
  spelling written_;
  microseconds every_{0};
  cron_fields fields_;
};

}  // namespace looptask::schedule
