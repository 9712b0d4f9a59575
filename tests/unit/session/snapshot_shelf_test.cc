// SPDX-License-Identifier: MIT
#include "session/snapshot_shelf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "recording/reader.h"

namespace penna {
namespace {

class SnapshotShelfTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(nullptr, ::mkdtemp(directory_.data())); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  ShelfPlan plan(size_t most) const {
    ShelfPlan made;
    made.base = directory_ + "/app";
    made.most = most;
    made.quiet = true;
    made.roots = &roots_;
    return made;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  OtherRoots roots_;
  std::string directory_ = "/tmp/snapshot_shelf.XXXXXX";
};

// They come faster than the shelf's thread can finish them.
TEST_F(SnapshotShelfTest, NeverHasMoreFilesThanAllowedAndThoseAreTheNewest) {
  constexpr size_t kMost = 3, kSnapshots = 300;
  const auto opened = SnapshotShelf::open(plan(kMost));
  ASSERT_TRUE(opened) << opened.error().text;
  SnapshotShelf& shelf = **opened;
  for (size_t i = 0; i < kSnapshots; ++i) {
    auto file = shelf.create();
    ASSERT_TRUE(file) << file.error().text;
    ASSERT_LE(files().size(), kMost) << "while snapshot " << i + 1 << " is written";
    shelf.take(std::move(*file), {});
  }
  shelf.finish_files();
  EXPECT_EQ((std::vector<std::string>{"app.298.penna", "app.299.penna", "app.300.penna"}), files());
  EXPECT_EQ(directory_ + "/app.300.penna", shelf.newest());
  EXPECT_EQ("300 snapshots were taken, and 297 old ones deleted, as --keep-snapshots is 3", shelf.summary());
  for (const std::string& name : files()) {
    const auto file = Recording::open(directory_ + "/" + name);
    ASSERT_TRUE(file) << file.error().text;
    EXPECT_TRUE(file->is_finished()) << name;
  }
}

TEST_F(SnapshotShelfTest, KeepsOne) {
  const auto opened = SnapshotShelf::open(plan(1));
  ASSERT_TRUE(opened) << opened.error().text;
  SnapshotShelf& shelf = **opened;
  for (size_t i = 0; i < 50; ++i) {
    auto file = shelf.create();
    ASSERT_TRUE(file) << file.error().text;
    shelf.take(std::move(*file), {});
  }
  shelf.finish_files();
  EXPECT_EQ(std::vector<std::string>{"app.50.penna"}, files());
}

}  // namespace
}  // namespace penna
