#include "service/data_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <looptask/real_host.hpp>

#include <system_error>

#include "process/scratch.hpp"

namespace looptask::service {
namespace {

TEST(data_directory, is_made_for_its_owner_only) {
  const scratch folder;
  real_host host;
  const data_directory data(host.files(), folder.path("a/b"));
  EXPECT_EQ(data.path(), folder.path("a/b"));
  struct stat found {};
  ASSERT_EQ(::stat(data.path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0700U);
}

TEST(data_directory, belongs_to_one_service_at_a_time) {
  const scratch folder;
  real_host host;
  {
    const data_directory first(host.files(), folder.path());
    try {
      const data_directory second(host.files(), folder.path());
      ADD_FAILURE() << "a second one got it";
    } catch (const directory_in_use& e) {
      EXPECT_EQ(std::string(e.what()),
                "another looptask runs on " + folder.path() + "; stop it, or give this one its own with --data-dir");
    }
  }
  const data_directory third(host.files(), folder.path());
}

TEST(data_directory, that_cannot_be_made_says_so) {
  real_host host;
  const std::pair<const char*, const char*> table[] = {
      {"/proc/none", "the data directory /proc/none cannot be created: No such file or directory; "},
      {"/dev/null/data", "the data directory /dev/null/data cannot be created: Not a directory; "},
      {"/proc", "the data directory /proc cannot be written: No such file or directory; "},
  };
  for (const auto& [path, said] : table) {
    try {
      const data_directory none(host.files(), path);
      ADD_FAILURE() << path;
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), std::string(said) + "choose another with --data-dir");
    }
  }
}

}  // namespace
}  // namespace looptask::service
