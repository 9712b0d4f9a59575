/* SPDX-License-Identifier: MIT
 *
 * patch.h: writes slots into code that other threads may be running.
 *
 * How: through another view of the page, so that no executable page is or was ever writable: /proc/self/mem, which the
 * kernel lets a process write to as a debugger would. It may copy byte by byte, so only one byte changes under running
 * threads (docs/decisions/0040). Where that file is unavailable, the page is replaced in one step by a copy with these
 * bytes changed, from a memfd. Finally membarrier(SYNC_CORE) makes every core discard what it had fetched.
 * Invariant: no page becomes writable that is executable; only slots change.
 */
#ifndef PENNA_DETAIL_PATCH_H
#define PENNA_DETAIL_PATCH_H

#include "penna/detail/elf_module.h"

PENNA_C_CODE_BEGIN

enum { PENNA_PAGE_BYTES = 4096 };
enum { PENNA_PROT_READ = 1, PENNA_PROT_WRITE = 2, PENNA_PROT_EXEC = 4 };
enum {
  PENNA_MEMBARRIER_SYNC_CORE = 32,          /* MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE */
  PENNA_MEMBARRIER_REGISTER_SYNC_CORE = 64, /* ..._REGISTER_... */
  PENNA_EPERM = 1
};

struct penna_patcher {
  struct penna_switchboard* board;
  int dirty;
  int memory; /* the descriptor of /proc/thread-self/mem + 1; 0: not opened yet, -1: not available */
};

/* Registers for the barrier, once and early: registering later is slow. */
static inline void penna_prepare_patching(void) {
  penna_arch_syscall(PENNA_SYS_membarrier, PENNA_MEMBARRIER_REGISTER_SYNC_CORE, 0, 0, 0, 0, 0);
}

/* Every core that runs a thread of this process executes a serialising instruction. */
static inline void penna_synchronise_cores(void) {
  const long done = penna_arch_syscall(PENNA_SYS_membarrier, PENNA_MEMBARRIER_SYNC_CORE, 0, 0, 0, 0, 0);
  if (done != -PENNA_EPERM) return; /* not registered yet, or lost by exec */
  penna_prepare_patching();
  penna_arch_syscall(PENNA_SYS_membarrier, PENNA_MEMBARRIER_SYNC_CORE, 0, 0, 0, 0, 0);
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

static inline int penna_write_memory_file(struct penna_patcher* patcher, uintptr_t at, const unsigned char* bytes,
                                          unsigned count) {
  enum { PENNA_AT_FDCWD = -100, PENNA_O_RDWR_CLOEXEC = 02000002 };
  if (patcher->memory == 0) {
    const long file = penna_arch_syscall(PENNA_SYS_openat, PENNA_AT_FDCWD, (long)"/proc/thread-self/mem",
                                         PENNA_O_RDWR_CLOEXEC, 0, 0, 0);
    patcher->memory = file < 0 ? -1 : (int)file + 1;
  }
  if (patcher->memory < 0) return 0;
  return penna_arch_syscall(PENNA_SYS_pwrite64, patcher->memory - 1, (long)bytes, (long)count, (long)at, 0, 0) ==
         (long)count;
}

/* Replaces bytes within one page. A thread that executes there sees the old page or the new one: they are exchanged
 * under the lock of the memory map. */
static inline int penna_replace_page(const struct penna_elf_range* code, uintptr_t at, const unsigned char* bytes,
                                     unsigned count) {
  enum { PENNA_MFD_CLOEXEC = 1, PENNA_MAP_PRIVATE_FIXED = 0x12 };
  const uintptr_t page = at & ~(uintptr_t)(PENNA_PAGE_BYTES - 1);
  /* A file for each page, closed again at once: the mapping keeps it. */
  const long file = penna_arch_syscall(PENNA_SYS_memfd_create, (long)"penna-code", PENNA_MFD_CLOEXEC, 0, 0, 0, 0);
  long done;
  if (file < 0) return 0;
  done =
      penna_arch_syscall(PENNA_SYS_pwrite64, file, (long)page, PENNA_PAGE_BYTES, 0, 0, 0) == PENNA_PAGE_BYTES &&
      penna_arch_syscall(PENNA_SYS_pwrite64, file, (long)bytes, (long)count, (long)(at - page), 0, 0) == (long)count &&
      penna_arch_syscall(PENNA_SYS_mmap, (long)page, PENNA_PAGE_BYTES, code->protection, PENNA_MAP_PRIVATE_FIXED, file,
                         0) == (long)page;
  penna_arch_syscall(PENNA_SYS_close, file, 0, 0, 0, 0, 0);
  return (int)done;
}

/* Writes to code that is not writable, or always was. Running threads see one byte as a whole, and no more.
 * Returns 0 if the system does not allow it: then nothing has changed or, if the write crosses a page, only the part in
 * the first. */
static inline int penna_write_code(struct penna_patcher* patcher, const struct penna_elf_range* code, uintptr_t at,
                                   const unsigned char* bytes, unsigned count) {
  if (code->start == code->end) return 0;
  if (!PENNA_ARCH_HAS_MEMORY_FILE || !penna_write_memory_file(patcher, at, bytes, count)) {
    const unsigned first = PENNA_PAGE_BYTES - (unsigned)(at & (PENNA_PAGE_BYTES - 1)),
                   here = count < first ? count : first;
    if (!penna_replace_page(code, at, bytes, here)) return 0;
    if (here < count && !penna_replace_page(code, at + here, bytes + here, count - here)) return 0;
  }
  patcher->dirty = 1;
  return 1;
}

/* Writes the differing part of a slot under running threads, in a page that is writable, by one store; returns 0 if the
 * slot holds something else. Compare-and-swap, because a debugger may be writing its breakpoint. Sequentially
 * consistent, as there is no reader to pair with. ThreadSanitizer treats code as memory that is never written: it would
 * crash if it saw this store. */
__attribute__((no_sanitize("thread"))) static inline int penna_swap_slot(const struct penna_slot_change* change) {
  penna_slot_unit from, to;
  __builtin_memcpy(&from, change->from, sizeof from);
  __builtin_memcpy(&to, change->to, sizeof to);
  if (!__atomic_compare_exchange_n((penna_slot_unit*)change->slot, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    return 0;
  penna_arch_code_changed(change->slot);
  return 1;
}

/* The `write` of a penna_switcher. Returns 0, and changes nothing, if the slot holds something else (a debugger's
 * breakpoint), no store can write the slot as a whole, or the system forbids it. */
static inline int penna_patch_slot(struct penna_patcher* patcher, const struct penna_elf_range* code,
                                   const struct penna_slot_change* change) {
  const uintptr_t slot = change->slot;
  if (slot % sizeof(penna_slot_unit) != 0 || !penna_slot_holds(slot, change->from)) return 0;
  if (code->protection & PENNA_PROT_WRITE) {
    if (!penna_swap_slot(change)) return 0;
    patcher->dirty = 1;
    return 1;
  }
  return penna_write_code(patcher, code, slot, change->to, sizeof(penna_slot_unit)) &&
         penna_slot_holds(slot, change->to);
}

static inline void penna_finish_patching(struct penna_patcher* patcher) {
  if (patcher->memory > 0) penna_arch_syscall(PENNA_SYS_close, patcher->memory - 1, 0, 0, 0, 0, 0);
  patcher->memory = 0;
  if (patcher->dirty) penna_synchronise_cores();
  patcher->dirty = 0;
}

/* Left open by a lock holder of a version that made code writable in windows. */
static inline void penna_close_window(struct penna_switchboard* board) {
  if (board->window_bytes == 0) return;
  penna_arch_syscall(PENNA_SYS_mprotect, (long)board->window_at, (long)board->window_bytes,
                     (long)board->window_protection, 0, 0, 0);
  board->window_bytes = 0;
}

/* ---- The lock -------------------------------------------------------------------------------------------------------
 * Holds the process id, so that a forked child sees that the holder stayed in the parent: then the work is half done,
 * and a window may be open. */
static inline int penna_try_lock_board(struct penna_switchboard* board) {
  const uint32_t self = (uint32_t)penna_arch_syscall(PENNA_SYS_getpid, 0, 0, 0, 0, 0, 0);
  uint32_t holder = __atomic_load_n(&board->lock, __ATOMIC_RELAXED);
  /* The holder may be this very thread, interrupted by a signal: a handler that waited would never return. */
  if (holder == self) return 0;
  /* Acquire: pairs with the release in penna_unlock_board(). */
  if (!__atomic_compare_exchange_n(&board->lock, &holder, self, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return 0;
  if (holder != 0) penna_close_window(board);
  return 1;
}
static inline void penna_lock_board(struct penna_switchboard* board) {
  while (!penna_try_lock_board(board)) penna_arch_syscall(PENNA_SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}
static inline void penna_unlock_board(struct penna_switchboard* board) {
  __atomic_store_n(&board->lock, 0, __ATOMIC_RELEASE); /* pairs with penna_try_lock_board() */
}

/* ---- The list of requests, which grows as needed ----------------------------------------------------------------- */

static inline struct penna_requests* penna_requests_of(struct penna_switchboard* board) {
  return board->grown != 0 ? (struct penna_requests*)(uintptr_t)board->grown : &board->requests;
}

/* Makes room for one more record of this size. Returns 0 if there is no memory. */
static inline int penna_grow_requests(struct penna_switchboard* board, uint32_t bytes) {
  enum { PENNA_MOST_BYTES = 1 << 30, PENNA_READ_WRITE = PENNA_PROT_READ | PENNA_PROT_WRITE, PENNA_ANONYMOUS = 0x22 };
  struct penna_requests* old = penna_requests_of(board);
  const uint32_t header = (uint32_t)offsetof(struct penna_requests, records);
  uint32_t size = 4 * PENNA_PAGE_BYTES;
  long at;
  while (size < PENNA_MOST_BYTES && size < 2 * old->used + bytes + header) size *= 2;
  if (size >= PENNA_MOST_BYTES) return 0;
  at = penna_arch_syscall(PENNA_SYS_mmap, 0, (long)size, PENNA_READ_WRITE, PENNA_ANONYMOUS, -1, 0);
  if (at < 0 && at >= -4095) return 0;
  struct penna_requests* grown = (struct penna_requests*)at;
  grown->room = size - header;
  grown->used = old->used;
  __builtin_memcpy(penna_request_at(grown, 0), penna_request_at(old, 0), old->used);
  board->grown = (uintptr_t)grown;
  if (old != &board->requests)
    penna_arch_syscall(PENNA_SYS_munmap, (long)old, (long)old->room + (long)header, 0, 0, 0, 0);
  return 1;
}

/* Returns 0, and changes nothing, if there is no memory, or if the pattern is longer than PENNA_MAX_PATTERN. */
static inline int penna_remember_request(struct penna_switchboard* board, const char* pattern, uint32_t kinds,
                                         struct penna_request request) {
  if (penna_add_request(penna_requests_of(board), pattern, kinds, request)) return 1;
  const uint32_t length = penna_pattern_length(pattern);
  return length <= PENNA_MAX_PATTERN && penna_grow_requests(board, penna_request_bytes(length)) &&
         penna_add_request(penna_requests_of(board), pattern, kinds, request);
}

PENNA_C_CODE_END

#endif
