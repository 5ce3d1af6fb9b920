#include "cli/next_batch.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "source_tree.hpp"

namespace looptask::cli {
namespace {

std::string answer(std::string_view line) { return batch_answerer({"Europe/Berlin", "UTC"}).answer(line); }

TEST(next_batch, answers_a_line_in_the_agreed_form) {
  EXPECT_EQ(answer(R"({"id":"a","expr":"30 2 * * *","tz":"Europe/Berlin","start":"2026-03-28T12:00:00Z","n":2})"),
            R"({"id":"a","next":["2026-03-29T01:00:00Z","2026-03-30T00:30:00Z"],"warnings":["dst-gap","dst-fold"]})");
}

TEST(next_batch, takes_five_fires_in_utc_where_nothing_else_is_said) {
  EXPECT_EQ(answer(R"({"id":7,"expr":"@daily","start":"2026-01-01T00:00:00Z"})"),
            R"({"id":7,"next":["2026-01-02T00:00:00Z","2026-01-03T00:00:00Z","2026-01-04T00:00:00Z","2026-01-05T00:00:00Z",)"
            R"("2026-01-06T00:00:00Z"]})");
}

TEST(next_batch, keeps_milliseconds_of_every_only) {
  EXPECT_EQ(answer(R"({"id":1,"expr":"@every 1m30s","start":"2026-01-01T00:00:00.2509Z","n":2})"),
            R"({"id":1,"next":["2026-01-01T00:01:30.250Z","2026-01-01T00:03:00.250Z"]})");
  EXPECT_EQ(answer(R"({"id":1,"expr":"* * * * *","start":"2026-01-01T00:00:00.25Z","n":1})"),
            R"({"id":1,"next":["2026-01-01T00:01:00Z"]})");
}

TEST(next_batch, gives_fewer_where_an_expression_ends) {
  EXPECT_EQ(answer(R"({"id":1,"expr":"0 0 0 1 1 * 2027","start":"2026-01-01T00:00:00Z"})"),
            R"({"id":1,"next":["2027-01-01T00:00:00Z"]})");
  EXPECT_EQ(answer(R"({"id":1,"expr":"0 0 30 2 *","start":"2026-01-01T00:00:00Z"})"),
            R"({"id":1,"next":[],"warnings":["never"]})");
  EXPECT_EQ(answer(R"({"id":1,"expr":"@reboot","start":"2026-01-01T00:00:00Z"})"),
            R"({"id":1,"next":[],"warnings":["no-times"]})");
  EXPECT_EQ(answer(R"({"id":1,"expr":"@daily","start":"2026-01-01T00:00:00Z","n":0})"), R"({"id":1,"next":[]})");
}

TEST(next_batch, says_what_is_wrong_with_a_line) {
  const std::pair<const char*, const char*> table[] = {
      {"", R"({"id":null,"error":"the line is no JSON"})"},
      {"{\"id\":1", R"({"id":null,"error":"the line is no JSON"})"},
      {"\xff", R"({"id":null,"error":"the line is no JSON"})"},
      {"[1]", R"({"id":null,"error":"the line is no JSON object"})"},
      {"{}", R"({"id":null,"error":"\"expr\" is missing"})"},
      {R"({"id":[1],"expr":"@daily"})", R"({"id":null,"error":"\"id\" must be a string, a number, true, false or null"})"},
      {R"({"id":1,"expr":5,"start":"2026-01-01T00:00:00Z"})", R"({"id":1,"error":"\"expr\" must be a string"})"},
      {R"({"id":1,"expr":"@daily"})", R"({"id":1,"error":"\"start\" is missing"})"},
      {R"({"id":1,"expr":"@daily","start":"soon"})",
       R"({"id":1,"error":"\"start\": \"soon\" is no instant; write RFC 3339 with Z or an offset, as 2026-03-29T01:00:00Z"})"},
      {R"({"id":1,"expr":"@daily","start":"2026-01-01T00:00:00Z","n":-1})",
       R"({"id":1,"error":"\"n\" must be from 0 to 100000"})"},
      {R"({"id":1,"expr":"@daily","start":"2026-01-01T00:00:00Z","n":18446744073709551615})",
       R"({"id":1,"error":"\"n\" must be from 0 to 100000"})"},
      {R"({"id":1,"expr":"@daily","start":"2026-01-01T00:00:00Z","n":1.5})",
       R"({"id":1,"error":"\"n\" must be a whole number"})"},
      {R"({"id":"x","expr":"61 * * * *","start":"2026-01-01T00:00:00Z"})",
       R"({"id":"x","error":"\"expr\": column 1, minute \"61\": above 59; minutes are 0-59"})"},
      {R"({"id":"x","expr":"@daily","tz":"europe/berlin","start":"2026-01-01T00:00:00Z"})",
       R"({"id":"x","error":"\"tz\": unknown time zone \"europe/berlin\": not in the installed time zone database; did you mean )"
       R"(\"Europe/Berlin\"?"})"}};
  for (const auto& [line, expected] : table) EXPECT_EQ(answer(line), expected) << line;
}

TEST(next_batch, survives_lines_made_to_break_it) {
  for (const std::string& line : {std::string(1'000'000, '['), R"({"id":)" + std::string(1'000'000, '['),
                                  R"({"id":1,"expr":")" + std::string(1'000'000, '*') + R"(","start":"2026-01-01T00:00:00Z"})",
                                  std::string(R"({"id":1,"expr":"\u0000\n","start":"2026-01-01T00:00:00Z"})")}) {
    const std::string said = answer(line);
    EXPECT_NE(said.find("\"error\":"), std::string::npos);
    EXPECT_LT(said.size(), 500U);
    EXPECT_FALSE(nlohmann::json::parse(said, nullptr, false).is_discarded()) << said;
  }
  std::string deep = R"({"expr":"@daily","start":"2026-01-01T00:00:00Z","n":1,"id":)";
  deep += std::string(500'000, '[') + std::string(500'000, ']') + '}';
  EXPECT_EQ(answer(deep), R"({"id":null,"error":"\"id\" must be a string, a number, true, false or null"})");
}

TEST(next_batch, one_answerer_serves_many_lines_in_many_zones) {
  batch_answerer batch({});
  std::ifstream corpus(tests::source_dir() + "/tests/corpus/cron/next.jsonl");
  std::size_t lines = 0;
  for (std::string line; std::getline(corpus, line); ++lines) {
    const auto asked = nlohmann::json::parse(line);
    const auto said = nlohmann::json::parse(batch.answer(line));
    ASSERT_EQ(said["id"], asked["id"]);
    ASSERT_EQ(said["next"], asked["next"]) << line;
    batch.answer(R"({"expr":"@daily","tz":"no/zone)" + std::to_string(lines * 2) + R"(","start":"2026-01-01T00:00:00Z"})");
  }
  EXPECT_EQ(lines, 1'911U);
}

}  // namespace
}  // namespace looptask::cli
