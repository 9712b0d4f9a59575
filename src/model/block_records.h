// SPDX-License-Identifier: MIT
// What a record says of a block of the heap: one reading of the kinds in which blocks come and go (include/penna/event.h).
//
// Why: a block that is freed with a stack is as free as one without. Invariant: two records that say the same of a block read the same.
#pragma once

#include <cstdint>

#include "penna/event.h"
#include "recording/records.h"

namespace penna {

enum class BlockDeed : uint8_t {
  kNone,  // it speaks of no block
  kAllocated,
  kFreed,
  kKept  // by a realloc that failed: it takes back the thread's kFreed just before
};

struct BlockRecord {
  BlockDeed deed = BlockDeed::kNone;
  uint32_t family = 0;   // penna_alloc_family; of an untrusted recording any byte
  uint32_t stack = 0;    // of the one who allocates or frees; 0: not recorded
  uint64_t address = 0;  // of the block
  uint64_t size = 0;     // bytes asked for, when allocated
};

inline BlockRecord read_block(const Record& record) {
  const auto block = [](BlockDeed deed, uint64_t address_family, uint32_t stack, uint64_t size) {
    return BlockRecord{deed, static_cast<uint32_t>(address_family >> 56), stack, address_family & PENNA_ADDRESS_MASK,
                       size};
  };
  switch (record.kind) {
    case PENNA_KIND_ALLOC: {
      const auto alloc = record.as<penna_alloc>();
      return block(BlockDeed::kAllocated, alloc.address_family, alloc.stack, alloc.size);
    }
    case PENNA_KIND_ALLOC_LARGE: {
      const auto alloc = record.as<penna_alloc_large>();
      return block(BlockDeed::kAllocated, alloc.address_family, alloc.stack, alloc.size);
    }
    case PENNA_KIND_FREE: return block(BlockDeed::kFreed, record.as<penna_free>().address_family, 0, 0);
    case PENNA_KIND_FREE_STACK: {
      const auto free = record.as<penna_free_stack>();
      return block(BlockDeed::kFreed, free.address_family, free.stack, 0);
    }
    case PENNA_KIND_REALLOC_FAILED: return block(BlockDeed::kKept, record.as<penna_free>().address_family, 0, 0);
    default: return {};
  }
}

}  // namespace penna
