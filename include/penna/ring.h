/* SPDX-License-Identifier: MIT
 *
 * ring.h: a ring of fixed-size slots for many writers and one reader, in static or shared memory.
 *
 * Why: the smallest buffer that can be written from anywhere: threads, signal and interrupt handlers, firmware,
 * kernels. Writers are wait-free: a write is one fetch-and-add and one store, without loop or lock. No pointers inside:
 * the slots follow the struct, so each side may map it where it likes. Freestanding C11 and C++17, no calls; all zero
 * is empty.
 * Invariant: each record that was reserved is read once, in the order of reservation, or counted: attempts = read +
 * dropped + abandoned, as long as no writer dies between being refused and counting it.
 *
 * A writer draws a ticket T, and in the same atomic step learns how far the reader has come, R. T belongs to slot T mod
 * N. T < R + N: the slot is the writer's, to fill and to mark as done(T). Otherwise T is void. The reader issues R + N
 * by adding one to R, and in the same atomic step learns whether that ticket had been drawn before, and so is void.
 *
 *     writer of T                                       reader
 *     tickets += (1 drawn), acquire [A]                 word == done(T)?  acquire [B] [C]
 *     T < R + N and not closed: fill the slot           copy the record
 *     word = done(T), release [B]                       tickets += (1 passed), release [A]: T + N is issued
 *
 * Closed tickets: each slot stores the first ticket for which it is open; only the reader writes it. The reader closes
 * a slot to T when T is void, and, before it issues T, when the slot is out of use. It passes closed tickets without
 * waiting.
 * Abandoned slots: the reader cannot distinguish a dead writer from a slow one. When it gives up T (by CAS, against the
 * writer's commit) the slot goes out of use, closed to T + N, T + 2N, ..., until its writer has come back and has
 * stored done(T), release [C], however late. So a slow writer never overwrites another one's record. A writer that
 * draws a closed ticket tries once more.
 *
 * Orderings: [A] the reader is done with a slot before it is issued again, and its closing is seen. [B] commit releases
 * the record to the reader. [C] a late writer's last stores are done before any other writer gets its slot. [D] a
 * writer that sees a slot closed also sees why. Everything else is relaxed.
 * Tickets count modulo 2^32: a writer may not sleep inside reserve while 2^29 others (PENNA_RING_PATIENCE) pass it. An
 * abandoned slot may outlive that: its word becomes "gone" before a second T is drawn. Both counts change in one atomic
 * step, so this needs 64-bit atomics; processors without them (Cortex-M) count modulo 2^16, with a patience of 2^13.
 * Where fetch-and-add is a loop (LL/SC, cmpxchg8b), writers are lock-free instead of wait-free.
 */
#ifndef PENNA_RING_H
#define PENNA_RING_H

#include <stddef.h>
#include <stdint.h>

/* See detail/language.h. */
#if defined(__cplusplus) && __cplusplus < 201703L
#error "Penna needs C++17 or newer: compile with -std=c++17"
#define PENNA_STOP "stop: Penna needs C++17 or newer"
#include PENNA_STOP
#elif !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "Penna needs C11 or newer: compile with -std=c11"
#define PENNA_STOP "stop: Penna needs C11 or newer"
#include PENNA_STOP
#endif

#ifndef PENNA_STATIC_ASSERT
#ifdef __cplusplus
#define PENNA_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define PENNA_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#endif

/* Uses C casts, in C++, too. */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

/* A hook before each atomic step on shared memory; the model test uses it to switch between actors. */
#ifndef PENNA_RING_STEP
#define PENNA_RING_STEP() ((void)0)
#endif

/* Knob: bits of a ticket, 32 or 16. */
#ifndef PENNA_RING_TICKET_BITS
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_8
#define PENNA_RING_TICKET_BITS 32
#else
#define PENNA_RING_TICKET_BITS 16
#endif
#endif

#if PENNA_RING_TICKET_BITS == 32
typedef uint64_t penna_tickets;
typedef uint32_t penna_ticket;
#else
typedef uint32_t penna_tickets;
typedef uint16_t penna_ticket;
#endif

enum {
  PENNA_RING_MAX_SLOTS = 1 << (PENNA_RING_TICKET_BITS - 4),
  PENNA_RING_PATIENCE = 1 << (PENNA_RING_TICKET_BITS - 3), /* tickets; a multiple of every slot_count */
};

/*   0      +-------------------------------+
 *          | slot_count, slot_size         |  constant after init
 *   64     +-------------------------------+
 *          | tickets: drawn | passed       |  writers add to the upper half, the reader to the lower one
 *          | dropped                       |  writers add
 *   128    +-------------------------------+
 *          | abandoned                     |  the reader stores
 *   192    +-------------------------------+
 *          | slots: u32 word, u32 opens,   |  slot_count times
 *          | slot_size bytes, padding to 8 |
 *          +-------------------------------+  */
struct penna_ring {
  uint32_t slot_count;                                /* power of two */
  uint32_t slot_size;                                 /* bytes of a record */
  penna_tickets tickets __attribute__((aligned(64))); /* upper half: next to be drawn; lower: the reader waits for it */
  uint32_t dropped __attribute__((aligned(8)));       /* records for which there was no room */
  uint32_t abandoned __attribute__((aligned(64)));    /* records that the reader gave up on */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_ring) == 192, "penna_ring is 192 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_ring, tickets) == 64, "penna_ring.tickets");
PENNA_STATIC_ASSERT(offsetof(struct penna_ring, dropped) == 72, "penna_ring.dropped");
PENNA_STATIC_ASSERT(offsetof(struct penna_ring, abandoned) == 128, "penna_ring.abandoned");

struct penna_slot {
  uint32_t word;  /* the outcome of the last ticket for this slot: its lap << 2 | penna_slot_end */
  uint32_t opens; /* the first ticket that may use the slot; stored by the reader */
};
enum penna_slot_end { PENNA_SLOT_DONE = 0, PENNA_SLOT_GIVEN_UP = 1, PENNA_SLOT_GONE = 2, PENNA_SLOT_END = 3 };

/* ---- Geometry ---------------------------------------------------------------------------------------------------- */

/* Macros where a constant expression is needed: the distance between slots, and the size of a ring with its slots, in
 * bytes. Its memory must be aligned to 64. */
#define PENNA_RING_STRIDE(slot_size) \
  (sizeof(struct penna_slot) + ((slot_size) + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t))
#define PENNA_RING_BYTES(slot_count, slot_size) (sizeof(struct penna_ring) + (slot_count)*PENNA_RING_STRIDE(slot_size))

static inline size_t penna_ring_bytes(uint32_t slot_count, uint32_t slot_size) {
  return PENNA_RING_BYTES(slot_count, slot_size);
}

/* Whether slot_count is valid: a power of two, at most PENNA_RING_MAX_SLOTS. */
#define PENNA_RING_IS_VALID(slot_count) \
  ((slot_count) > 0 && ((slot_count) & ((slot_count)-1)) == 0 && (slot_count) <= PENNA_RING_MAX_SLOTS + 0u)

/* Defines `NAME_memory`, static memory that contains an empty ring, and NAME, a constant pointer to it; usable before
 * any code has run. (Two of its values are not zero, so it is in .data; where that is expensive, for example in a flash
 * image, use an array of PENNA_RING_BYTES aligned to 64, and penna_ring_init_zeroed.) */
#define PENNA_RING_DEFINE(name, count, size)                                                                           \
  PENNA_STATIC_ASSERT(PENNA_RING_IS_VALID(count), "a ring has a power of two of slots, at most PENNA_RING_MAX_SLOTS"); \
  static struct {                                                                                                      \
    struct penna_ring ring;                                                                                            \
    char slots[(count)*PENNA_RING_STRIDE(size)];                                                                       \
  } name##_memory = {{(count), (size), 0, 0, 0}, {0}};                                                                 \
  static struct penna_ring* const name = &name##_memory.ring

static inline struct penna_slot* penna_ring_slot(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size,
                                                 uint32_t ticket) {
  return (struct penna_slot*)((char*)(ring + 1) + (ticket & (slot_count - 1)) * PENNA_RING_STRIDE(slot_size));
}

/* Laps start at one, so that zeroed memory means "done" for the lap before the first. */
static inline uint32_t penna_slot_word(penna_ticket ticket, uint32_t slot_count, uint32_t end) {
  return ((ticket & ~(slot_count - 1)) + slot_count) << 2 | end;
}

static inline penna_ticket penna_tickets_drawn(penna_tickets tickets) {
  return (penna_ticket)(tickets >> PENNA_RING_TICKET_BITS);
}
static inline penna_ticket penna_tickets_passed(penna_tickets tickets) { return (penna_ticket)tickets; }
static inline penna_ticket penna_ticket_plus(penna_ticket ticket, uint32_t more) {
  return (penna_ticket)(ticket + more);
}
static inline penna_ticket penna_ticket_since(penna_ticket ticket, penna_ticket first) {
  return (penna_ticket)(ticket - first);
}
static inline int penna_ticket_is_before(penna_ticket ticket, penna_ticket other) {
  return (int)(penna_ticket_since(ticket, other) >> (PENNA_RING_TICKET_BITS - 1));
}

/* Creates an empty ring in `penna_ring_bytes` bytes of memory that is all zero (fresh pages, .bss), without touching
 * the slots. Returns 1; 0 if slot_count is not PENNA_RING_IS_VALID. Call before any other use. */
static inline int penna_ring_init_zeroed(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size) {
  if (!PENNA_RING_IS_VALID(slot_count)) return 0;
  ring->slot_count = slot_count;
  ring->slot_size = slot_size;
  return 1;
}

/* The same in memory with any contents. */
static inline int penna_ring_init(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size) {
  if (!penna_ring_init_zeroed(ring, slot_count, slot_size)) return 0;
  ring->tickets = 0;
  ring->dropped = ring->abandoned = 0;
  for (uint32_t ticket = 0; ticket < slot_count; ticket++) {
    struct penna_slot* slot = penna_ring_slot(ring, slot_count, slot_size, ticket);
    slot->word = slot->opens = 0;
  }
  return 1;
}

/* ---- Writers: any thread, any handler ---------------------------------------------------------------------------- */

enum penna_ring_try { PENNA_RING_GOT, PENNA_RING_FULL, PENNA_RING_CLOSED, PENNA_RING_GIVEN_UP };

/* Draws one ticket. CLOSED: its slot is out of use, try another ticket. GIVEN_UP: the reader has counted the record. */
static inline enum penna_ring_try penna_ring_try_reserve(struct penna_ring* ring, uint32_t* ticket) {
  uint32_t slot_count = ring->slot_count;
  /* A check before drawing, so that a full ring creates no void tickets except in a race. */
  PENNA_RING_STEP();
  penna_tickets tickets = __atomic_load_n(&ring->tickets, __ATOMIC_RELAXED);
  if (penna_ticket_since(penna_tickets_drawn(tickets), penna_tickets_passed(tickets)) >= slot_count)
    return PENNA_RING_FULL;

  PENNA_RING_STEP();
  /* Acquire [A]: pairs with the reader's release in penna_ring_pass. */
  tickets = __atomic_fetch_add(&ring->tickets, (penna_tickets)1 << PENNA_RING_TICKET_BITS, __ATOMIC_ACQUIRE);
  penna_ticket mine = penna_tickets_drawn(tickets);
  *ticket = mine;
  if (penna_ticket_since(mine, penna_tickets_passed(tickets)) >= slot_count) return PENNA_RING_FULL;

  struct penna_slot* slot = penna_ring_slot(ring, slot_count, ring->slot_size, mine);
  PENNA_RING_STEP();
  /* Acquire [D]: pairs with the release in penna_ring_close_before. */
  penna_ticket opens = (penna_ticket)__atomic_load_n(&slot->opens, __ATOMIC_ACQUIRE);
  if (!penna_ticket_is_before(mine, opens)) return PENNA_RING_GOT;
  PENNA_RING_STEP();
  if (__atomic_load_n(&slot->word, __ATOMIC_RELAXED) != penna_slot_word(mine, slot_count, PENNA_SLOT_GIVEN_UP))
    return PENNA_RING_CLOSED;
  PENNA_RING_STEP();
  /* The reader has given up this very ticket: its slot is returned at once. Release [C]. */
  __atomic_store_n(&slot->word, penna_slot_word(mine, slot_count, PENNA_SLOT_DONE), __ATOMIC_RELEASE);
  return PENNA_RING_GIVEN_UP;
}

/* Returns room for one record, aligned to 8, and its ticket; NULL if there is no room, which is counted as dropped. */
static inline void* penna_ring_reserve(struct penna_ring* ring, uint32_t* ticket) {
  enum penna_ring_try got = penna_ring_try_reserve(ring, ticket);
  if (got == PENNA_RING_CLOSED) got = penna_ring_try_reserve(ring, ticket);
  if (got == PENNA_RING_GOT) return penna_ring_slot(ring, ring->slot_count, ring->slot_size, *ticket) + 1;
  if (got == PENNA_RING_GIVEN_UP) return NULL;
  PENNA_RING_STEP();
  __atomic_fetch_add(&ring->dropped, 1, __ATOMIC_RELAXED);
  return NULL;
}

/* Hands a reserved record to the reader; if the reader has given it up meanwhile, returns the slot. */
static inline void penna_ring_commit(struct penna_ring* ring, uint32_t ticket) {
  uint32_t slot_count = ring->slot_count;
  struct penna_slot* slot = penna_ring_slot(ring, slot_count, ring->slot_size, ticket);
  PENNA_RING_STEP();
  /* Release [B] or, for a record that was given up, [C]: pairs with the acquire loads in penna_ring_read_checked. */
  __atomic_store_n(&slot->word, penna_slot_word((penna_ticket)ticket, slot_count, PENNA_SLOT_DONE), __ATOMIC_RELEASE);
}

/* ---- The reader: one thread at a time ---------------------------------------------------------------------------- */

/* Not memcpy: it may not exist, and atomic loads keep the compiler from generating a call of it. */
static inline void penna_ring_copy(void* to, const void* from, uint32_t bytes) {
  typedef size_t __attribute__((may_alias, aligned(1))) word_anywhere;
  typedef size_t __attribute__((may_alias)) word;
  __asm__("" : "+r"(to)); /* else gcc warns of a target that is smaller than a word */
  uint32_t done = 0;
  for (; done + sizeof(word) <= bytes; done += (uint32_t)sizeof(word))
    *(word_anywhere*)((char*)to + done) = __atomic_load_n((const word*)((const char*)from + done), __ATOMIC_RELAXED);
  for (; done < bytes; done++) ((char*)to)[done] = __atomic_load_n((const char*)from + done, __ATOMIC_RELAXED);
}

/* Only the reader stores it, but writers read it. Release [D]. */
static inline void penna_ring_close_before(struct penna_slot* slot, penna_ticket opens) {
  PENNA_RING_STEP();
  __atomic_store_n(&slot->opens, opens, __ATOMIC_RELEASE);
}

/* Whether the slot of a closed ticket that is passed stays closed to its next ticket: its writer has not come back,
 * or so late that its word looks like the outcome of that ticket. `word` was loaded with acquire [C]. */
static inline int penna_slot_stays_closed(struct penna_slot* slot, uint32_t slot_count, penna_ticket ticket,
                                          uint32_t word) {
  if ((word & PENNA_SLOT_END) == PENNA_SLOT_DONE)
    return word == penna_slot_word(penna_ticket_plus(ticket, slot_count), slot_count, PENNA_SLOT_DONE);
  if (word == penna_slot_word((penna_ticket)(ticket - PENNA_RING_PATIENCE), slot_count, PENNA_SLOT_GIVEN_UP)) {
    PENNA_RING_STEP();
    /* Its writer has left reserve, and will not look at the word. A CAS: it may be in commit. Relaxed: it publishes
       nothing. */
    __atomic_compare_exchange_n(&slot->word, &word, PENNA_SLOT_GONE, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  return 1;
}

/* Passes `count` tickets from `first` on, which issues the tickets of the next lap. Those that had been drawn before
 * are void: their slots are closed to them. */
static inline void penna_ring_pass(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size, penna_ticket first,
                                   uint32_t count) {
  penna_tickets add = count;
  if (penna_ticket_plus(first, count) < first)
    add -= (penna_tickets)1 << PENNA_RING_TICKET_BITS; /* the lower half wraps: its carry is not a ticket */
  PENNA_RING_STEP();
  /* Release [A]: pairs with the acquire in penna_ring_try_reserve. */
  penna_ticket drawn = penna_tickets_drawn(__atomic_fetch_add(&ring->tickets, add, __ATOMIC_RELEASE));
  penna_ticket ticket = penna_ticket_plus(first, slot_count);
  for (; count > 0 && penna_ticket_is_before(ticket, drawn); count--, ticket++)
    penna_ring_close_before(penna_ring_slot(ring, slot_count, slot_size, ticket),
                            penna_ticket_plus(ticket, slot_count));
}

/* Like penna_ring_read_many, for memory that others may corrupt: uses the caller's checked geometry and touches nothing
 * outside of it; takes at most slot_count steps whatever the memory holds. The records themselves must not be trusted.
 */
static inline uint32_t penna_ring_read_checked(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size,
                                               void* records, uint32_t max) {
  PENNA_RING_STEP(); /* the half that is read here belongs to the reader */
  penna_ticket first = penna_tickets_passed(__atomic_load_n(&ring->tickets, __ATOMIC_RELAXED)), ticket = first;
  uint32_t got = 0, passed = 0;
  for (; passed < slot_count && got < max; passed++, ticket++) {
    struct penna_slot* slot = penna_ring_slot(ring, slot_count, slot_size, ticket);
    penna_ticket opens = (penna_ticket)__atomic_load_n(&slot->opens, __ATOMIC_RELAXED); /* belongs to the reader, too */
    int closed = penna_ticket_is_before(ticket, opens);
    if (closed) {
      PENNA_RING_STEP();
      if (penna_tickets_drawn(__atomic_load_n(&ring->tickets, __ATOMIC_RELAXED)) == ticket) break; /* not drawn yet */
    }
    PENNA_RING_STEP();
    uint32_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE); /* pairs with [B] and [C] in penna_ring_commit */
    if (!closed) {
      if (word != penna_slot_word(ticket, slot_count, PENNA_SLOT_DONE)) break;
      penna_ring_copy((char*)records + (size_t)got++ * slot_size, slot + 1, slot_size);
      if (penna_ticket_since(ticket, opens) >> (PENNA_RING_TICKET_BITS - 2) != 0)
        penna_ring_close_before(slot, ticket); /* keeps the two comparable */
    } else if (penna_slot_stays_closed(slot, slot_count, ticket, word)) {
      penna_ring_close_before(slot, penna_ticket_plus(ticket, 2 * slot_count)); /* before that ticket is issued */
    }
  }
  if (passed != 0) penna_ring_pass(ring, slot_count, slot_size, first, passed);
  return got;
}

/* Copies up to `max` records, in the order of reservation. Returns how many; 0 if there is none yet: the ring is empty,
 * or the writer of the next record is not done. Cheaper per record than reading one at a time. */
static inline uint32_t penna_ring_read_many(struct penna_ring* ring, void* records, uint32_t max) {
  return penna_ring_read_checked(ring, ring->slot_count, ring->slot_size, records, max);
}

/* Reads one record. Returns 1, or 0 if there is none yet. */
static inline int penna_ring_read(struct penna_ring* ring, void* record) {
  return (int)penna_ring_read_many(ring, record, 1);
}

/* Gives up the record that the reader waits for, if its writer is known, or believed, to be dead: the records after it
 * can then be read. Returns 1, or 0 if there is nothing to give up (nothing is reserved, or reading can continue). */
static inline int penna_ring_abandon_checked(struct penna_ring* ring, uint32_t slot_count, uint32_t slot_size) {
  PENNA_RING_STEP();
  penna_tickets tickets = __atomic_load_n(&ring->tickets, __ATOMIC_RELAXED);
  penna_ticket ticket = penna_tickets_passed(tickets);
  if (penna_tickets_drawn(tickets) == ticket) return 0;
  struct penna_slot* slot = penna_ring_slot(ring, slot_count, slot_size, ticket);
  if (penna_ticket_is_before(ticket, (penna_ticket)__atomic_load_n(&slot->opens, __ATOMIC_RELAXED))) return 0;
  PENNA_RING_STEP();
  uint32_t word = __atomic_load_n(&slot->word, __ATOMIC_RELAXED);
  if (word == penna_slot_word(ticket, slot_count, PENNA_SLOT_DONE)) return 0;
  PENNA_RING_STEP();
  /* Relaxed: it publishes nothing. A CAS: if the writer commits now, its record is read. */
  if (!__atomic_compare_exchange_n(&slot->word, &word, penna_slot_word(ticket, slot_count, PENNA_SLOT_GIVEN_UP), 0,
                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return 0;
  penna_ring_close_before(slot, penna_ticket_plus(ticket, 2 * slot_count));
  PENNA_RING_STEP();
  __atomic_store_n(&ring->abandoned, ring->abandoned + 1, __ATOMIC_RELAXED); /* only the reader writes it */
  penna_ring_pass(ring, slot_count, slot_size, ticket, 1);
  return 1;
}

static inline int penna_ring_abandon(struct penna_ring* ring) {
  return penna_ring_abandon_checked(ring, ring->slot_count, ring->slot_size);
}

/* ---- Counters: any thread, any time ------------------------------------------------------------------------------ */

static inline uint32_t penna_ring_dropped(const struct penna_ring* ring) {
  return __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED);
}
static inline uint32_t penna_ring_abandoned(const struct penna_ring* ring) {
  return __atomic_load_n(&ring->abandoned, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif
