// SPDX-License-Identifier: MIT
// Mappings that the program makes through libc's functions, and the program break.
//
// Not recorded: libc's internal mappings. malloc's own mmap and brk are part of blocks that are recorded already; the
// dynamic linker's mappings are modules, which have their own records; stacks of threads belong to libc. Timestamps: of
// a mapping after the real call, of an unmapping before; written if the call succeeded. In between, the range has no
// owner.
// Invariant: results and errno are those of the real functions.
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>

#include "agent/core/attachment.h"
#include "agent/core/pages.h"
#include "agent/core/sys.h"
#include "agent/hooks/alloc/alloc_record.h"
#include "agent/modules/loader.h"
#include "agent/modules/real.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

// Where libc's functions are patched, its own calls of them arrive here, too.
__attribute__((noinline)) bool is_libcs(uintptr_t caller) { return map_of(caller) == libc_map(); }

// Mappings made by a patched allocator are part of its blocks.
__attribute__((always_inline)) inline bool recording_maps() {
  if (!recording(PENNA_ALLOC) || (has_alloc_options() && inside_allocator())) return false;
  return attachment == nullptr || !is_libcs(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
}

__attribute__((always_inline)) inline bool have_real() {
  return __builtin_expect(real.sbrk != nullptr, 1) || (resolve_real_functions() && real.sbrk != nullptr);
}

__attribute__((noinline)) void write_map(uint64_t address, uint64_t bytes, penna_map_how how, uint16_t flags,
                                         const unwind::HookFrame* hook) {
  const uint32_t stack = current_stack(hook->caller());
  write_record(PENNA_KIND_MAP, penna_map{address, bytes, stack, static_cast<uint16_t>(how), flags}, PENNA_ALLOC,
               penna_now());
}

__attribute__((noinline)) void write_unmap(uint64_t address, uint64_t bytes, uint64_t time,
                                           const unwind::HookFrame* hook) {
  const uint32_t stack = current_stack(hook->caller());
  write_record(PENNA_KIND_UNMAP, penna_unmap{address, bytes, stack, 0}, PENNA_ALLOC, time);
}

uint64_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

uint16_t flags_of(int protection, int flags) {
  return static_cast<uint16_t>(((flags & MAP_ANONYMOUS) == 0 ? PENNA_MAP_FILE : 0) |
                               ((flags & MAP_TYPE) != MAP_PRIVATE ? PENNA_MAP_SHARED : 0) |
                               (protection == PROT_NONE ? PENNA_MAP_NO_ACCESS : 0));
}

// Before malloc and its kin are known, for the few calls that the lookup may make.
void* map_early(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  const long got =
      sys(SYS_mmap, reinterpret_cast<long>(address), static_cast<long>(bytes), protection, flags, fd, offset);
  if (!sys_failed(got)) return reinterpret_cast<void*>(got);
  errno = static_cast<int>(-got);
  return MAP_FAILED;
}

int unmap_early(void* address, size_t bytes) {
  const long answer = sys(SYS_munmap, reinterpret_cast<long>(address), static_cast<long>(bytes));
  if (!sys_failed(answer)) return 0;
  errno = static_cast<int>(-answer);
  return -1;
}

// The program break moved, by whichever function.
__attribute__((always_inline)) inline void record_break(uint64_t before, uint64_t after, uint64_t time) {
  if (after > before) write_map(before, after - before, PENNA_MAP_BRK, 0, unwind::HookFrame::here());
  if (after < before) write_unmap(after, before - after, time, unwind::HookFrame::here());
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

PENNA_EXPORT void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (!recording_maps())
    return have_real() ? real.mmap(address, bytes, protection, flags, fd, offset)
                       : map_early(address, bytes, protection, flags, fd, offset);
  void* got = real.mmap(address, bytes, protection, flags, fd, offset);
  if (got != MAP_FAILED)
    write_map(number(got), page_up(bytes), PENNA_MAP_MMAP, flags_of(protection, flags),
              penna::unwind::HookFrame::here());
  return got;
}

PENNA_EXPORT void* mmap64(void* address, size_t bytes, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

PENNA_EXPORT int munmap(void* address, size_t bytes) {
  if (!recording_maps()) return have_real() ? real.munmap(address, bytes) : unmap_early(address, bytes);
  const uint64_t now = penna_now();
  const int error = real.munmap(address, bytes);
  if (error == 0) write_unmap(number(address), page_up(bytes), now, penna::unwind::HookFrame::here());
  return error;
}

PENNA_EXPORT void* mremap(void* address, size_t old_bytes, size_t bytes, int flags, ...) {
  va_list list;
  va_start(list, flags);
  void* wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(list, void*) : nullptr;
  va_end(list);
  if (!have_real()) return errno = ENOMEM, MAP_FAILED;
  const bool is_recorded = recording_maps();
  const uint64_t now = is_recorded ? penna_now() : 0;
  void* got = real.mremap(address, old_bytes, bytes, flags, wanted);
  if (!is_recorded || got == MAP_FAILED) return got;
  // With the flag, the old range stays mapped, and is empty (mremap(2)).
  if ((flags & MREMAP_DONTUNMAP) == 0)
    write_unmap(number(address), page_up(old_bytes), now, penna::unwind::HookFrame::here());
  write_map(number(got), page_up(bytes), PENNA_MAP_MREMAP, 0, penna::unwind::HookFrame::here());
  return got;
}

PENNA_EXPORT int brk(void* end) {
  if (!have_real()) return errno = ENOMEM, -1;
  if (!recording_maps()) return real.brk(end);
  const uint64_t now = penna_now(), before = number(real.sbrk(0));
  const int error = real.brk(end);
  if (error == 0) record_break(before, number(end), now);
  return error;
}

PENNA_EXPORT void* sbrk(intptr_t by) {
  if (!have_real()) return errno = ENOMEM, reinterpret_cast<void*>(-1);
  if (by == 0 || !recording_maps()) return real.sbrk(by);
  const uint64_t now = penna_now();
  void* before = real.sbrk(by);
  if (before != reinterpret_cast<void*>(-1))
    record_break(number(before), number(before) + static_cast<uint64_t>(by), now);
  return before;
}
