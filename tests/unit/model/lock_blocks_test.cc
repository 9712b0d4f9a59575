// SPDX-License-Identifier: MIT
// The locations of unnamed locks: in the block that was live when they were first used, of their process or inherited.
#include "model/locks/lock_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "recording_builder.h"

namespace penna::lock_blocks_test {
namespace {

class InBlocks : public testing::Test {
 protected:
  void analyse() {
    recording_.emplace(build_.open());
    map_.emplace(*recording_);
    Locks locks(*recording_);
    for_each_event(*recording_, {.classes = kLockEvents},
                   locks);  // without allocations: all that was at an address is one
    locks.finish();
    blocks_.emplace(*recording_, locks, *map_);
    for_each_event(*recording_, {.classes = kAllocEvents}, *blocks_);
    blocks_->finish();
    for (const LockStats& lock : locks.all()) first_use_.try_emplace({lock.process, lock.address}, lock.first_time);
  }
  // "address size stack", or "none".
  std::string block_of(uint32_t process, uint64_t address) const {
    const auto first = first_use_.find({process, address});
    const LockBlock* block = first == first_use_.end() ? nullptr : blocks_->of(process, address, first->second);
    if (block == nullptr) return "none";
    return std::to_string(block->address) + " " + std::to_string(block->size) + " " + std::to_string(block->stack);
  }

  RecordingBuilder build_;
  std::optional<Recording> recording_;
  std::optional<CodeMap> map_;
  std::optional<LockBlocks> blocks_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> first_use_;  // by process and address
};

TEST_F(InBlocks, TheBlockThatWasLiveWhenTheLockWasUsedFirst) {
  ThreadBuilder& thread = build_.thread(build_.process(100), 1);
  thread.alloc(1000, 100, 10, 1);
  thread.free(1000, 20);
  thread.alloc(1040, 80, 30, 2);  // this one
  thread.lock(1048, 40);
  thread.unlock(1048, 50);
  thread.free(1040, 60);
  thread.alloc(1000, 100, 70, 3);
  thread.lock(1048, 80);
  thread.unlock(1048, 90);
  thread.lock(1119, 100);  // the last byte of a block, and the first behind it
  thread.lock(1100, 101);
  thread.lock(2000, 102);
  analyse();
  EXPECT_TRUE(blocks_->asks());
  EXPECT_EQ(block_of(0, 1048), "1040 80 2");
  EXPECT_EQ(block_of(0, 1099), "none");  // not asked
  EXPECT_EQ(block_of(0, 1100), "none");
  EXPECT_EQ(block_of(0, 2000), "none");
}

// Locks that were made at one address one after the other.
TEST_F(InBlocks, EachLockHasItsOwnBlock) {
  ThreadBuilder& thread = build_.thread(build_.process(100), 1);
  thread.alloc(1000, 100, 10, 1);
  thread.lock_made(1048, 15, 0);
  thread.lock(1048, 20);
  thread.unlock(1048, 21);
  thread.lock_gone(1048, 25);
  thread.free(1000, 30);
  thread.alloc(1040, 16, 40, 2);
  thread.lock(1048, 50);
  thread.unlock(1048, 60);
  thread.lock_gone(1048, 61);
  thread.free(1040, 65);
  thread.lock(1048, 70);
  analyse();
  const auto stack_of = [&](uint64_t first) {
    const LockBlock* block = blocks_->of(0, 1048, first);
    return block == nullptr ? 0 : block->stack;
  };
  EXPECT_EQ(stack_of(15), 1u);
  EXPECT_EQ(stack_of(50), 2u);
  EXPECT_EQ(stack_of(70), 0u);
}

TEST_F(InBlocks, LargeBlocksMovedBlocksAndConditions) {
  ThreadBuilder& thread = build_.thread(build_.process(100), 1);
  thread.alloc_large(0x100000, uint64_t{1} << 33, 10, 4);
  thread.lock(0x100000 + (uint64_t{1} << 32), 20);
  thread.alloc(0x5000, 64, 30, 5);
  thread.free(0x5000, 40, PENNA_FAMILY_REALLOC);  // realloc() that fails
  thread.realloc_failed(0x5000, 41);
  thread.unlock(0x100000 + (uint64_t{1} << 32), 45);
  thread.cond_wait(0x5000, 0x5020, 50, 60);
  analyse();
  EXPECT_EQ(block_of(0, 0x100000 + (uint64_t{1} << 32)), "1048576 8589934592 4");
  EXPECT_EQ(block_of(0, 0x5000), "20480 64 5");
  EXPECT_EQ(block_of(0, 0x5020), "20480 64 5");
}

TEST_F(InBlocks, AForkedProcessFindsThoseOfItsParents) {
  const uint32_t first = build_.process(100, 1, 5), child = build_.process(200, 100, 50);
  const uint32_t grandchild = build_.process(300, 200, 80), program = build_.process(200, 1, 90, true);
  ThreadBuilder& thread = build_.thread(first, 1);
  thread.alloc(1000, 100, 10, 1);
  thread.alloc(2000, 100, 20, 2);
  thread.free(2000, 30);
  thread.free(1000, 60);  // after the fork: the child's copy stays
  thread.alloc(1000, 100, 61, 3);
  build_.thread(child, 1).lock(1010, 70);
  build_.thread(child, 1).lock(2010, 71);
  build_.thread(grandchild, 1).lock(1010, 85);
  build_.thread(program, 1).lock(1010, 95);
  analyse();
  EXPECT_EQ(block_of(child, 1010), "1000 100 1");
  EXPECT_EQ(block_of(child, 2010), "none");
  EXPECT_EQ(block_of(grandchild, 1010), "1000 100 1");
  EXPECT_EQ(block_of(program, 1010), "none");
}

TEST_F(InBlocks, LocksInModulesAreNotAskedFor) {
  const uint32_t process = build_.process(100);
  Module module;
  module.path = "/bin/program";
  module.bias = module.start = 0x100000;
  module.end = 0x110000;
  build_.module(process, module);
  build_.thread(process, 1).lock(0x104000, 10);
  analyse();
  EXPECT_FALSE(blocks_->asks());
}

}  // namespace
}  // namespace penna::lock_blocks_test
