#include "sim/files.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <system_error>

namespace looptask::sim {
namespace {

template <class F>
int error_of(F&& f) {
  try {
    f();
  } catch (const std::system_error& e) {
    return e.code().value();
  }
  return 0;
}

TEST(memory_files, keep_what_was_appended) {
  memory_files files;
  files.make_directories("/a/b", 0700);
  files.append("/a/b/c", "one ");
  files.append("/a//b/c", "two");
  EXPECT_EQ(files.read("/a/b/c"), "one two");
  EXPECT_TRUE(files.exists("/a"));
  EXPECT_TRUE(files.exists("/a/b/"));
  EXPECT_FALSE(files.exists("/a/c"));
}

TEST(memory_files, fail_as_real_ones_do) {
  memory_files files;
  files.append("/file", "x");
  EXPECT_EQ(error_of([&] { files.read("/none"); }), ENOENT);
  EXPECT_EQ(error_of([&] { files.read("/"); }), EISDIR);
  EXPECT_EQ(error_of([&] { files.absolute("none"); }), EINVAL);
  EXPECT_EQ(files.absolute("/a//b"), "/a/b");
  files.append("/tmp/four", "four");
  EXPECT_EQ(files.read("/tmp/four", 4), "four");
  EXPECT_EQ(error_of([&] { files.read("/tmp/four", 3); }), EFBIG);
  EXPECT_EQ(error_of([&] { files.append("/none/file", "x"); }), ENOENT);
  EXPECT_EQ(error_of([&] { files.append("/file/file", "x"); }), ENOTDIR);
  EXPECT_EQ(error_of([&] { files.make_directories("/file/dir", 0700); }), ENOTDIR);
  EXPECT_EQ(error_of([&] { files.make_directories("/file", 0700); }), EEXIST);
  EXPECT_EQ(error_of([&] { files.make_directories("/", 0700); }), 0);
}

TEST(memory_files, lock_is_held_until_destroyed) {
  memory_files files;
  auto held = files.try_lock("/tmp/lock");
  EXPECT_NE(held, nullptr);
  EXPECT_EQ(files.try_lock("/tmp/lock"), nullptr);
  held.reset();
  EXPECT_NE(files.try_lock("/tmp/lock"), nullptr);
}

}  // namespace
}  // namespace looptask::sim
