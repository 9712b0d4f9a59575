// SPDX-License-Identifier: MIT
// Limits of control groups, of both versions, as the files of a /proc and of hierarchies made here say them.
#include "collect/memory_groups.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace penna {
namespace {

class MemoryGroupsTest : public ::testing::Test {
 protected:
  MemoryGroupsTest() { root_ = ::mkdtemp(root_.data()); }
  ~MemoryGroupsTest() override { std::filesystem::remove_all(root_); }

  void put(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void mount(const std::string& group, const std::string& type, const std::string& options) {
    mounts_ += "35 31 0:32 " + group + " " + root_ + "/groups rw,relatime shared:9 - " + type + " x " + options + "\n";
    put("proc/self/mountinfo", "1 1 0:1 / / rw - ext4 /dev/vda rw\n" + mounts_);
  }
  void put_unified(const std::string& group, const std::string& limit, const std::string& used,
                   const std::string& stat) {
    put("groups" + group + "/memory.max", limit + "\n");
    put("groups" + group + "/memory.current", used + "\n");
    put("groups" + group + "/memory.stat", stat);
  }
  std::optional<GroupMemory> found() { return MemoryGroups(root_ + "/proc").of(7); }

  std::string root_ = "/tmp/penna-groups.XXXXXX", mounts_;
};

TEST_F(MemoryGroupsTest, TheLowestLimitAndTheLeastThatIsFree) {
  mount("/", "cgroup2", "rw");
  put("proc/7/cgroup", "0::/outer/inner\n");
  put_unified("/outer", "1000", "900", "anon 5\ninactive_file 20\nactive_file 30\n");
  put_unified("/outer/inner", "600", "100", "anon 100\n");
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->limit, 600u);
  EXPECT_EQ(found()->free, 150u) << "of the outer group; memory of files is free";
}

TEST_F(MemoryGroupsTest, NoLimitIsNone) {
  EXPECT_FALSE(found()) << "no /proc";
  mount("/", "cgroup2", "rw");
  EXPECT_FALSE(found()) << "no process";
  put("proc/7/cgroup", "0::/\n");
  EXPECT_FALSE(found()) << "no files";
  put_unified("", "max", "100", "");
  EXPECT_FALSE(found());
}

TEST_F(MemoryGroupsTest, MoreThanTheLimitIsUsed) {
  mount("/", "cgroup2", "rw");
  put("proc/7/cgroup", "0::/a\n");
  put_unified("/a", "1000", "1200", "");
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->free, 0u);
}

TEST_F(MemoryGroupsTest, TheFirstVersion) {
  mount("/", "cgroup", "rw,cpu");
  mount("/", "cgroup", "rw,memory");
  put("proc/7/cgroup", "5:cpu:/other\n4:memory:/a\n0::/other\n");
  put("groups/a/memory.limit_in_bytes", "5000\n");
  put("groups/a/memory.usage_in_bytes", "4000\n");
  put("groups/a/memory.stat", "inactive_file 1\ntotal_inactive_file 300\ntotal_active_file 200\n");
  put("groups/memory.limit_in_bytes", "9223372036854771712\n");
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->limit, 5000u);
  EXPECT_EQ(found()->free, 1500u);
}

// In a container, /proc/PID/cgroup may name groups as the host does, of which one is mounted.
TEST_F(MemoryGroupsTest, AGroupThatIsMountedItself) {
  mount("/docker/1", "cgroup2", "rw");
  put_unified("", "1000", "100", "");
  put_unified("/sub", "500", "100", "");
  put("proc/7/cgroup", "0::/docker/1/sub\n");
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->limit, 500u);
  for (const char* group : {"/docker/1", "/docker/10", "/../2"}) {
    put("proc/7/cgroup", std::string("0::") + group + "\n");
    ASSERT_TRUE(found()) << group;
    EXPECT_EQ(found()->limit, 1000u) << group;
  }
}

}  // namespace
}  // namespace penna
