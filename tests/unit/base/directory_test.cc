// SPDX-License-Identifier: MIT
#include "base/directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/fd.h"

namespace penna {
namespace {

using Names = std::vector<std::string>;

class Directory : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(nullptr, ::mkdtemp(path_.data())); }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void add(const char* name) const { Fd(::open((path_ + "/" + name).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); }

  std::string path_ = "/tmp/directory_test.XXXXXX";
};

TEST_F(Directory, NamesAllThatItHolds) {
  EXPECT_EQ(Names(), *names_in(path_));
  for (const char* name : {"b.sql", ".hidden", "a.sql", "...", "a.sql~"}) add(name);
  Names names = *names_in(path_);
  std::sort(names.begin(), names.end());
  EXPECT_EQ((Names{"...", ".hidden", "a.sql", "a.sql~", "b.sql"}), names);
  EXPECT_EQ((Names{"a", "b"}), names_with_ending(path_, ".sql"));
}

TEST_F(Directory, ThatIsNotThereHasAReason) {
  const auto names = names_in(path_ + "/none");
  ASSERT_FALSE(names);
  EXPECT_EQ("No such file or directory", names.error().text);
  EXPECT_EQ(Names(), names_with_ending(path_ + "/none", ""));
  EXPECT_TRUE(numbers_in(path_ + "/none").empty());
}

TEST_F(Directory, NumbersAreWholeAndNotNegative) {
  for (const char* name : {"0", "17", "17a", "a17", "-3", "99999999999999999999", "+4", ""}) add(name);
  std::vector<pid_t> numbers = numbers_in(path_);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ((std::vector<pid_t>{0, 17}), numbers);
}

TEST(ProcDirectory, HasThisProcess) {
  const std::vector<pid_t> all = numbers_in("/proc");
  EXPECT_EQ(1, std::count(all.begin(), all.end(), ::getpid()));
}

}  // namespace
}  // namespace penna
