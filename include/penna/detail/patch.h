/* SPDX-License-Identifier: MIT
 *
 * patch.h: writes slots into code that other threads may be running.
 *
 * How: pages are made writable in windows of up to PENNA_WINDOW_BYTES, so that neighbours share the system calls: writable
 * and executable at once, because other threads may be in them. Each slot is swapped by one store (arch/linux.h); when the
 * window is closed the protection is put back, and at the end membarrier(SYNC_CORE) makes every core forget what it had
 * fetched. A forked child that finds a window of its parent's open closes it.
 * Invariant: at rest no page is both writable and executable that was not so before; only slots change.
 */
#ifndef PENNA_DETAIL_PATCH_H
#define PENNA_DETAIL_PATCH_H

#include "penna/detail/elf_module.h"

enum { PENNA_WINDOW_BYTES = 256 << 10, PENNA_PAGE_BYTES = 4096 };
enum { PENNA_PROT_READ = 1, PENNA_PROT_WRITE = 2, PENNA_PROT_EXEC = 4 };
enum {
  PENNA_MEMBARRIER_SYNC_CORE = 32,          /* MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE */
  PENNA_MEMBARRIER_REGISTER_SYNC_CORE = 64, /* ..._REGISTER_... */
  PENNA_EPERM = 1
};

struct penna_patcher {
  struct penna_switchboard* board; /* where the open window is noted */
  int dirty;
};

static inline long penna_mprotect(uintptr_t at, uintptr_t bytes, int protection) {
  return penna_arch_syscall(PENNA_SYS_mprotect, (long)at, (long)bytes, protection, 0, 0, 0);
}

/* Asks the kernel, once and early, for the right to use the barrier: later it is slow. */
static inline void penna_prepare_patching(void) {
  penna_arch_syscall(PENNA_SYS_membarrier, PENNA_MEMBARRIER_REGISTER_SYNC_CORE, 0, 0, 0, 0, 0);
}

/* Every core that runs a thread of this process executes a serialising instruction. */
static inline void penna_synchronise_cores(void) {
  const long done = penna_arch_syscall(PENNA_SYS_membarrier, PENNA_MEMBARRIER_SYNC_CORE, 0, 0, 0, 0, 0);
  if (done != -PENNA_EPERM) return; /* not yet asked for, or lost by exec */
  penna_prepare_patching();
  penna_arch_syscall(PENNA_SYS_membarrier, PENNA_MEMBARRIER_SYNC_CORE, 0, 0, 0, 0, 0);
}

static inline void penna_close_window(struct penna_switchboard* board) {
  if (board->window_bytes == 0) return;
  penna_mprotect((uintptr_t)board->window_at, (uintptr_t)board->window_bytes, (int)board->window_protection);
  board->window_bytes = 0;
}

/* Makes the slot's bytes writable. 0 when the system does not allow it. */
static inline int penna_open_window(struct penna_switchboard* board, const struct penna_elf_range* code,
                                    uintptr_t slot) {
  const uintptr_t page = ~(uintptr_t)(PENNA_PAGE_BYTES - 1), window = ~(uintptr_t)(PENNA_WINDOW_BYTES - 1);
  const uintptr_t code_at = code->start & page, code_end = (code->end + PENNA_PAGE_BYTES - 1) & page;
  uintptr_t at = slot & window, end = (slot & window) + PENNA_WINDOW_BYTES;
  if (board->window_bytes != 0 && slot >= board->window_at &&
      slot + PENNA_SLOT_BYTES <= board->window_at + board->window_bytes)
    return 1;
  penna_close_window(board);
  if (code->start == code->end) return 0;
  if (code->protection & PENNA_PROT_WRITE) return 1;
  if (at < code_at) at = code_at;
  if (end > code_end) end = code_end;
  /* Noted first: whoever dies in between leaves no page writable behind. */
  board->window_at = at;
  board->window_protection = (uint32_t)code->protection;
  board->window_bytes = end - at;
  if (penna_mprotect(at, end - at, PENNA_PROT_READ | PENNA_PROT_WRITE | PENNA_PROT_EXEC) == 0) return 1;
  penna_close_window(board);
  return 0;
}

/* penna_switcher's `write`. 0, and nothing has changed, when something else is there (a debugger's breakpoint), the slot
 * straddles two words, or the system forbids it. */
static inline int penna_patch_slot(struct penna_patcher* patcher, const struct penna_elf_range* code, uintptr_t slot,
                                   const unsigned char* from, const unsigned char* to) {
  if (!penna_arch_slot_fits(slot) || !penna_slot_holds(slot, from)) return 0;
  if (!penna_open_window(patcher->board, code, slot) || !penna_arch_swap_slot(slot, from, to)) return 0;
  patcher->dirty = 1;
  return 1;
}

static inline void penna_finish_patching(struct penna_patcher* patcher) {
  penna_close_window(patcher->board);
  if (patcher->dirty) penna_synchronise_cores();
  patcher->dirty = 0;
}

/* ---- The lock -------------------------------------------------------------------------------------------------------
 * Holds the process id, so that a forked child sees that the holder stayed behind: then the work is half done, and a window
 * may be open. */
static inline int penna_try_lock_board(struct penna_switchboard* board) {
  const uint32_t self = (uint32_t)penna_arch_syscall(PENNA_SYS_getpid, 0, 0, 0, 0, 0, 0);
  uint32_t holder = __atomic_load_n(&board->lock, __ATOMIC_RELAXED);
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

#endif
