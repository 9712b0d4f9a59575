// SPDX-License-Identifier: MIT
// GrowingTable: entries by number that stay where they are. Memory for more is mapped when those that are there are
// used up.
//
// Why not one array: readers take no lock, and hold addresses of entries; and most processes need few.
// Invariant: entries below count() can be used, and are zero until somebody fills them; count() grows only. One thread
// at a time adds.
#pragma once

#include <stdint.h>
#include <sys/mman.h>

#include "agent/core/sys.h"

namespace penna::agent {

// In parts of kPart entries, of which the first is always there.
template <typename T, uint32_t kPart, uint32_t kParts>
class GrowingTable {
 public:
  uint32_t count() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }  // pairs with the release in add()
  T& operator[](uint32_t number) { return number < kPart ? first_[number] : more_[number / kPart - 1][number % kPart]; }

  // Null: there is no more memory, or no more numbers.
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
    const long got = sys(SYS_mmap, 0, kPart * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sys_failed(got)) return false;
    more_[part] = reinterpret_cast<T*>(got);
    return true;
  }

  T first_[kPart];
  T* more_[kParts - 1];
  uint32_t count_;
};

}  // namespace penna::agent
