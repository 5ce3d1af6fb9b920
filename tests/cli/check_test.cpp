#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "cli/program.hpp"
#include "process/scratch.hpp"

namespace looptask::cli {
namespace {

const std::string good = "[job.a]\nrun = [\"true\"]\nevery = \"1m\"\ntimeout = \"5s\"\n";
const std::string warned = "[job.a]\nrun = [\"true\"]\n";
const std::string wrong = "[job.a]\nrun = [\"true\"]\ntimout = \"5s\"\nevery = 5\n";

TEST(check, a_good_file_is_silent_on_stdout) {
  const scratch folder;
  folder.write("jobs.toml", good);
  const auto r = run_program({{"check", "jobs.toml"}, "", folder.path()});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err, "jobs.toml: 1 job, no errors\n");
}

TEST(check, every_mistake_is_a_line_with_its_place) {
  const scratch folder;
  folder.write("jobs.toml", wrong);
  const auto r = run_program({{"check", "jobs.toml"}, "", folder.path()});
  EXPECT_EQ(r.code, 78);
  EXPECT_EQ(r.out,
            "jobs.toml:3:1: job.a.timout: unknown key; did you mean timeout?\n"
            "jobs.toml:4:9: job.a.every: is an integer; write a duration in quotes with its unit, as in \"5m\" or \"1h30m\"\n"
            "jobs.toml:1:6: warning: job.a: has no timeout, so a run that hangs holds its place for ever; write for example "
            "timeout = \"5m\" [no-timeout]\n");
}

TEST(check, nothing_of_a_name_reaches_the_terminal) {
  const scratch folder;
  folder.write("\x1b[31m\xC2\x9B.toml", "[job.a]\nrun = [\"true\"]\n\"\xE2\x80\xAE\" = 1\n");
  const auto r = run_program({{"check", "\x1b[31m\xC2\x9B.toml"}, "", folder.path()});
  EXPECT_EQ(r.out.rfind("\\u001B[31m\\u009B.toml:3:1: job.a.\"\\u202E\": unknown key; ", 0), 0U) << r.out;
  EXPECT_EQ(r.err, "\\u001B[31m\\u009B.toml: 1 error, 1 warning\n");
}

TEST(check, has_a_form_for_programs) {
  const scratch folder;
  folder.write("jobs.toml", wrong);
  const auto r = run_program({{"check", "jobs.toml", "--json"}, "", folder.path()});
  EXPECT_EQ(r.code, 78);
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(
      r.out.rfind("{\"schema_version\":1,\"errors\":[{\"file\":\"jobs.toml\",\"line\":3,\"column\":1,\"key\":\"job.a.timout\","
                  "\"message\":\"unknown key; did you mean timeout?\"},",
                  0),
      0U)
      << r.out;
  EXPECT_NE(r.out.find(
                "\"warnings\":[{\"file\":\"jobs.toml\",\"line\":1,\"column\":6,\"key\":\"job.a\",\"message\":\"has no timeout"),
            std::string::npos)
      << r.out;
  EXPECT_NE(r.out.find("\"class\":\"no-timeout\"}]}\n"), std::string::npos) << r.out;
}

TEST(check, warnings_alone_count_only_when_strict) {
  const scratch folder;
  folder.write("jobs.toml", warned);
  EXPECT_EQ(run_program({{"check", "jobs.toml"}, "", folder.path()}).code, 0);
  EXPECT_EQ(run_program({{"check", "--strict", "jobs.toml"}, "", folder.path()}).code, 1);
  EXPECT_EQ(run_program({{"check", "--strict", "--json", "jobs.toml"}, "", folder.path()}).code, 1);
  folder.write("jobs.toml", good);
  EXPECT_EQ(run_program({{"check", "--strict", "jobs.toml"}, "", folder.path()}).code, 0);
}

TEST(check, text_that_is_no_utf8_is_one_error_and_still_json) {
  const scratch folder;
  folder.write("jobs.toml", "# gr\xFC\xDF\n");
  const auto r = run_program({{"check", "jobs.toml", "--json"}, "", folder.path()});
  EXPECT_EQ(r.code, 78);
  EXPECT_NE(r.out.find("\"line\":1,\"column\":5,\"key\":\"\",\"message\":\"byte 0xFC is not UTF-8; save the file as UTF-8\""),
            std::string::npos)
      << r.out;
}

TEST(check, a_file_that_cannot_be_read_is_clear) {
  const scratch folder;
  const auto missing = run_program({{"check", "none.toml"}, "", folder.path()});
  EXPECT_EQ(missing.code, 78);
  EXPECT_EQ(missing.out, "none.toml:1:1: cannot read it: No such file or directory; check the path and its permissions\n");
  const auto is_folder = run_program({{"check", folder.path()}});
  EXPECT_EQ(is_folder.code, 78);
  EXPECT_EQ(is_folder.out, folder.path() + ":1:1: cannot read it: Is a directory; name the file in it\n");
  const auto endless = run_program({{"check", "/dev/zero"}});
  EXPECT_EQ(endless.code, 78);
  EXPECT_EQ(endless.out,
            "/dev/zero:1:1: is not a regular file (a pipe or a device is not read); write the configuration into a file\n");
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const auto silent = run_program({{"check", "pipe"}, "", folder.path()});
  EXPECT_EQ(silent.code, 78);
  EXPECT_NE(silent.out.find("pipe:1:1: is not a regular file"), std::string::npos) << silent.out;
  folder.write("huge.toml", "");
  std::filesystem::resize_file(folder.path("huge.toml"), (std::uintmax_t{16} << 20U) + 1);
  const auto huge = run_program({{"check", "huge.toml"}, "", folder.path()});
  EXPECT_EQ(huge.code, 78);
  EXPECT_EQ(huge.out, "huge.toml:1:1: is larger than 16MiB; is it a configuration file?\n");
}

TEST(check, a_misspelt_zone_is_told_the_nearest) {
  const scratch folder;
  folder.write("jobs.toml", "[service]\ntimezone = \"Asia/Shangai\"\n");
  const auto r = run_program({{"check", "jobs.toml"}, "", folder.path()});
  EXPECT_EQ(r.code, 78);
  EXPECT_NE(r.out.find("did you mean \"Asia/Shanghai\"?"), std::string::npos) << r.out;
}

TEST(check, looks_for_the_file_in_the_promised_order) {
  const scratch folder;
  folder.write("looptask.toml", good);
  folder.write("config/looptask/jobs.toml", good + "[job.b]\nrun = [\"true\"]\ntimeout = \"1s\"\n");
  folder.write("named.toml", good + "[job.b]\nrun=[\"true\"]\ntimeout=\"1s\"\n[job.c]\nrun=[\"true\"]\ntimeout=\"1s\"\n");
  folder.write("empty/x", "");
  const std::map<std::string, std::string> xdg{{"XDG_CONFIG_HOME", folder.path("config")}};
  auto both = xdg;
  both["LOOPTASK_CONFIG"] = folder.path("named.toml");
  EXPECT_EQ(run_program({{"check"}, "", folder.path(), both}).err, folder.path("named.toml") + ": 3 jobs, no errors\n");
  EXPECT_EQ(run_program({{"check"}, "", folder.path(), xdg}).err, "./looptask.toml: 1 job, no errors\n");
  EXPECT_EQ(run_program({{"check"}, "", folder.path("empty"), xdg}).err,
            folder.path("config/looptask/jobs.toml") + ": 2 jobs, no errors\n");
  EXPECT_EQ(run_program({{"check", "-c", "named.toml"}, "", folder.path(), xdg}).err, "named.toml: 3 jobs, no errors\n");
  EXPECT_EQ(run_program({{"--config", "named.toml", "check"}, "", folder.path(), xdg}).err, "named.toml: 3 jobs, no errors\n");
  const auto nothing = run_program({{"check"}, "", folder.path("empty")});
  EXPECT_EQ(nothing.code, 78);
  EXPECT_EQ(
      nothing.err,
      "looptask check: no configuration file: looked for ./looptask.toml, /etc/looptask/jobs.toml; name one as argument, with "
      "--config or in $LOOPTASK_CONFIG\n");
}

}  // namespace
}  // namespace looptask::cli
