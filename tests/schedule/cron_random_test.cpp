// Random expressions against a second implementation, and properties that hold for all of them.
#include <rapidcheck.h>

#include "schedule/corpus.hpp"
#include "schedule/cron_oracle.hpp"
#include "schedule/random_cron.hpp"

namespace looptask::schedule {
namespace {

constexpr const char* zones[] = {"UTC",
                                 "America/New_York",
                                 "Europe/Berlin",
                                 "Australia/Lord_Howe",
                                 "Pacific/Apia",
                                 "Africa/Monrovia",
                                 "America/St_Johns",
                                 "Asia/Kolkata",
                                 "Antarctica/Troll",
                                 "America/Sao_Paulo",
                                 "Africa/Cairo",
                                 "Asia/Pyongyang",
                                 "America/Caracas",
                                 "Pacific/Kwajalein",
                                 "Africa/Casablanca",
                                 "Asia/Tehran",
                                 "America/Havana",
                                 "Europe/Dublin"};

constexpr instant second(std::int64_t t) { return instant(std::chrono::seconds(t)); }

// Mostly a little before a change of the zone's clock, from 1970 to 2460.
std::int64_t random_start(random_numbers& r, const zone& where) {
  const std::int64_t t = r.between(0, r.one_in(3) ? 15'000'000'000 : 2'000'000'000);
  const auto change = where.next_transition(std::chrono::sys_seconds(std::chrono::seconds(t)));
  if (!change || r.one_in(4)) return t;
  return change->at.time_since_epoch().count() - r.between(-3'000, 8'000);
}

void compare(const std::string& text, const char* zone_name, std::int64_t from, std::int64_t to, std::uint64_t seed) {
  const cron_expression expression = cron(text);
  const zone where = zone_named(zone_name);
  const auto expected = cron_oracle(text).fires(zone_name, from, to);
  std::vector<std::int64_t> found;
  for (auto next = expression.next(second(from), where); next && *next <= second(to); next = expression.next(*next, where)) {
    found.push_back(next->time_since_epoch().count() / 1'000'000);
  }
  const std::string context = "seed " + std::to_string(seed) + ": " + text + " in " + zone_name + " from " +
                              instant_text(second(from), fraction::none) + " to " + instant_text(second(to), fraction::none);
  ASSERT_EQ(found, std::vector<std::int64_t>(expected.begin(), expected.end())) << context;

  const auto span = expression.fires_between(second(from), second(to), where);
  ASSERT_EQ(span.count, found.size()) << context;
  if (!found.empty()) {
    ASSERT_EQ(span.first, second(found.front())) << context;
    ASSERT_EQ(span.last, second(found.back())) << context;
  }
  if (found.size() > 1) {
    ASSERT_EQ(span.before_last, second(found[found.size() - 2])) << context;
  }
}

TEST(cron_random, agrees_with_a_walk_through_time_around_changes_of_the_clock) {
  for (std::uint64_t seed = 1; seed <= 10'000 && !HasFatalFailure(); ++seed) {
    random_numbers r(seed);
    const std::string text = random_cron(r).expression();
    const char* zone_name = zones[r.between(0, std::size(zones) - 1)];
    const std::int64_t from = random_start(r, zone_named(zone_name));
    compare(text, zone_name, from, from + r.between(1, 12'000), seed);
  }
}

TEST(cron_random, agrees_with_a_list_of_dates_over_years) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; compared < 500 && !HasFatalFailure(); ++seed) {
    random_numbers r(seed);
    const std::string text = random_cron(r).expression();
    const char* zone_name = zones[r.between(0, std::size(zones) - 1)];
    const cron_expression expression = cron(text);
    const zone where = zone_named(zone_name);
    const std::int64_t from = random_start(r, where), to = from + r.between(86'400, 9 * 366 * 86'400);
    if (expression.is_wildcard() || expression.fires_between(second(from), second(to), where).count > 20'000) continue;
    compare(text, zone_name, from, to, seed);
    ++compared;
  }
}

TEST(cron_random, fire_times_only_move_forward_and_do_not_depend_on_where_one_asks) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    random_numbers r(seed);
    const cron_expression expression = cron(random_cron(r).expression());
    const zone where = zone_named(zones[r.between(0, std::size(zones) - 1)]);
    instant from = second(random_start(r, where)) + microseconds(r.between(0, 999'999));
    for (int i = 0; i < 20; ++i) {
      const auto next = expression.next(from, where);
      if (!next) break;
      RC_ASSERT(*next > from);
      const microseconds between{r.between(0, (*next - from).count() - 1)};
      RC_ASSERT(expression.next(from + between, where) == next);
      from = *next;
    }
  }));
}

TEST(cron_random, printing_and_reading_back_changes_nothing) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    random_numbers r(seed);
    const cron_expression first = cron(random_cron(r).expression());
    const std::string text = first.to_string();
    const cron_expression second_reading = cron(text);
    RC_ASSERT(second_reading == first);
    RC_ASSERT(second_reading.to_string() == text);
  }));
}

TEST(cron_random, any_bytes_are_read_or_refused_with_one_line) {
  EXPECT_TRUE(rc::check([](const std::string& bytes, std::uint64_t seed) {
    // Random bytes alone hardly get past the first field: also expressions with a few bytes changed.
    random_numbers r(seed);
    std::string text = random_cron(r).expression();
    for (int i = 0; i < 3 && !text.empty(); ++i) {
      constexpr std::string_view odd = "*-/,LW#? 0123456789@\t\n\xff";
      text[static_cast<std::size_t>(r.between(0, static_cast<std::int64_t>(text.size()) - 1))] =
          odd[static_cast<std::size_t>(r.between(0, odd.size() - 1))];
    }
    for (const std::string& candidate : {bytes, text}) {
      const auto parsed = cron_expression::parse(candidate);
      if (parsed) {
        RC_ASSERT(cron(parsed.value().to_string()) == parsed.value());
      } else {
        RC_ASSERT(!parsed.message().empty() && parsed.message().find('\n') == std::string::npos);
      }
    }
  }));
}

}  // namespace
}  // namespace looptask::schedule
