// SPDX-License-Identifier: MIT
// The journal of changes: what is noted in each state, and that nothing is once the recorder has left.
#include "agent/core/attachment.h"

#include <gtest/gtest.h>

#include <vector>

namespace penna::agent {
bool mark_if_unloadable(uintptr_t, uintptr_t*) { return false; }

namespace {

class AttachmentTest : public testing::Test {
 protected:
  static constexpr uint32_t kRoom = 4;
  AttachmentTest() : memory_(sizeof(penna_attachment) + kRoom * sizeof(penna_change)) {
    auto* const shared = reinterpret_cast<penna_attachment*>(memory_.data());
    shared->room = kRoom;
    begin_attachment(shared);
  }
  ~AttachmentTest() override { attachment = nullptr; }
  static bool note_one(uintptr_t address) {
    const uint8_t before[2] = {1, 2}, after[2] = {3, 4};
    return note_code(address, before, after, sizeof before);
  }
  std::vector<uint8_t> memory_;
};

TEST_F(AttachmentTest, ChangesAreNotedUntilTheRecorderHasLeft) {
  ASSERT_TRUE(holds_writes());
  EXPECT_TRUE(note_one(0x1000));
  attachment->state = PENNA_ATTACH_RUNS;
  EXPECT_TRUE(note_one(0x2000));
  EXPECT_TRUE(note_pointer(0x3000, 5, 6));
  EXPECT_EQ(attachment->changes, 3u);
  attachment->state = PENNA_ATTACH_LEFT;
  EXPECT_FALSE(note_one(0x4000));
  EXPECT_FALSE(note_pointer(0x4000, 5, 6));
  EXPECT_EQ(attachment->changes, 3u);
  EXPECT_EQ(penna_changes_of(attachment)[2].address, 0x3000u);
}

TEST_F(AttachmentTest, NoChangeIsMadeForWhichThereIsNoRoom) {
  for (uint32_t i = 0; i < kRoom; ++i) EXPECT_TRUE(note_one(0x1000 * (i + 1)));
  EXPECT_FALSE(note_one(0x9000));
  forget_changes(0x1000, 0x2000);
  EXPECT_EQ(penna_changes_of(attachment)[0].address, 0u);
  EXPECT_EQ(penna_changes_of(attachment)[1].address, 0x2000u);
}

TEST_F(AttachmentTest, TheNextRecorderBeginsAnew) {
  EXPECT_TRUE(note_one(0x1000));
  attachment->state = PENNA_ATTACH_LEFT;
  begin_attachment(attachment);
  EXPECT_EQ(attachment->changes, 0u);
  EXPECT_TRUE(note_one(0x5000));
}

}  // namespace
}  // namespace penna::agent
