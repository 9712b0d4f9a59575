/* SPDX-License-Identifier: MIT
 *
 * ring.h: a ring of fixed-size slots for many writers and one reader, in static or shared memory.
 *
 * Why: the smallest buffer that can be written from anywhere: threads, signal and interrupt handlers, firmware, kernels.
 * Writers are wait-free: no loop, no lock, at most two tries. No pointers inside: the slots follow the struct, so each
 * side may map it where it likes. Freestanding C11 and C++20, no calls.
 * Invariant: each record that was committed is read once, in the order of reservation; each one that was not is counted.
 *
 * A writer draws a ticket T from `write`. Ticket T belongs to slot T mod N, whose word says ticket << 2 | state:
 *
 *                  writer T: CAS, acquire [A]           writer T: CAS, release [B]
 *     (T, FREE) ------------------------> (T, RESERVED) ------------------------> (T, READY)
 *         | reader, passing T: CAS              | reader, abandon: CAS                | reader, after copying:
 *         |                                     v                                     | store, release [A]
 *         |                               (T, ABANDONED)                              |
 *         |                                     | writer T, late commit:              |
 *         |                                     v store, release [C]                  |
 *         |                               (T, FREE), out of date                      |
 *         |                                     | reader at T' = T + kN: store, release [A]
 *         v                                     v                                     v
 *     (T+N, FREE)                          (T', FREE)                            (T+N, FREE)
 *
 * Orderings: [A] a slot is given back by a release store, and taken by an acquire CAS: the reader is done with it.
 * [B] commit releases the payload to the reader's acquire load of the word. [C] a late writer's last stores are done
 * before the reader, by the same acquire load, lets anyone else have the slot. Everything else is relaxed.
 *
 * Dead tickets: a writer that finds its slot taken (more writers passed the check for room than there was room, or the
 * slot is abandoned) adds one to the slot's `dead` and leaves the ticket behind; the reader passes it.
 * Abandoned slots: the reader cannot know a dead writer from a slow one. The slot is skipped by reader and writers (these
 * try one ticket more) until its writer comes back, if ever: a slow writer never scribbles over another one's record.
 * Tickets count modulo 2^30: a writer may not sleep inside reserve or commit while exactly that many others pass.
 */
#ifndef PENNA_RING_H
#define PENNA_RING_H

#include <stddef.h>
#include <stdint.h>

/* Stands before each atomic step on shared memory; the model test makes it a switch between the actors. */
#ifndef PENNA_RING_STEP
#define PENNA_RING_STEP() ((void)0)
#endif

enum penna_slot_state { PENNA_SLOT_FREE = 0, PENNA_SLOT_RESERVED = 1, PENNA_SLOT_READY = 2, PENNA_SLOT_ABANDONED = 3 };
enum { PENNA_RING_MAX_SLOTS = 1 << 28 };

/*   0      +-------------------------------+
 *          | slot_count, slot_size         |  constant after init
 *   64     +-------------------------------+
 *          | write, dropped                |  writers add
 *   128    +-------------------------------+
 *          | read, abandoned               |  the reader stores
 *   192    +-------------------------------+
 *          | slots: u32 word, u32 dead,    |  slot_count times
 *          | slot_size bytes, padding to 8 |
 *          +-------------------------------+  */
struct penna_ring {
  uint32_t slot_count;                         /* power of two */
  uint32_t slot_size;                          /* bytes of a record */
  uint32_t write __attribute__((aligned(64))); /* next ticket */
  uint32_t dropped;                            /* records not taken, or taken back by abandonment */
  uint32_t read __attribute__((aligned(64)));  /* ticket that the reader waits for */
  uint32_t abandoned;                          /* slots that the reader gave up */
};
#ifdef __cplusplus
static_assert(sizeof(struct penna_ring) == 192 && offsetof(struct penna_ring, write) == 64 &&
                  offsetof(struct penna_ring, dropped) == 68 && offsetof(struct penna_ring, read) == 128 &&
                  offsetof(struct penna_ring, abandoned) == 132,
              "penna_ring is shared memory");
#else
_Static_assert(sizeof(struct penna_ring) == 192 && offsetof(struct penna_ring, write) == 64 &&
                   offsetof(struct penna_ring, dropped) == 68 && offsetof(struct penna_ring, read) == 128 &&
                   offsetof(struct penna_ring, abandoned) == 132,
               "penna_ring is shared memory");
#endif

struct penna_slot {
  uint32_t word; /* ticket << 2 | penna_slot_state */
  uint32_t dead; /* tickets of this slot whose writers left without it, not yet passed by the reader */
};

/* ---- Geometry ----------------------------------------------------------------------------------------------------- */

static inline size_t penna_ring_stride(uint32_t slot_size) {
  return sizeof(struct penna_slot) + (((size_t)slot_size + 7) & ~(size_t)7);
}

/* Bytes of a ring, struct and slots; its memory must be aligned to 64. */
static inline size_t penna_ring_bytes(uint32_t slot_count, uint32_t slot_size) {
  return sizeof(struct penna_ring) + slot_count * penna_ring_stride(slot_size);
}

static inline struct penna_slot* penna_ring_slot(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size,
                                                 uint32_t ticket) {
  return (struct penna_slot*)((char*)(ring + 1) + (ticket & (slot_count - 1)) * penna_ring_stride(slot_size));
}

static inline uint32_t penna_slot_word(uint32_t ticket, uint32_t state) { return ticket << 2 | state; }

/* Makes an empty ring in `penna_ring_bytes` of memory. 1, or 0 when slot_count is 0, no power of two, or above
 * PENNA_RING_MAX_SLOTS. Before anyone else uses it. */
static inline int penna_ring_init(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size) {
  if (slot_count == 0 || (slot_count & (slot_count - 1)) != 0 || slot_count > PENNA_RING_MAX_SLOTS) return 0;
  ring->slot_count = slot_count;
  ring->slot_size = slot_size;
  ring->write = ring->dropped = ring->read = ring->abandoned = 0;
  for (uint32_t ticket = 0; ticket < slot_count; ticket++) {
    struct penna_slot* slot = penna_ring_slot(ring, slot_count, slot_size, ticket);
    slot->word = penna_slot_word(ticket, PENNA_SLOT_FREE);
    slot->dead = 0;
  }
  return 1;
}

/* ---- Writers: any thread, any handler ----------------------------------------------------------------------------- */

enum penna_ring_try { PENNA_RING_GOT, PENNA_RING_FULL, PENNA_RING_SKIPPED };

/* Draws one ticket. SKIPPED: its slot is out of use, another ticket may do. */
static inline enum penna_ring_try penna_ring_try_reserve(struct penna_ring* ring, uint32_t* ticket) {
  /* A look before drawing, so that a full ring makes no dead tickets but in a race. The order of the two loads matters
   * little: a stale pair lets the CAS decide, or drops a record while others race for the last slot. */
  PENNA_RING_STEP();
  uint32_t write = __atomic_load_n(&ring->write, __ATOMIC_RELAXED);
  PENNA_RING_STEP();
  uint32_t read = __atomic_load_n(&ring->read, __ATOMIC_RELAXED);
  if ((int32_t)(write - read) >= (int32_t)ring->slot_count) return PENNA_RING_FULL;

  PENNA_RING_STEP();
  uint32_t mine = __atomic_fetch_add(&ring->write, 1, __ATOMIC_RELAXED);
  struct penna_slot* slot = penna_ring_slot(ring, ring->slot_count, ring->slot_size, mine);
  uint32_t seen = penna_slot_word(mine, PENNA_SLOT_FREE);
  *ticket = mine;
  PENNA_RING_STEP();
  /* Acquire [A]: pairs with the reader's release of the slot in penna_ring_read_checked. */
  if (__atomic_compare_exchange_n(&slot->word, &seen, penna_slot_word(mine, PENNA_SLOT_RESERVED), 0, __ATOMIC_ACQUIRE,
                                  __ATOMIC_RELAXED))
    return PENNA_RING_GOT;
  PENNA_RING_STEP();
  __atomic_fetch_add(&slot->dead, 1, __ATOMIC_RELAXED);
  uint32_t state = seen & 3;
  return state == PENNA_SLOT_ABANDONED || state == PENNA_SLOT_FREE ? PENNA_RING_SKIPPED : PENNA_RING_FULL;
}

/* Room for one record, aligned to 8, and its ticket; NULL when the ring is full: the drop is counted. */
static inline void* penna_ring_reserve(struct penna_ring* ring, uint32_t* ticket) {
  enum penna_ring_try got = penna_ring_try_reserve(ring, ticket);
  if (got == PENNA_RING_SKIPPED) got = penna_ring_try_reserve(ring, ticket);
  if (got == PENNA_RING_GOT) return penna_ring_slot(ring, ring->slot_count, ring->slot_size, *ticket) + 1;
  PENNA_RING_STEP();
  __atomic_fetch_add(&ring->dropped, 1, __ATOMIC_RELAXED);
  return NULL;
}

/* Gives a reserved record to the reader. 0 when the reader had abandoned it: it is counted as dropped. */
static inline int penna_ring_commit(struct penna_ring* ring, uint32_t ticket) {
  struct penna_slot* slot = penna_ring_slot(ring, ring->slot_count, ring->slot_size, ticket);
  uint32_t seen = penna_slot_word(ticket, PENNA_SLOT_RESERVED);
  PENNA_RING_STEP();
  /* Release [B]: pairs with the acquire load in penna_ring_read_checked. */
  if (__atomic_compare_exchange_n(&slot->word, &seen, penna_slot_word(ticket, PENNA_SLOT_READY), 0, __ATOMIC_RELEASE,
                                  __ATOMIC_RELAXED))
    return 1;
  PENNA_RING_STEP();
  /* Release [C]: pairs with the same load; from here on the slot may be used again. */
  __atomic_store_n(&slot->word, penna_slot_word(ticket, PENNA_SLOT_FREE), __ATOMIC_RELEASE);
  PENNA_RING_STEP();
  __atomic_fetch_add(&ring->dropped, 1, __ATOMIC_RELAXED);
  return 0;
}

/* ---- The reader: one thread at a time ----------------------------------------------------------------------------- */

/* Not memcpy: there may be none, and atomic loads keep the compiler from making one of the loop. */
static inline void penna_ring_copy(void* to, const void* from, uint32_t bytes) {
  typedef uint64_t __attribute__((may_alias, aligned(1))) word_anywhere;
  typedef uint64_t __attribute__((may_alias)) word;
  uint32_t done = 0;
  for (; done + 8 <= bytes; done += 8)
    *(word_anywhere*)((char*)to + done) = __atomic_load_n((const word*)((const char*)from + done), __ATOMIC_RELAXED);
  for (; done < bytes; done++) ((char*)to)[done] = __atomic_load_n((const char*)from + done, __ATOMIC_RELAXED);
}

static inline void penna_ring_advance(struct penna_ring* ring, uint32_t ticket) {
  PENNA_RING_STEP();
  /* Relaxed: `read` is only a hint for writers; the slot's word is what gives the slot. */
  __atomic_store_n(&ring->read, ticket + 1, __ATOMIC_RELAXED);
}

/* Passes `ticket` if its writer left it behind. 1 when it did. */
static inline int penna_ring_pass_dead(struct penna_ring* ring, struct penna_slot* slot, uint32_t slot_count,
                                       uint32_t ticket, uint32_t word) {
  PENNA_RING_STEP();
  if (__atomic_load_n(&slot->dead, __ATOMIC_RELAXED) == 0) return 0;
  PENNA_RING_STEP();
  if (__atomic_load_n(&ring->write, __ATOMIC_RELAXED) == ticket) return 0; /* not yet drawn */
  if ((word & 3) == PENNA_SLOT_FREE) {
    PENNA_RING_STEP();
    /* Release [A]. A CAS because the ticket may yet be alive: then it stays. */
    if (!__atomic_compare_exchange_n(&slot->word, &word, penna_slot_word(ticket + slot_count, PENNA_SLOT_FREE), 0,
                                     __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return 0;
  }
  PENNA_RING_STEP();
  __atomic_fetch_sub(&slot->dead, 1, __ATOMIC_RELAXED);
  penna_ring_advance(ring, ticket);
  return 1;
}

/* What the reader finds at `ticket`: the word of its slot; one that a late writer gave back is first made current. */
static inline uint32_t penna_ring_look(struct penna_slot* slot, uint32_t ticket) {
  PENNA_RING_STEP();
  uint32_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE); /* pairs with [B] and [C] in penna_ring_commit */
  if ((word & 3) != PENNA_SLOT_FREE || word == penna_slot_word(ticket, PENNA_SLOT_FREE)) return word;
  word = penna_slot_word(ticket, PENNA_SLOT_FREE);
  PENNA_RING_STEP();
  __atomic_store_n(&slot->word, word, __ATOMIC_RELEASE); /* [A]: pairs with the CAS in penna_ring_try_reserve */
  return word;
}

/* As penna_ring_read, for memory that others may spoil: uses the caller's checked geometry and touches nothing outside
 * of it; bounded by slot_count steps whatever the memory holds. The record itself is not to be trusted. */
static inline int penna_ring_read_checked(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size,
                                          void* record) {
  for (uint32_t passed = 0; passed <= slot_count; passed++) {
    PENNA_RING_STEP();
    uint32_t ticket = __atomic_load_n(&ring->read, __ATOMIC_RELAXED);
    struct penna_slot* slot = penna_ring_slot(ring, slot_count, slot_size, ticket);
    uint32_t word = penna_ring_look(slot, ticket);
    if (word == penna_slot_word(ticket, PENNA_SLOT_READY)) {
      penna_ring_copy(record, slot + 1, slot_size);
      PENNA_RING_STEP();
      /* Release [A]: pairs with the acquire CAS in penna_ring_try_reserve. */
      __atomic_store_n(&slot->word, penna_slot_word(ticket + slot_count, PENNA_SLOT_FREE), __ATOMIC_RELEASE);
      penna_ring_advance(ring, ticket);
      return 1;
    }
    if (word == penna_slot_word(ticket, PENNA_SLOT_RESERVED)) return 0;
    if (!penna_ring_pass_dead(ring, slot, slot_count, ticket, word)) return 0;
  }
  return 0;
}

/* Copies the next record, in the order of reservation. 1, or 0 when there is none yet: empty, or its writer is not
 * done. */
static inline int penna_ring_read(struct penna_ring* ring, void* record) {
  return penna_ring_read_checked(ring, ring->slot_count, ring->slot_size, record);
}

/* Gives up the ticket that the reader waits for, when its writer is known, or believed, to be dead: the records behind
 * it can be read. Returns 1, or 0 when there is nothing to give up (nothing reserved, or it can be read).
 * A writer that comes back sees its commit fail. */
static inline uint32_t penna_ring_abandon_checked(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size) {
  PENNA_RING_STEP();
  uint32_t ticket = __atomic_load_n(&ring->read, __ATOMIC_RELAXED);
  PENNA_RING_STEP();
  if (__atomic_load_n(&ring->write, __ATOMIC_RELAXED) == ticket) return 0;
  struct penna_slot* slot = penna_ring_slot(ring, slot_count, slot_size, ticket);
  uint32_t word = penna_ring_look(slot, ticket);
  if (word == penna_slot_word(ticket, PENNA_SLOT_READY)) return 0;
  if ((word & 3) != PENNA_SLOT_ABANDONED) {
    /* A writer that holds the slot may still write to it: the slot goes out of use. One that has not got it yet, no. */
    uint32_t next = word == penna_slot_word(ticket, PENNA_SLOT_RESERVED)
                        ? penna_slot_word(ticket, PENNA_SLOT_ABANDONED)
                        : penna_slot_word(ticket + slot_count, PENNA_SLOT_FREE);
    PENNA_RING_STEP();
    /* Relaxed: it gives nothing to anyone; the slot's last release, by this reader, still stands before it. */
    if (!__atomic_compare_exchange_n(&slot->word, &word, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return 0;
  }
  PENNA_RING_STEP();
  __atomic_store_n(&ring->abandoned, ring->abandoned + 1, __ATOMIC_RELAXED); /* the reader is its only writer */
  penna_ring_advance(ring, ticket);
  return 1;
}

static inline uint32_t penna_ring_abandon(struct penna_ring* ring) {
  return penna_ring_abandon_checked(ring, ring->slot_count, ring->slot_size);
}

/* ---- Counters: anyone, any time ----------------------------------------------------------------------------------- */

static inline uint32_t penna_ring_dropped(const struct penna_ring* ring) {
  return __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED);
}
static inline uint32_t penna_ring_abandoned(const struct penna_ring* ring) {
  return __atomic_load_n(&ring->abandoned, __ATOMIC_RELAXED);
}

#endif
