// SPDX-License-Identifier: MIT
// Reads what a record says about a block: the one decoder of the kinds with which blocks of the heap, mappings and pool
// blocks come and go (include/penna/event.h).
//
// Why: a block freed with a stack is as free as one freed without, and a mapping can leak like a block.
// Invariant: two records that say the same about a block read the same.
#pragma once

#include <cstdint>

#include "penna/event.h"
#include "recording/records.h"

namespace penna {

enum class BlockAction : uint8_t {
  kNone,  // not about a block
  kAllocated,
  kFreed,
  kKept  // by a realloc that failed: it takes back the thread's kFreed just before
};

// Where blocks lie. Blocks of different spaces are unrelated: a pool's lie in the heap, the heap's in mappings.
enum class BlockSpace : uint8_t { kHeap, kMaps, kPool };

struct BlockRecord {
  BlockAction action = BlockAction::kNone;
  BlockSpace space = BlockSpace::kHeap;
  uint16_t flags = 0;    // kMaps: penna_map_flag; none for mremap
  uint32_t family = 0;   // kHeap: penna_alloc_family; kMaps: penna_map_how; untrusted: may be anything
  uint32_t pool = 0;     // kPool: its id, of a SITE record of the process
  uint32_t stack = 0;    // of the allocation or free; 0: not recorded
  uint64_t address = 0;  // of the block
  uint64_t size = 0;     // bytes requested, if allocated. kMaps: of the range, also when freed
};

inline BlockRecord read_block(const Record& record) {
  const auto block = [](BlockAction action, uint64_t address_family, uint32_t stack, uint64_t size) {
    return BlockRecord{action,
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
      return block(BlockAction::kAllocated, alloc.address_family, alloc.stack, alloc.size);
    }
    case PENNA_KIND_ALLOC_LARGE: {
      const auto alloc = record.as<penna_alloc_large>();
      return block(BlockAction::kAllocated, alloc.address_family, alloc.stack, alloc.size);
    }
    case PENNA_KIND_FREE: return block(BlockAction::kFreed, record.as<penna_free>().address_family, 0, 0);
    case PENNA_KIND_FREE_STACK: {
      const auto free = record.as<penna_free_stack>();
      return block(BlockAction::kFreed, free.address_family, free.stack, 0);
    }
    case PENNA_KIND_REALLOC_FAILED: return block(BlockAction::kKept, record.as<penna_free>().address_family, 0, 0);
    case PENNA_KIND_MAP: {
      const auto map = record.as<penna_map>();
      return {BlockAction::kAllocated,
              BlockSpace::kMaps,
              static_cast<uint16_t>(map.flags & 7),
              map.how,
              0,
              map.stack,
              map.address,
              map.bytes};
    }
    case PENNA_KIND_UNMAP: {
      const auto unmap = record.as<penna_unmap>();
      return {BlockAction::kFreed, BlockSpace::kMaps, 0, 0, 0, unmap.stack, unmap.address, unmap.bytes};
    }
    case PENNA_KIND_POOL_ALLOC: {
      const auto alloc = record.as<penna_pool_alloc>();
      return {BlockAction::kAllocated, BlockSpace::kPool, 0, 0, alloc.pool, alloc.stack, alloc.address, alloc.size};
    }
    case PENNA_KIND_POOL_FREE: {
      const auto free = record.as<penna_pool_free>();
      return {BlockAction::kFreed, BlockSpace::kPool, 0, 0, free.pool, free.stack, free.address, 0};
    }
    default: return {};
  }
}

// The same for users of the heap only: kNone for everything else.
inline BlockRecord read_heap_block(const Record& record) {
  const BlockRecord block = read_block(record);
  return block.space == BlockSpace::kHeap ? block : BlockRecord{};
}

}  // namespace penna
