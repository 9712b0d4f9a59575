// SPDX-License-Identifier: MIT
// See near_ranges.h.
#include "agent/modules/near_ranges.h"

#include <linux/memfd.h>
#include <sys/mman.h>

#include "agent/core/attachment.h"
#include "agent/core/pages.h"
#include "agent/core/return_trampolines.h"
#include "agent/core/sys.h"
#include "penna/patch_plan.h"

namespace penna::agent {
namespace {

constexpr uint64_t kPoolBytes = 64 << 10;  // shared by the functions of one module
constexpr int kIsCode = PROT_READ | PROT_EXEC;

struct NearRange {
  uintptr_t start;
  uint64_t bytes;    // in use, from `start`; 0: unused; release: stored last
  uintptr_t module;  // start of its module; 0: the entry is free
  NearRoom pages;    // mapped
  bool is_pool;      // has room for more
  bool of_pointers;  // by keep_near_function()
};
constexpr uint32_t kMaxRanges = 4096;
NearRange ranges[kMaxRanges];
uint32_t range_count;    // only grows; release: after the entry was filled
uint32_t pointer_count;  // of ranges with of_pointers set

void unmap(NearRoom room) {
  if (room.bytes == 0) return;
  forget_changes(room.start, room.start + room.bytes);
  sys(SYS_munmap, static_cast<long>(room.start), static_cast<long>(room.bytes));
}

bool map_at(uintptr_t start, uint64_t bytes, int protection) {
  const long got = sys(SYS_mmap, static_cast<long>(start), static_cast<long>(bytes), protection,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == static_cast<long>(start)) return true;
  if (!sys_failed(got)) sys(SYS_munmap, got, static_cast<long>(bytes));  // before Linux 4.17 a hint only
  return false;
}

// A free entry, or a new one; null: the table is full.
NearRange* take_entry() {
  for (uint32_t i = 0; i < range_count; ++i)
    if (__atomic_load_n(&ranges[i].module, __ATOMIC_ACQUIRE) == 0)
      return &ranges[i];  // pairs with forget_near_memory()
  if (range_count == kMaxRanges) return nullptr;
  __atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);  // pairs with range_of(); it still has no bytes
  return &ranges[range_count - 1];
}

bool add_range(uintptr_t module_start, NearRoom used, NearRoom pages, bool is_pool, bool of_pointers) {
  NearRange* range = take_entry();
  if (range == nullptr) return false;
  note_mapping(pages.start, pages.bytes);
  range->start = used.start;
  range->pages = pages;
  range->is_pool = is_pool;
  range->of_pointers = of_pointers;
  __atomic_store_n(&range->module, module_start, __ATOMIC_RELEASE);  // pairs with forget_near_memory()
  __atomic_store_n(&range->bytes, used.bytes, __ATOMIC_RELEASE);     // pairs with range_of()
  if (of_pointers) __atomic_store_n(&pointer_count, pointer_count + 1, __ATOMIC_RELEASE);
  return true;
}

NearRange* pool_of(uintptr_t module_start) {
  for (uint32_t i = 0; i < range_count; ++i) {
    NearRange& range = ranges[i];
    if (range.module == module_start && range.is_pool && range.pages.bytes - range.bytes >= kNearStubBytes)
      return &range;
  }
  return nullptr;
}

const NearRange* range_of(uintptr_t resume) {
  const uint32_t known = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);  // pairs with take_entry()
  for (uint32_t i = 0; i < known; ++i) {
    const uint64_t bytes = __atomic_load_n(&ranges[i].bytes, __ATOMIC_ACQUIRE);  // pairs with add_range()
    if (resume - ranges[i].start < bytes) return &ranges[i];
  }
  return nullptr;
}

uintptr_t function_before(uintptr_t resume) {
  penna_stub stub;  // a stub may be anywhere
  __builtin_memcpy(&stub, reinterpret_cast<const uint8_t*>(resume) - PENNA_STUB_CALL - sizeof stub, sizeof stub);
  return stub.function;
}

NearRoom punned_room(uintptr_t place) {
  int32_t distance;
  __builtin_memcpy(&distance, reinterpret_cast<const uint8_t*>(place) + 1, sizeof distance);
  // Before the stub's code: the jump to the hook, and the stub's data (plan/near_memory.h).
  constexpr uint64_t kInFront = 16 + sizeof(penna_stub);
  const uintptr_t start = place + 5 + static_cast<uintptr_t>(intptr_t{distance}) - kInFront;
  const uintptr_t first = page_down(start), end = page_up(start + kNearStubBytes);
  if (start < (uintptr_t{1} << 16) || end >= (uintptr_t{1} << 47) || !map_at(first, end - first, kIsCode)) return {};
  return {start, kNearStubBytes};
}

}  // namespace

// The first free place below, else far above, beyond the growth of the program's heap.
NearRoom reserve_near(uintptr_t start, uintptr_t end, uint64_t bytes, int protection) {
  constexpr uint64_t kFarthest = (uint64_t{1} << 31) - (1 << 20), kStep = 1 << 20, kHeapRoom = 256 << 20;
  const uint64_t first = page_down(start), size = end - first;
  if (size + bytes > kFarthest / 2) return {};
  const uint64_t reach = kFarthest - size;
  // Starts where the last one was found: most of what lies between is in use, and most rooms are returned at once.
  static uintptr_t last;
  const uintptr_t seen = __atomic_load_n(&last, __ATOMIC_RELAXED);
  if (seen != 0 && seen + bytes + kPageBytes <= first && first - seen < reach && map_at(seen, bytes, protection))
    return {seen, bytes};
  for (uint64_t below = bytes + kPageBytes; below < reach && below + kStep < first; below += kStep)
    if (map_at(first - below, bytes, protection)) {
      __atomic_store_n(&last, first - below, __ATOMIC_RELAXED);
      return {first - below, bytes};
    }
  for (uint64_t above = kHeapRoom; above + bytes < reach; above += kStep)
    if (map_at(page_up(end) + above, bytes, protection)) return {page_up(end) + above, bytes};
  return {};
}

NearRoom reserve_near_function(uintptr_t start, uintptr_t end, uintptr_t place, bool alone) {
  if (!alone) return punned_room(place);
  const NearRange* pool = pool_of(start);
  if (pool == nullptr) {
    const NearRoom pages = reserve_near(start, end, kPoolBytes, kIsCode);
    if (pages.bytes == 0) return {};
    if (!add_range(start, {pages.start, 0}, pages, true, true)) {
      unmap(pages);
      return {};
    }
    pool = pool_of(start);
  }
  return {pool->start + pool->bytes, kNearStubBytes};
}

void keep_near_function(uintptr_t module_start, NearRoom room, uint64_t bytes) {
  NearRange* pool = pool_of(module_start);
  if (pool != nullptr && room.start == pool->start + pool->bytes) {
    const uint64_t used = (bytes + 15) & ~uint64_t{15};
    __atomic_store_n(&pool->bytes, pool->bytes + used, __ATOMIC_RELEASE);  // pairs with range_of()
    return;
  }
  const uintptr_t first = page_down(room.start);
  const NearRoom pages{first, page_up(room.start + room.bytes) - first};
  if (bytes == 0 || !add_range(module_start, {room.start, bytes}, pages, false, true)) unmap(pages);
}

bool open_near(NearRoom room, uint64_t bytes) {
  return bytes == 0 || !sys_failed(sys(SYS_mprotect, static_cast<long>(room.start), static_cast<long>(page_up(bytes)),
                                       PROT_READ | PROT_WRITE));
}

// The process may be forbidden to make writable memory executable (PR_SET_MDWE, SELinux): then the same bytes are
// mapped from a file.
bool close_near(NearRoom room, uint64_t bytes) {
  const auto start = static_cast<long>(room.start), length = static_cast<long>(page_up(bytes));
  if (length == 0 || !sys_failed(sys(SYS_mprotect, start, length, kIsCode))) return true;
  const long file = sys(SYS_memfd_create, reinterpret_cast<long>("penna-near"), MFD_CLOEXEC);
  if (sys_failed(file)) return false;
  const bool done = sys(SYS_pwrite64, file, start, length, 0) == length &&
                    sys(SYS_mmap, start, length, kIsCode, MAP_PRIVATE | MAP_FIXED, file, 0) == start;
  sys(SYS_close, file);
  return done;
}

bool keep_near(uintptr_t module_start, NearRoom room, uint64_t bytes) {
  const uint64_t used = page_up(bytes);
  if (room.bytes > used) unmap({room.start + used, room.bytes - used});
  if (used == 0 || add_range(module_start, {room.start, bytes}, {room.start, used}, false, false)) return true;
  unmap({room.start, used});
  return false;
}

void forget_near_memory(uintptr_t module_start) {
  const uint32_t known = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < known; ++i) {
    NearRange& range = ranges[i];
    if (__atomic_load_n(&range.module, __ATOMIC_ACQUIRE) != module_start) continue;  // pairs with add_range()
    const uint64_t bytes = range.bytes;
    __atomic_store_n(&range.bytes, 0, __ATOMIC_RELEASE);  // pairs with range_of()
    mark_return_links_stale(range.start, range.start + bytes);
    const NearRoom pages = range.pages;
    __atomic_store_n(&range.module, 0, __ATOMIC_RELEASE);  // pairs with take_entry()
    unmap(pages);
  }
}

uintptr_t function_of_stub(uintptr_t resume) { return range_of(resume) != nullptr ? function_before(resume) : 0; }

bool is_near_memory(uintptr_t address) { return range_of(address) != nullptr; }

uintptr_t function_of_pointer_stub(uintptr_t resume) {
  if (__atomic_load_n(&pointer_count, __ATOMIC_ACQUIRE) == 0) return 0;  // pairs with add_range()
  const NearRange* range = range_of(resume);
  return range != nullptr && range->of_pointers ? function_before(resume) : 0;
}

}  // namespace penna::agent
