// SPDX-License-Identifier: MIT
// The user's own directories: where they are, and the modes that they are created with.
#include "base/user_directories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace penna {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::Optional;

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

ScratchDirectory scratch() { return *ScratchDirectory::make_in(testing::TempDir()); }

TEST(user_directories, an_absolute_variable_wins_over_home) {
  ::setenv("HOME", "/home/ann", 1);
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_THAT(user_directory("XDG_CACHE_HOME", ".cache"), Optional(Eq("/cache")));
  for (const char* ignored : {"", "cache", "./cache"}) {
    ::setenv("XDG_CACHE_HOME", ignored, 1);
    EXPECT_THAT(user_directory("XDG_CACHE_HOME", ".cache"), Optional(Eq("/home/ann/.cache"))) << ignored;
  }
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_THAT(user_directory("XDG_CACHE_HOME", ".cache"), Optional(Eq("/home/ann/.cache")));
  ::setenv("HOME", "ann", 1);
  EXPECT_THAT(user_directory("XDG_CACHE_HOME", ".cache"), Eq(std::nullopt));
}

TEST(user_directories, all_that_is_missing_is_made_for_the_user_alone) {
  const ScratchDirectory place = scratch();
  const std::string path = place.path() + "/a/b/c";
  ASSERT_TRUE(make_private_directories(path));
  for (const char* each : {"/a", "/a/b", "/a/b/c"}) EXPECT_EQ(mode_of(place.path() + each), 0700u) << each;
  EXPECT_TRUE(make_private_directories(path));
  EXPECT_TRUE(make_private_directories(path + "/"));
}

TEST(user_directories, what_cannot_be_made_is_named_with_the_cause) {
  const ScratchDirectory place = scratch();
  std::ofstream(place.path() + "/file") << "no directory";
  const auto made = make_private_directories(place.path() + "/file/below");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text, testing::AllOf(HasSubstr("file/below"), HasSubstr("Not a directory")));
  EXPECT_FALSE(ScratchDirectory::make_in(place.path() + "/file"));
}

TEST(user_directories, a_scratch_directory_goes_with_all_in_it_once) {
  std::string path;
  {
    ScratchDirectory place = scratch();
    path = place.path();
    EXPECT_EQ(mode_of(path), 0700u);
    std::filesystem::create_directories(path + "/a/b");
    const ScratchDirectory moved = std::move(place);
    EXPECT_EQ(moved.path(), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace penna
