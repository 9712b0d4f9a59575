// SPDX-License-Identifier: MIT
// GrowingTable: a growing array whose entries never move. More memory is mapped as entries are added.
//
// Why not one array: readers hold addresses of entries without a lock, and most processes need few entries.
// Invariant: entries below count() are usable, and zero until they are filled; count() never shrinks. One thread at a
// time adds; any number read.
#pragma once

#include <stdint.h>

#include "agent/core/attachment.h"

namespace penna::agent {

// Consists of up to kParts parts of kPart entries; the first part is static.
template <typename T, uint32_t kPart, uint32_t kParts>
class GrowingTable {
 public:
  uint32_t count() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }  // pairs with the release in add()
  T& operator[](uint32_t number) { return number < kPart ? first_[number] : more_[number / kPart - 1][number % kPart]; }

  // Null: out of memory, or full.
  T* add() {
    const uint32_t number = count_, part = number / kPart;
    if (part == kParts || (part != 0 && !has_part(part - 1))) return nullptr;
    __atomic_store_n(&count_, number + 1, __ATOMIC_RELEASE);
    return &(*this)[number];
  }

  // for (T& entry : table)
  struct Iterator {
    GrowingTable* table;
    uint32_t number;
    T& operator*() const { return (*table)[number]; }
    Iterator& operator++() { return ++number, *this; }
    bool operator!=(const Iterator& other) const { return number != other.number; }
  };
  Iterator begin() { return {this, 0}; }
  Iterator end() { return {this, count()}; }

 private:
  bool has_part(uint32_t part) {
    if (more_[part] != nullptr) return true;
    more_[part] = static_cast<T*>(map_kept(kPart * sizeof(T)));
    return more_[part] != nullptr;
  }

  T first_[kPart];
  T* more_[kParts - 1];
  uint32_t count_;
};

}  // namespace penna::agent
