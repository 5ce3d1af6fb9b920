#include "schedule/cron.hpp"

#include "schedule/corpus.hpp"

namespace looptask::schedule {
namespace {

std::string fault(std::string_view text) {
  const auto parsed = cron_expression::parse(text);
  EXPECT_FALSE(static_cast<bool>(parsed)) << text;
  return parsed ? "" : parsed.message();
}

TEST(cron_errors, name_column_field_text_and_what_would_be_right) {
  EXPECT_EQ(fault("61 * * * *"), "column 1, minute \"61\": above 59; minutes are 0-59");
  EXPECT_EQ(fault("0 25 * * *"), "column 3, hour \"25\": above 23; hours are 0-23");
  EXPECT_EQ(fault("  0 3 * FOO *"), "column 9, month \"FOO\": no such name; months are 1-12 or JAN-DEC");
  EXPECT_EQ(fault("*/0 * * * *"), "column 3, minute \"0\": the step after / is at least 1; minutes are 0-59");
  EXPECT_EQ(fault("0 0 1-L * *"),
            "column 7, day of month \"L\": L and W belong to the day fields; days of the month are 1-31, L, L-n, nW, LW");
  EXPECT_EQ(fault("* * * *"),
            "column 1, \"* * * *\": 4 fields; a cron expression has 5 (minute hour day-of-month month day-of-week), 6 (second "
            "first) or 7 (year last)");
  EXPECT_EQ(fault("1, 2 * * * *"),
            "column 1, \"1, 2 * * * *\": a blank after a comma splits a field in two; write lists without blanks, as in 0,30");
  EXPECT_EQ(
      fault("@hourlyy"),
      "column 1, \"@hourlyy\": no such macro; there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, "
      "@reboot and @every 1h30m, in lower case");
  EXPECT_EQ(
      fault("@every 5"),
      "column 8, \"5\": the unit is missing; write hours, minutes and seconds, as in @every 1h30m, at least 1s and at most "
      "1000000h");
  EXPECT_EQ(
      fault("0 0 * * MONDAY"),
      "column 9, day of week \"MONDAY\": names have three letters, write MON; days of the week are 0-7 (0 and 7 are Sunday) "
      "or SUN-SAT, 5L or FRIL, 5#2 or FRI#2");
  EXPECT_EQ(fault(""), "an empty cron expression; write minute hour day-of-month month day-of-week, as in 0 3 * * *");
  EXPECT_EQ(fault("a\nb * * * *"), "column 1, minute \"a\\nb\": not a number; minutes are 0-59");
}

// Choices of docs/cron.md beyond the corpus.
TEST(cron_errors, refuse_what_other_programs_read_in_different_ways) {
  for (const char* text : {"0 0 * * MONDAY",
                           "0 0 1 JANUARY *",
                           "0 0 * * L",
                           "0 0 L-3W * *",
                           "0 0 * * 1-5L",
                           "0 0 * * 1-5#2",
                           "CRON_TZ=UTC 0 0 * * *",
                           "TZ=UTC 0 0 * * *",
                           "H * * * *",
                           "0~5 * * * *",
                           "+5 * * * *",
                           "5% * * * *",
                           "0 0 * * * # nightly",
                           "@DAILY",
                           "@Every 5m",
                           "0\xc2\xa0"
                           "0 * * *",
                           "0 0 * * *\n",
                           "0 0 L-0 * *",
                           "0 0 L-31 * *",
                           "0 0 0W * *",
                           "0 0 32W * *",
                           "0 0 * * 5#0",
                           "0 0 * * 5#6",
                           "0 0 0 1 1 * 10000",
                           "0 0 0 1 1 * 2030-2020",
                           "@every 1m1h",
                           "@every 1h1h",
                           "@every 1.5h",
                           "@every 100ms",
                           "@every 1000001h",
                           "@every 99999999999999999999h"}) {
    EXPECT_NE(fault(text), "") << text;
  }
}

TEST(cron_errors, say_what_to_write_instead_of_what_other_programs_know) {
  const std::pair<const char*, const char*> table[] = {
      {"0 0 * * MONDAY", "write MON"},
      {"0 0 * * L", "as in 5L"},
      {"0 0 * * 1-5L", "column 9, day of week \"1-5L\": L takes one day of the week; write a list, as in 1L,2L,3L"},
      {"0 0 * * MON-FRIL", "write a list, as in 1L,2L,3L"},
      {"0 0 * * 1-5#2", "column 9, day of week \"1-5#2\": # takes one day of the week; write a list, as in 1#2,2#2,3#2"},
      {"CRON_TZ=UTC 0 0 * * *",
       "column 1, \"CRON_TZ=UTC\": an expression holds no zone; name it beside the expression, as timezone of the job or with "
       "--tz"},
      {"TZ=Europe/Berlin @daily", "an expression holds no zone"},
      {"H * * * *", "column 1, minute \"H\": H (a time made from the job's name) is not known here; write one time"},
      {"H/15 * * * *", "H (a time made from the job's name)"},
      {"H(0-7) * * * *", "H (a time made from the job's name)"},
      {"0~5 * * * *",
       "column 1, minute \"0~5\": ~ (a time left to chance) is not known here; write one time, or a range with -"},
      {"+5 * * * *", "column 1, minute \"+5\": a sign in front of a number; leave it out"},
      {"0 0 * * * # nightly", "column 11, \"# nightly\": an expression holds no comment; leave it out"},
      {"0 0 * * * #nightly at last", "an expression holds no comment; leave it out"},
      {"5% * * * *", "% has no meaning in an expression; leave it out"},
      {"@DAILY", "in lower case"}};
  for (const auto& [text, advice] : table) EXPECT_NE(fault(text).find(advice), std::string::npos) << fault(text);
}

TEST(cron_errors, bombs_are_refused_or_read_in_bounded_time) {
  std::string list = "0";
  while (list.size() < 1'000'000) list += ",0";
  EXPECT_NE(fault(list + " * * * *").find("at most 8000"), std::string::npos);
  EXPECT_NE(fault(list.substr(0, 2'001) + " * * * *").find("too long"), std::string::npos);
  EXPECT_NE(fault(std::string(1'000'000, '*')), "");
  EXPECT_NE(fault(std::string(1'000'000, '@')), "");
  EXPECT_NE(fault("18446744073709551616 * * * *"), "");
  EXPECT_NE(fault(std::string(1'000, '9').append(" * * * *")), "");
  // A step may be as large as one likes: it leaves the first value.
  EXPECT_TRUE(cron("*/" + std::string(100, '9') + " * * * *") == cron("*/60 * * * *"));
}

TEST(cron_errors, the_longest_list_that_is_read_prints_as_text_that_is_read) {
  std::string years = "1970/7";
  for (int step = 8; years.size() < 1'990; ++step) years += ",1971/" + std::to_string(step);
  const auto first =
      cron("0-59/3 1-59/2 0-23/2 1W,3W,5W,7W,9W,11W,L-1,L-3,L-5,L-7 * 0#1,1#2,2#3,3#4 " + years.substr(0, 1'990 - 1));
  EXPECT_TRUE(cron(first.to_string()) == first);
}

TEST(cron_text, is_canonical) {
  const std::pair<const char*, const char*> table[] = {{"*/5 * * * *", "*/5 * * * *"},
                                                       {"00 03 * * MON-fri", "0 3 * * 1-5"},
                                                       {"0,15,30,45 * * * *", "0,15,30,45 * * * *"},
                                                       {"*/15,7 0-23 ? JAN,FEB,MAR ?", "*/15,7 0-23 * 1-3 *"},
                                                       {"0 0 1-31 * 0-6", "0 0 1-31 * 0-6"},
                                                       {"0 22-2 L,lw,15w,L-3 * 5l,1#2", "0 0-2,22-23 15W,L,L-3,LW * 1#2,5L"},
                                                       {"0 30 9 * * *", "30 9 * * *"},
                                                       {"* 30 9 * * *", "* 30 9 * * *"},
                                                       {"0 0 0 1 1 * 2030-2040/5,2077", "0 0 0 1 1 * 2030-2040/5,2077"},
                                                       {"0 0 0 1 1 * *", "0 0 1 1 *"},
                                                       {"@weekly", "0 0 * * 0"},
                                                       {"@every 90m", "@every 1h30m"},
                                                       {"@every 86400s", "@every 24h"},
                                                       {"@reboot", "@reboot"}};
  for (const auto& [text, canonical] : table) EXPECT_EQ(cron(text).to_string(), canonical) << text;
}

TEST(cron_text, expressions_of_different_meaning_are_not_equal) {
  const std::pair<const char*, const char*> table[] = {{"0 0 * * *", "0 1 * * *"},
                                                       {"* 0 * * *", "0-59 0 * * *"},
                                                       {"0 0 * * *", "0 0 1-31 * *"},
                                                       {"0 0 1 * *", "0 0 2 * *"},
                                                       {"0 0 L * *", "0 0 LW * *"},
                                                       {"0 0 1W * *", "0 0 2W * *"},
                                                       {"0 0 * * 1", "0 0 * * 1L"},
                                                       {"0 0 * * 1#1", "0 0 * * 1#2"},
                                                       {"0 0 1 1 *", "0 0 0 1 1 * 2030"},
                                                       {"0 0 * 1 *", "0 0 * 2 *"},
                                                       {"0 0 0 1 1 * 2030", "0 0 0 1 1 * 2031"},
                                                       {"@every 1h", "@every 2h"},
                                                       {"@every 1h", "0 * * * *"},
                                                       {"@reboot", "@every 1h"},
                                                       {"30 0 0 * * *", "0 0 * * *"}};
  for (const auto& [a, b] : table) EXPECT_FALSE(cron(a) == cron(b)) << a << " and " << b;
}

TEST(cron_next, choices_beyond_the_corpus) {
  // a/n of a weekday runs to Saturday; a wrapped range of days steps on over the 31st.
  EXPECT_TRUE(cron("0 0 * * 1/2") == cron("0 0 * * 1,3,5"));
  EXPECT_TRUE(cron("0 0 * * 7/3") == cron("0 0 * * 0,3,6"));
  EXPECT_TRUE(cron("0 0 25-5/3 * *") == cron("0 0 25,28,31,3 * *"));
}

TEST(cron_next, finds_out_what_never_fires) {
  for (const char* text : {"0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 0 29 2 * 2100", "0 0 0 1 1 * 1999", "0 0 L-30 2 *",
                           "0 0 0 31 2,4,6,9,11 * 1970-9999/3", "0 0 31W 4 *", "* * * 30 2 *"}) {
    EXPECT_EQ(cron(text).next(at("2026-01-01T00:00:00Z"), zone_named("America/New_York")), std::nullopt) << text;
  }
}

TEST(cron_next, goes_from_1970_to_the_end_of_the_year_9999) {
  const cron_expression yearly = cron("@yearly");
  EXPECT_EQ(fires(yearly, zone::utc(), at("0000-01-01T00:00:00Z"), 1), std::vector<std::string>{"1970-01-01T00:00:00Z"});
  EXPECT_EQ(fires(yearly, zone::utc(), instant::min(), 1), std::vector<std::string>{"1970-01-01T00:00:00Z"});
  EXPECT_EQ(fires(yearly, zone_named("Asia/Tokyo"), at("9998-06-01T00:00:00Z"), 5),
            std::vector<std::string>{"9998-12-31T15:00:00Z"});
  EXPECT_EQ(cron("* * * * * *").next(instant::max(), zone_named("America/New_York")), std::nullopt);
  EXPECT_EQ(cron("@every 1s").next(instant::max(), zone::utc()), std::nullopt);
  EXPECT_EQ(cron("* * * * * *").fires_between(instant::min(), instant::max(), zone::utc()).count, 253'402'300'800U);
}

TEST(cron_next, counts_a_century_of_seconds_as_fast_as_a_day) {
  const auto span = cron("* * * * * *").fires_between(at("2000-01-01T00:00:00Z"), at("2100-01-01T00:00:00Z"), zone::utc());
  EXPECT_EQ(span.count, 3'155'760'000U);
  EXPECT_EQ(span.last, at("2100-01-01T00:00:00Z"));
  EXPECT_EQ(span.before_last, at("2099-12-31T23:59:59Z"));
  const auto every = cron("@every 10s").fires_between(at("2000-01-01T00:00:00.5Z"), at("2000-01-01T00:01:00.4Z"), zone::utc());
  EXPECT_EQ(every.count, 5U);
  EXPECT_EQ(every.last, at("2000-01-01T00:00:50.5Z"));
  EXPECT_EQ(every.before_last, at("2000-01-01T00:00:40.5Z"));
  EXPECT_EQ(cron("@reboot").fires_between(instant::min(), instant::max(), zone::utc()).count, 0U);
}

TEST(cron_note, tells_what_a_change_of_the_clock_did_to_a_fire_time) {
  const zone berlin = zone_named("Europe/Berlin");
  const auto note = [&](const char* text, const char* fire) {
    const cron_expression e = cron(text);
    EXPECT_EQ(e.next(at(fire) - microseconds(1), berlin), at(fire)) << text;
    return e.note_of(at(fire), berlin);
  };
  EXPECT_EQ(note("30 2 * * *", "2026-03-28T01:30:00Z"), dst_note::none);
  EXPECT_EQ(note("30 2 * * *", "2026-03-29T01:00:00Z"), dst_note::moved);
  EXPECT_EQ(note("0,30 2-3 * * *", "2026-03-29T01:00:00Z"), dst_note::merged);
  EXPECT_EQ(note("0 3 * * *", "2026-03-29T01:00:00Z"), dst_note::none);
  EXPECT_EQ(note("0 * * * *", "2026-03-29T01:00:00Z"), dst_note::none);
  EXPECT_EQ(note("30 2 * * *", "2026-10-25T00:30:00Z"), dst_note::first_showing);
  EXPECT_EQ(note("*/30 2 * * *", "2026-10-25T00:30:00Z"), dst_note::first_showing);
  EXPECT_EQ(note("*/30 2 * * *", "2026-10-25T01:00:00Z"), dst_note::second_showing);
  EXPECT_EQ(note("0 3 * * *", "2026-10-25T02:00:00Z"), dst_note::none);
  EXPECT_EQ(cron("@every 1h").note_of(at("2026-03-29T01:00:00Z"), berlin), dst_note::none);
}

}  // namespace
}  // namespace looptask::schedule
