// Files from a task: on the disk, and in a simulated world.
#include <looptask/file.hpp>

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <looptask/looptask.hpp>

#include "sim/world.hpp"

namespace looptask {
namespace {

namespace fs = std::filesystem;

struct on_disk {
  real_host where;
  std::string folder = [] {
    std::string name = fs::temp_directory_path() / "looptask-files-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    return name;
  }();
  ~on_disk() { fs::remove_all(folder); }
};

struct in_memory {
  sim::world where{1};
  std::string folder = "/tmp";
};

// The same for every host.
template <class Place>
struct Files : testing::Test {
  Place it;
  std::int64_t before = memory_pool::live();
  std::unique_ptr<looptask::loop> owned = std::make_unique<looptask::loop>(it.where);
  looptask::loop& loop = *owned;

  std::string path(const std::string& name) const { return it.folder + "/" + name; }
  std::string text(const std::string& name) { return loop.run(read_file(path(name))); }
  template <class T>
  int error_of(task<T> what, const std::string& names) {
    try {
      static_cast<void>(loop.run(std::move(what)));
    } catch (const std::system_error& e) {
      EXPECT_NE(std::string(e.what()).find(names), std::string::npos) << e.what();
      return e.code().value();
    }
    return 0;
  }
  void TearDown() override {
    owned.reset();
    EXPECT_EQ(memory_pool::live(), before);
  }
};
using places = testing::Types<on_disk, in_memory>;
TYPED_TEST_SUITE(Files, places);

TYPED_TEST(Files, WhatIsWrittenIsReadAgain) {
  this->loop.run(write_file(this->path("a"), "one"));
  EXPECT_EQ(this->text("a"), "one");
  this->loop.run(write_file(this->path("a"), "zwei"));
  this->loop.run(append_file(this->path("a"), " more"));
  EXPECT_EQ(this->text("a"), "zwei more");
  this->loop.run(append_file(this->path("b"), std::string(100'000, 'x')));
  EXPECT_EQ(this->text("b"), std::string(100'000, 'x'));
}

TYPED_TEST(Files, ErrorsNameThePath) {
  const std::string none = this->path("none");
  EXPECT_EQ(this->error_of(read_file(none), none), ENOENT);
  EXPECT_EQ(this->error_of(write_file(none + "/deeper", ""), none), ENOENT);
  EXPECT_EQ(this->error_of(append_file(this->it.folder, "x"), this->it.folder), EISDIR);
  EXPECT_EQ(this->error_of(write_file(this->it.folder, "x"), this->it.folder), EISDIR);
  EXPECT_EQ(this->error_of(open_file(none, file_mode::write), none), ENOENT);
  this->loop.run(write_file(this->path("long"), "12345"));
  EXPECT_EQ(this->error_of(read_file(this->path("long"), 4), "long"), EFBIG);
  EXPECT_EQ(this->loop.run(read_file(this->path("long"), 5)), "12345");
}

TYPED_TEST(Files, AnOpenFileIsReadAndWrittenAnywhere) {
  auto body = [](std::string path) -> task<std::string> {
    file one = co_await open_file(path, file_mode::create);
    co_await one.write_at(3, "defgh");
    co_await one.write_at(0, "abc");
    const std::uint64_t size = co_await one.size();
    const std::string inside = co_await one.read_at(2, 3);
    const std::string at_the_end = co_await one.read_at(6, 100);
    const std::string beyond = co_await one.read_at(8, 100);
    EXPECT_EQ(size, 8U);
    EXPECT_EQ(inside, "cde");
    EXPECT_EQ(at_the_end, "gh");
    EXPECT_EQ(beyond, "");
    co_await one.sync();
    co_await one.close();
    const file again = co_await open_file(path, file_mode::read);
    co_return again.path();
  };
  EXPECT_EQ(this->loop.run(body(this->path("c"))), this->path("c"));
  EXPECT_EQ(this->text("c"), "abcdefgh");
}

TYPED_TEST(Files, WhatIsOpenForReadingIsNotWritten) {
  this->loop.run(write_file(this->path("r"), "kept"));
  auto body = [](std::string path) -> task<> {
    file one = co_await open_file(path, file_mode::read);
    co_await one.write_at(0, "lost");
  };
  EXPECT_EQ(this->error_of(body(this->path("r")), this->path("r")), EBADF);
  EXPECT_EQ(this->text("r"), "kept");
}

// Who has it open goes on with the old file; who opens it has the new one.
TYPED_TEST(Files, AFileIsReplacedAsAWhole) {
  this->loop.run(write_file(this->path("d"), "old"));
  auto body = [](std::string path) -> task<std::string> {
    file one = co_await open_file(path, file_mode::read);
    co_await write_file(path, "new and longer");
    co_return co_await one.read_at(0, 100);
  };
  EXPECT_EQ(this->loop.run(body(this->path("d"))), "old");
  EXPECT_EQ(this->text("d"), "new and longer");
}

TYPED_TEST(Files, ACancelledWriteIsDoneOrNotBegun) {
  auto body = [](std::string path) -> task<> {
    co_await write_file(path, "all of it");
    ADD_FAILURE() << "cancelled, and yet it went on";
  };
  {
    cancel_scope scope(this->loop);
    spawn(
        this->loop, scope,
        [](std::string path) -> task<> {
          co_await write_file(std::move(path), "all of it");
          co_await yield();
          ADD_FAILURE() << "cancelled, and yet it went on";
        }(this->path("under-way")),
        [](outcome<>) {});
    this->loop.run_once();
    while (this->it.where.workers().statistics().queued != 0) std::this_thread::yield();  // until it is under way
    scope.cancel();
    this->loop.run();
  }
  cancel_scope scope(this->loop);
  scope.cancel();
  spawn(this->loop, scope, body(this->path("before")), [](outcome<>) {});
  this->loop.run();
  EXPECT_EQ(this->text("under-way"), "all of it");
  EXPECT_EQ(this->error_of(read_file(this->path("before")), "before"), ENOENT);
}

struct DiskFiles : Files<on_disk> {};

TEST_F(DiskFiles, AReplacedFileKeepsItsPermissionsAndALinkStaysOne) {
  loop.run(write_file(path("real"), "1"));
  EXPECT_EQ(fs::status(path("real")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(path("real"), fs::perms(0640));
  fs::create_symlink("real", path("link"));
  loop.run(write_file(path("link"), "2"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text("real"), "2");
  EXPECT_EQ(fs::status(path("real")).permissions(), fs::perms(0640));
  EXPECT_EQ(std::distance(fs::directory_iterator(it.folder), fs::directory_iterator()), 2) << "nothing is left beside it";
}

TEST_F(DiskFiles, WhatIsNoRegularFileIsRefused) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(error_of(read_file(path("fifo")), "fifo"), EINVAL);
  EXPECT_EQ(error_of(write_file(path("fifo"), "x"), "fifo"), EINVAL);
  EXPECT_EQ(error_of(open_file(path("fifo"), file_mode::read), "fifo"), EINVAL);
}

}  // namespace
}  // namespace looptask
