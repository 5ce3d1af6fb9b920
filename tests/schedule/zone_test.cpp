#include "schedule/zone.hpp"

#include <fstream>
#include <iterator>

#include <cctz/time_zone.h>

#include "schedule/corpus.hpp"
#include "schedule/random_cron.hpp"
#include "schedule/zone_names.hpp"

namespace looptask::schedule {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

std::vector<std::string> installed_zones() {
  std::ifstream in("/usr/share/zoneinfo/tzdata.zi");
  return zone_names_of(std::string(std::istreambuf_iterator<char>(in), {}));
}

sys_seconds sec(std::string_view text) { return std::chrono::floor<seconds>(at(text)); }

civil civil_of_cctz(const cctz::civil_second& c) { return {c.year(), c.month(), c.day(), c.hour(), c.minute(), c.second()}; }

TEST(civil, counts_days_and_seconds_in_both_directions) {
  for (std::int64_t days = -800'000; days <= 3'000'000; days += 13) {
    const civil_date d = date_of(days);
    ASSERT_EQ(days_of(d.year, d.month, d.day), days);
    const cctz::civil_day expected = cctz::civil_day(1970, 1, 1) + days;
    ASSERT_EQ(cctz::civil_day(d.year, d.month, d.day), expected);
    ASSERT_EQ(weekday_of(days), (static_cast<int>(cctz::get_weekday(expected)) + 1) % 7) << days;
    ASSERT_LE(d.day, days_in_month(d.year, d.month));
  }
  EXPECT_EQ(days_in_month(2000, 2), 29);
  EXPECT_EQ(days_in_month(2100, 2), 28);
  EXPECT_EQ(civil_of(-1), (civil{1969, 12, 31, 23, 59, 59}));
}

TEST(zone, every_zone_of_the_installed_database_agrees_with_cctz_up_to_the_year_9999) {
  const auto names = installed_zones();
  ASSERT_GT(names.size(), 500U);
  random_numbers r(1);
  for (const std::string& name : names) {
    const auto loaded = zone::load(name, names);
    ASSERT_TRUE(static_cast<bool>(loaded)) << loaded.message();
    const zone& ours = loaded.value();
    EXPECT_EQ(ours.name(), name);
    cctz::time_zone theirs;
    ASSERT_TRUE(cctz::load_time_zone(name, &theirs));
    const auto compare_at = [&](std::int64_t t) {
      const cctz::time_point<cctz::seconds> when{cctz::seconds(t)};
      ASSERT_EQ(ours.to_civil(sys_seconds(seconds(t))), civil_of_cctz(theirs.lookup(when).cs)) << name << " at " << t;
    };
    for (int i = 0; i < 100; ++i) {
      const std::int64_t t = r.between(-4'000'000'000, i % 2 == 0 ? 20'000'000'000 : 253'402'300'799);
      compare_at(t);
      // The next change of the clock, to the second, and what wall times around it mean.
      const auto change = ours.next_transition(sys_seconds(seconds(t)));
      if (!change) continue;
      const std::int64_t at = change->at.time_since_epoch().count();
      ASSERT_GT(at, t);
      compare_at(at - 1);
      compare_at(at);
      const civil wall = civil_of(wall_of(std::min(change->before, change->after)) + r.between(-10, 8'000));
      const auto found = ours.resolve(wall);
      const auto expected =
          theirs.lookup(cctz::civil_second(wall.year, wall.month, wall.day, wall.hour, wall.minute, wall.second));
      using kinds = cctz::time_zone::civil_lookup;
      ASSERT_EQ(found.kind == zone::showing::once, expected.kind == kinds::UNIQUE) << name << at;
      ASSERT_EQ(found.kind == zone::showing::missing, expected.kind == kinds::SKIPPED) << name << at;
      ASSERT_EQ(found.first.time_since_epoch(),
                (expected.kind == kinds::SKIPPED ? expected.trans : expected.pre).time_since_epoch());
      if (expected.kind == kinds::REPEATED) {
        ASSERT_EQ(found.second.time_since_epoch(), expected.post.time_since_epoch());
      }
    }
  }
}

TEST(zone, follows_the_rule_for_the_future_after_the_last_change_on_record) {
  const zone new_york = zone_named("America/New_York");
  EXPECT_EQ(new_york.to_civil(sec("2038-07-01T12:00:00Z")).hour, 8);
  EXPECT_EQ(new_york.to_civil(sec("2500-07-01T12:00:00Z")).hour, 8);
  EXPECT_EQ(new_york.to_civil(sec("9999-01-15T12:00:00Z")).hour, 7);
  EXPECT_EQ(new_york.next_transition(sec("9998-12-01T00:00:00Z"))->at, sec("9999-03-14T07:00:00Z"));
}

TEST(zone, says_what_a_wall_time_means) {
  const zone berlin = zone_named("Europe/Berlin");
  const auto once = berlin.resolve({2026, 7, 1, 12, 0, 0});
  EXPECT_EQ(once.kind, zone::showing::once);
  EXPECT_EQ(once.first, sec("2026-07-01T10:00:00Z"));
  const auto missing = berlin.resolve({2026, 3, 29, 2, 30, 0});
  EXPECT_EQ(missing.kind, zone::showing::missing);
  EXPECT_EQ(missing.first, sec("2026-03-29T01:00:00Z"));
  const auto repeated = berlin.resolve({2026, 10, 25, 2, 30, 0});
  EXPECT_EQ(repeated.kind, zone::showing::repeated);
  EXPECT_EQ(repeated.first, sec("2026-10-25T00:30:00Z"));
  EXPECT_EQ(repeated.second, sec("2026-10-25T01:30:00Z"));
  const auto skipped_day = zone_named("Pacific/Apia").resolve({2011, 12, 30, 12, 0, 0});
  EXPECT_EQ(skipped_day.kind, zone::showing::missing);
  EXPECT_EQ(skipped_day.first, sec("2011-12-30T10:00:00Z"));
}

TEST(zone, tells_the_next_change_of_the_clock) {
  const auto change = zone_named("Europe/Berlin").next_transition(sec("2026-03-29T00:59:59Z"));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->at, sec("2026-03-29T01:00:00Z"));
  EXPECT_EQ(change->before, (civil{2026, 3, 29, 2, 0, 0}));
  EXPECT_EQ(change->after, (civil{2026, 3, 29, 3, 0, 0}));
  EXPECT_FALSE(zone::utc().next_transition(sec("2026-03-29T00:59:59Z")));
  EXPECT_FALSE(zone_named("Asia/Kolkata").next_transition(sec("2026-03-29T00:59:59Z")));
}

TEST(zone, refuses_every_name_that_is_not_in_the_database) {
  for (const char* name : {"",
                           "utc",
                           "europe/berlin",
                           "UTC0",
                           "UTC+5",
                           "Fixed/UTC+05:00:00",
                           "localtime",
                           "Factory",
                           "posixrules",
                           "/etc/localtime",
                           "/usr/share/zoneinfo/UTC",
                           "../zoneinfo/UTC",
                           "Europe/../UTC",
                           "Europe/./Berlin",
                           "Europe//Berlin",
                           "Europe/Berlin/",
                           "Europe",
                           "posix/Europe/Berlin",
                           "right/Europe/Berlin",
                           "file:UTC",
                           "tzdata.zi",
                           "zone.tab",
                           "leapseconds",
                           " Europe/Berlin",
                           "Europe/Berlin\n",
                           "Mars/Olympus"}) {
    const auto loaded = zone::load(name);
    ASSERT_FALSE(static_cast<bool>(loaded)) << name;
    EXPECT_EQ(loaded.message().rfind("unknown time zone \"", 0), 0U) << loaded.message();
    EXPECT_EQ(loaded.message().find('\n'), std::string::npos) << loaded.message();
  }
  EXPECT_FALSE(static_cast<bool>(zone::load(std::string("Europe/Berlin\0x", 15))));
  EXPECT_FALSE(static_cast<bool>(zone::load(std::string(1'000'000, 'A'))));
}

TEST(zone, suggests_the_name_a_misspelt_one_meant) {
  const auto names = installed_zones();
  const std::pair<const char*, const char*> table[] = {{"Asia/Shangai", "Asia/Shanghai"},
                                                       {"europe/berlin", "Europe/Berlin"},
                                                       {"Berlin", "Europe/Berlin"},
                                                       {"new york", "America/New_York"},
                                                       {"utc", "UTC"},
                                                       {"Amercia/New_York", "America/New_York"},
                                                       {"Europe/Berlin ", "Europe/Berlin"},
                                                       {"America/New-York", "America/New_York"}};
  for (const auto& [typed, meant] : table) {
    const auto loaded = zone::load(typed, names);
    ASSERT_FALSE(static_cast<bool>(loaded)) << typed;
    EXPECT_NE(loaded.message().find(std::string("did you mean \"") + meant + "\"?"), std::string::npos) << loaded.message();
  }
  EXPECT_EQ(nearest_zone_name("qqqqqqqqqqqqqqq", names), std::nullopt);
}

TEST(zone, of_an_offset_names_the_zone_with_the_sign_turned) {
  const auto names = installed_zones();
  const std::pair<const char*, const char*> table[] = {
      {"UTC+5", "write \"Etc/GMT-5\" (5 hours east of UTC: these names turn the sign), or better the place"},
      {"UTC+8", "\"Etc/GMT-8\" (8 hours east"},
      {"GMT+8", "\"Etc/GMT-8\" (8 hours east"},
      {"utc-03:00", "\"Etc/GMT+3\" (3 hours west"},
      {"GMT-1", "\"Etc/GMT+1\" (1 hour west"},
      {"UTC+0530", "name the place, as in Asia/Kolkata"},
      {"UTC+05:30", "name the place, as in Asia/Kolkata"},
      {"UTC+15", "name the place"},
      {"UTC-0", "write \"UTC\""}};
  for (const auto& [typed, advice] : table) {
    const auto loaded = zone::load(typed, names);
    ASSERT_FALSE(static_cast<bool>(loaded)) << typed;
    EXPECT_NE(loaded.message().find(advice), std::string::npos) << loaded.message();
    EXPECT_EQ(loaded.message().find("did you mean"), std::string::npos) << loaded.message();
  }
}

TEST(zone, suggests_nothing_that_is_far_away) {
  const auto names = installed_zones();
  for (const char* typed : {"CST", "Foo", "BST", "qqqq", "xx"}) {
    const auto loaded = zone::load(typed, names);
    ASSERT_FALSE(static_cast<bool>(loaded)) << typed;
    EXPECT_EQ(loaded.message().find("did you mean"), std::string::npos) << loaded.message();
    EXPECT_NE(loaded.message().find("name the place, as in Europe/Berlin"), std::string::npos) << loaded.message();
  }
  EXPECT_EQ(nearest_zone_name("rome", names), "Europe/Rome") << "short, but whole";
}

TEST(zone, of_a_known_area_says_how_its_zones_are_named) {
  const auto names = installed_zones();
  const auto loaded = zone::load("Asia/Beijing", names);
  ASSERT_FALSE(static_cast<bool>(loaded));
  EXPECT_NE(loaded.message().find("zones are named Area/City, after the largest city of a region; the nearest of "),
            std::string::npos)
      << loaded.message();
  EXPECT_NE(loaded.message().find("ls /usr/share/zoneinfo/Asia"), std::string::npos) << loaded.message();
  EXPECT_EQ(zone::load("Mars/Olympus", names).message(),
            "unknown time zone \"Mars/Olympus\": not in the installed time zone database");
}

TEST(zone, names_come_from_zones_and_links_of_the_index) {
  EXPECT_EQ(zone_names_of("# version 2026f\nR d 1916 o - Jun 14 23s 1 S\nZ Europe/Berlin 0:53:28 - LMT 1893\n1 c CE%sT\n"
                          "L Europe/Berlin Europe/Oslo\nL x ../y\nZ"),
            (std::vector<std::string>{"Europe/Berlin", "Europe/Oslo"}));
}

}  // namespace
}  // namespace looptask::schedule
