// SPDX-License-Identifier: MIT
// What a record says of a block: one reading of the kinds in which blocks of the heap, mappings and blocks of pools
// come and go (include/penna/event.h).
//
// Why: a block that is freed with a stack is as free as one without, and a mapping can leak as a block can.
// Invariant: two records that say the same of a block read the same.
#pragma once

#include <cstdint>

#include "penna/event.h"
#include "recording/records.h"

namespace penna {

enum class BlockOp : uint8_t {
  kNone,  // it speaks of no block
  kAllocated,
  kFreed,
  kKept  // by a realloc that failed: it takes back the thread's kFreed just before
};

// Where blocks lie. Those of different spaces say nothing of each other: a pool's lie in the heap, the heap in
// mappings.
enum class BlockSpace : uint8_t { kHeap, kMaps, kPool };

struct BlockRecord {
  BlockOp op = BlockOp::kNone;
  BlockSpace space = BlockSpace::kHeap;
  uint16_t flags = 0;    // kMaps: penna_map_flag; of mremap nothing
  uint32_t family = 0;   // kHeap: penna_alloc_family; kMaps: penna_map_how; of an untrusted recording anything
  uint32_t pool = 0;     // kPool: its id, of a SITE record of the process
  uint32_t stack = 0;    // of the one who allocates or frees; 0: not recorded
  uint64_t address = 0;  // of the block
  uint64_t size = 0;     // bytes asked for, when allocated. kMaps: of the range, also when freed
};

inline BlockRecord read_block(const Record& record) {
  const auto block = [](BlockOp op, uint64_t address_family, uint32_t stack, uint64_t size) {
    return BlockRecord{op,
                       BlockSpace::kHeap,
                       0,
                       static_cast<uint32_t>(address_family >> 56),
                       0,
                       stack,
                       address_family & PENNA_ADDRESS_MASK,
                       size};
  };
  switch (record.kind) {
    case PENNA_KIND_ALLOC: {
      const auto alloc = record.as<penna_alloc>();
      return block(BlockOp::kAllocated, alloc.address_family, alloc.stack, alloc.size);
    }
    case PENNA_KIND_ALLOC_LARGE: {
      const auto alloc = record.as<penna_alloc_large>();
      return block(BlockOp::kAllocated, alloc.address_family, alloc.stack, alloc.size);
    }
    case PENNA_KIND_FREE: return block(BlockOp::kFreed, record.as<penna_free>().address_family, 0, 0);
    case PENNA_KIND_FREE_STACK: {
      const auto free = record.as<penna_free_stack>();
      return block(BlockOp::kFreed, free.address_family, free.stack, 0);
    }
    case PENNA_KIND_REALLOC_FAILED: return block(BlockOp::kKept, record.as<penna_free>().address_family, 0, 0);
    case PENNA_KIND_MAP: {
      const auto map = record.as<penna_map>();
      return {BlockOp::kAllocated, BlockSpace::kMaps, static_cast<uint16_t>(map.flags & 7), map.how, 0, map.stack,
              map.address,         map.bytes};
    }
    case PENNA_KIND_UNMAP: {
      const auto unmap = record.as<penna_unmap>();
      return {BlockOp::kFreed, BlockSpace::kMaps, 0, 0, 0, unmap.stack, unmap.address, unmap.bytes};
    }
    case PENNA_KIND_POOL_ALLOC: {
      const auto alloc = record.as<penna_pool_alloc>();
      return {BlockOp::kAllocated, BlockSpace::kPool, 0, 0, alloc.pool, alloc.stack, alloc.address, alloc.size};
    }
    case PENNA_KIND_POOL_FREE: {
      const auto free = record.as<penna_pool_free>();
      return {BlockOp::kFreed, BlockSpace::kPool, 0, 0, free.pool, free.stack, free.address, 0};
    }
    default: return {};
  }
}

// The same for who looks at the heap alone: of all else kNone.
inline BlockRecord read_heap_block(const Record& record) {
  const BlockRecord block = read_block(record);
  return block.space == BlockSpace::kHeap ? block : BlockRecord{};
}

}  // namespace penna
