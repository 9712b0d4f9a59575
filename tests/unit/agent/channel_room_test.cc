// SPDX-License-Identifier: MIT
// channel_room.cc: which parts of a channel are accessible at first, how they grow, and what is different when a filter
// of system calls forbids growing.
#include "agent/core/channel_room.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "agent/core/call_filters.h"
#include "base/fd.h"
#include "penna/channel.h"

namespace penna::agent {
Process process;
__thread Thread thread __attribute__((tls_model("initial-exec"))) = {};

namespace {

constexpr uint32_t kNodes = 1 << 22, kChunks = 1024;

struct ChannelRoom : testing::Test {
  void SetUp() override {
    call_refusals = 0;
    plan.chunk_count = kChunks;
    plan.backlog_limit = 10;
    plan.max_nodes = kNodes;
    plan.hash_slots = slots_for_nodes(kNodes);
    plan.hash_at = 1 << 16;
    plan.nodes_at = plan.hash_at + uint64_t{plan.hash_slots} * sizeof(uint32_t);
    plan.chunks_at = plan.nodes_at + uint64_t{kNodes} * sizeof(penna_stack_node);
    plan.total_bytes = plan.chunks_at + uint64_t{kChunks} * PENNA_CHUNK_BYTES;
    file = Fd(::memfd_create("room", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(plan.total_bytes)), 0);
    base = static_cast<uint8_t*>(::mmap(nullptr, plan.total_bytes, PROT_NONE, MAP_SHARED, file.get(), 0));
    ASSERT_NE(base, MAP_FAILED);
  }
  void TearDown() override { ::munmap(base, plan.total_bytes); }

  void open() {
    ReadyRoom ready;
    ASSERT_TRUE(open_room(plan, base, file.get(), &ready));
    process = {};
    process.channel = &plan;
    process.nodes_ready = ready.nodes;
    process.chunks_ready = ready.chunks;
    process.chunks = base + plan.chunks_at;
    process.stack_hash = reinterpret_cast<uint32_t*>(base + plan.hash_at);
    process.stack_nodes = reinterpret_cast<penna_stack_node*>(base + plan.nodes_at);
  }
  // Of the part of the channel from `at`, how many bytes can be written.
  uint64_t writable(uint64_t at) const {
    uint64_t end = reinterpret_cast<uintptr_t>(base) + at;
    const uint64_t begin = end;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      uint64_t from = 0, to = 0;
      char writes = 0;
      const int read = std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " r%c", &from, &to, &writes);
      if (read == 3 && writes == 'w' && from <= end && end < to) end = to;
    }
    // Another mapping may follow the channel.
    return std::min(end, reinterpret_cast<uintptr_t>(base) + plan.total_bytes) - begin;
  }
  uint64_t writable_chunks() const { return writable(plan.chunks_at) / PENNA_CHUNK_BYTES; }

  penna_channel plan{};
  Fd file;
  uint8_t* base = nullptr;
};

TEST_F(ChannelRoom, OpensWhatMostProgramsNeed) {
  open();
  EXPECT_EQ(nodes_ready(), 1u << 20);
  EXPECT_EQ(chunks_ready(), 320u);  // 10 and 256, in whole words of the bitmap
  EXPECT_EQ(writable(0), plan.hash_at + slots_ready() * sizeof(uint32_t));
  EXPECT_EQ(writable(plan.nodes_at), uint64_t{nodes_ready()} * sizeof(penna_stack_node));
  EXPECT_EQ(writable_chunks(), chunks_ready());
}

TEST_F(ChannelRoom, GrowsByDoublingToTheEnd) {
  open();
  EXPECT_TRUE(grow_chunks());
  EXPECT_EQ(chunks_ready(), 640u);
  EXPECT_EQ(writable_chunks(), 640u);
  EXPECT_TRUE(grow_chunks());
  EXPECT_EQ(chunks_ready(), kChunks);
  EXPECT_EQ(writable_chunks(), kChunks);
  EXPECT_FALSE(grow_chunks());
  EXPECT_TRUE(grow_stack_tree());
  EXPECT_TRUE(grow_stack_tree());
  EXPECT_EQ(nodes_ready(), kNodes);
  EXPECT_FALSE(grow_stack_tree());
  EXPECT_EQ(writable(0), plan.total_bytes);
}

TEST_F(ChannelRoom, IsOpenedAtOnceIfItCannotGrow) {
  call_refusals = kRefusesGrowth;
  open();
  EXPECT_EQ(nodes_ready(), kNodes);
  EXPECT_EQ(chunks_ready(), kChunks);
  EXPECT_EQ(writable(0), plan.total_bytes);
}

TEST_F(ChannelRoom, StaysAsItIsUnderALaterFilter) {
  open();
  call_refusals = kRefusesGrowth;
  EXPECT_FALSE(grow_chunks());
  EXPECT_FALSE(grow_stack_tree());
  EXPECT_EQ(writable_chunks(), chunks_ready());
}

TEST_F(ChannelRoom, ASmallChannelIsOpenedWhole) {
  plan.chunk_count = 64;
  plan.max_nodes = 1024;
  open();
  EXPECT_EQ(chunks_ready(), 64u);
  EXPECT_EQ(nodes_ready(), 1024u);
  EXPECT_FALSE(grow_chunks());
  EXPECT_FALSE(grow_stack_tree());
}

}  // namespace
}  // namespace penna::agent
