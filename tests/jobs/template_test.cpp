#include "jobs/template.hpp"

#include <gtest/gtest.h>

#include <looptask/real_host.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "process/scratch.hpp"
#include "schedule/instant_text.hpp"

namespace looptask::jobs {
namespace {

std::string expand(std::string_view text, const std::string& zone = "UTC",
                   const std::string& nominal = "2026-03-09T22:05:07.25Z") {
  const scratch folder;
  folder.write("token", "s3cret\n");
  folder.write("two", "two\n\n");
  folder.write("dos", "x\r\n");
  folder.write("nul", std::string_view("a\0b", 3));
  real_host host;
  const auto parsed = text_template::parse(text);
  if (const auto* error = std::get_if<template_error>(&parsed))
    throw std::logic_error(std::to_string(error->column) + ": " + error->message);
  const template_facts facts{"backup", "01RUN", schedule::parse_instant(nominal).value(), 3};
  const template_sources sources{{"A=1", "AB=2", "EMPTY="}, folder.path(), schedule::zone::load(zone).value()};
  return std::get<text_template>(parsed).expand(facts, sources, host.files());
}

std::string error_of(std::string_view text) {
  const auto parsed = text_template::parse(text);
  const auto* error = std::get_if<template_error>(&parsed);
  return error == nullptr ? "" : std::to_string(error->column) + ": " + error->message;
}

std::string failure_of(std::string_view text) {
  try {
    return "expanded to " + expand(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(Template, FillsInFactsVariablesAndFiles) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", ""},
      {"plain $HOME $ $$ {x} 100%", "plain $HOME $ $$ {x} 100%"},
      {"${job}/${run_id}.${attempt}", "backup/01RUN.3"},
      {"${nominal}", "2026-03-09T22:05:07.250Z"},
      {"<${env:A}${env:AB}${env:EMPTY}>", "<12>"},
      {"${file:token}", "s3cret"},
      {"${file:./two}", "two\n"},
      {"${file:dos}", "x"},
      {"$${job} is ${job}", "${job} is backup"},
      {"$$${job}", "$${job}"},
  };
  for (const auto& [text, meaning] : table) EXPECT_EQ(expand(text), meaning) << text;
}

TEST(Template, FormatsTheNominalTimeInTheZoneOfTheJob) {
  EXPECT_EQ(expand("${nominal:%F %T %z}"), "2026-03-09 22:05:07 +0000");
  EXPECT_EQ(expand("${nominal:%F %T %z}", "Asia/Shanghai"), "2026-03-10 06:05:07 +0800");
  EXPECT_EQ(expand("${nominal:%F %T %z}", "America/New_York"), "2026-03-09 18:05:07 -0400");
  EXPECT_EQ(expand("${nominal:%Y|%m|%d|%H|%M|%S|%y|%j|%e|%u|%s|%%}"), "2026|03|09|22|05|07|26|068| 9|1|1773093907|%");
  EXPECT_EQ(expand("${nominal:at: %H}"), "at: 22");
  EXPECT_EQ(expand("${nominal:%j %u}", "UTC", "2024-12-29T00:00:00Z"), "364 7");
}

TEST(Template, ErrorsNameTheColumnAndWhatWouldBeRight) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"ab ${nomial}",
       "4: unknown template \"${nomial}\"; did you mean ${nominal}?; for the two characters \"${\" themselves "
       "write \"$${\""},
      {"${HOME}", "1: unknown template \"${HOME}\"; for the two characters \"${\" themselves write \"$${\""},
      {"x${job", "2: \"${\" without a closing \"}\"; for the two characters themselves write \"$${\""},
      {"${env:}", "1: ${env} needs a variable: ${env:NAME}"},
      {"${env}", "1: ${env} needs a variable: ${env:NAME}"},
      {"${file}", "1: ${file} needs a file: ${file:PATH}"},
      {"${env:A=B}", "1: the name of a variable has no \"=\": \"A=B\""},
      {"${job:x}", "1: ${job} takes nothing after a colon"},
      {"${nominal:}", "11: ${nominal:} needs a format such as ${nominal:%F}"},
      {"..${nominal:%F %Q}", "16: unknown format \"%Q\"; known are %Y %m %d %H %M %S %y %j %e %u %F %T %z %s %%"},
      {"${nominal:%}", "11: \"%\" at the end of a format; a percent sign is \"%%\""},
      {"${credential:db}", "1: ${credential:db} is not in this version yet"},
      {"${interval_from}", "1: ${interval_from} is not in this version yet"},
  };
  for (const auto& [text, message] : table) EXPECT_EQ(error_of(text), message) << text;
  EXPECT_EQ(error_of(std::string_view("a\0b", 3)), "2: a NUL cannot stand in a text for the environment");
}

TEST(Template, WhatCannotBeFilledInSaysWhichAndWhy) {
  EXPECT_EQ(failure_of("${env:NOPE}"), "${env:NOPE}: not set in the environment of the service");
  EXPECT_EQ(failure_of("x${file:/no/such}"), "${file:/no/such}: /no/such: No such file or directory");
  EXPECT_EQ(failure_of("${file:nul}"), "${file:nul}: holds a NUL, which cannot stand in an environment");
}

}  // namespace
}  // namespace looptask::jobs
