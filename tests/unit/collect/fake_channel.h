// SPDX-License-Identifier: MIT
// FakeChannel: a small channel made by the test in place of a traced process, for tests and the fuzzer of src/collect.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>
#include <span>

#include "base/fd.h"
#include "penna/channel.h"
#include "penna/ring.h"

namespace penna {

class FakeChannel {
 public:
  static constexpr uint32_t kChunks = 64;
  static constexpr uint32_t kNodes = 1024;

  FakeChannel() : memory_(::memfd_create("fake-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    penna_channel plan{};
    plan.magic = PENNA_CHANNEL_MAGIC;
    plan.version = PENNA_ABI_VERSION;
    plan.pid = static_cast<uint32_t>(::getpid());
    plan.chunk_count = kChunks;
    plan.backlog_limit = kChunks / 2;
    plan.hash_slots = 2 * kNodes;
    plan.max_nodes = kNodes;
    plan.free_at = 4096;
    plan.full_at = 8192;
    plan.hash_at = 16384;
    plan.nodes_at = plan.hash_at + plan.hash_slots * 4;
    plan.chunks_at = 65536;
    plan.total_bytes = plan.chunks_at + uint64_t{kChunks} * PENNA_CHUNK_BYTES;
    plan.node_count = 1;
    bytes_ = plan.total_bytes;
    (void)!::ftruncate(memory_.get(), static_cast<off_t>(bytes_));
    view_ = Mapping(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0), bytes_);
    std::memcpy(view_.data(), &plan, sizeof plan);
    std::memset(view_.data() + plan.free_at, 0xff, kChunks / 8);
    penna_ring_init(ring(), kChunks, sizeof(uint32_t));
  }

  const Fd& memory() const { return memory_; }
  uint8_t* bytes() const { return view_.data(); }
  size_t size() const { return bytes_; }
  void seal() const { ::fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW); }

  penna_channel* channel() const { return reinterpret_cast<penna_channel*>(view_.data()); }
  penna_ring* ring() const { return reinterpret_cast<penna_ring*>(view_.data() + 8192); }
  uint64_t* bitmap() const { return reinterpret_cast<uint64_t*>(view_.data() + 4096); }
  penna_stack_node* node(uint32_t id) const {
    return reinterpret_cast<penna_stack_node*>(view_.data() + channel()->nodes_at) + id;
  }
  uint8_t* chunk(uint32_t number) const { return view_.data() + 65536 + size_t{number} * PENNA_CHUNK_BYTES; }

  // What a thread does: takes chunk `number`, writes `records` into it.
  void write_chunk(uint32_t number, uint32_t tid, uint64_t sequence, std::initializer_list<uint64_t> records) const {
    bitmap()[number / 64] &= ~(uint64_t{1} << (number % 64));
    penna_chunk header{};
    header.ctf_magic = PENNA_CTF_MAGIC;
    header.time_begin = 1000;
    header.tid = tid;
    header.thread_serial = tid;
    header.sequence = sequence;
    header.pc_high = 0x5555;
    std::memcpy(chunk(number), &header, sizeof header);
    uint64_t* word = reinterpret_cast<uint64_t*>(chunk(number) + sizeof header);
    for (uint64_t record : records) *word++ = record;
  }
  // The same for a chunk that is ready-made.
  void put_chunk(uint32_t number, std::span<const uint8_t> bytes) const {
    bitmap()[number / 64] &= ~(uint64_t{1} << (number % 64));
    std::memcpy(chunk(number), bytes.data(), bytes.size());
  }
  // ... and gives it away with `records` words in it.
  void hand_over(uint32_t number, size_t records) const {
    auto* header = reinterpret_cast<penna_chunk*>(chunk(number));
    header->content_bits = (sizeof(penna_chunk) + records * 8) * 8;
    channel()->backlog += 1;
    announce(number);
  }
  // Says that chunk `number` is full, and touches only the ring.
  void announce(uint32_t number) const {
    uint32_t ticket;
    if (void* slot = penna_ring_reserve(ring(), &ticket)) {
      std::memcpy(slot, &number, sizeof number);
      penna_ring_commit(ring(), ticket);
    }
  }

 private:
  Fd memory_;
  size_t bytes_ = 0;
  Mapping view_;
};

}  // namespace penna
