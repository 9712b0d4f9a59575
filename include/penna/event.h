/* SPDX-License-Identifier: MIT
 *
 * event.h: the records a traced program writes, as laid out in a chunk (channel.h) and in a recording.
 *
 * Why so small: a record is stamped and stored on the hot path of someone else's program. A call is one 8-byte store
 * that commits itself. All other records are committed by the release store of their 8-byte header.
 * Invariant: a record can be decoded from itself and the header of its chunk alone.
 *
 * Little-endian, 8-byte aligned; a chunk is zero beyond its last record, and no committed header is zero.
 * Laid out as CTF 1.8 events: a header whose first two bits choose between a compact and a full form.
 * Bump PENNA_ABI_VERSION (channel.h) when anything here changes.
 */
#ifndef PENNA_EVENT_H
#define PENNA_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

/* ---- Headers -------------------------------------------------------------------------------------------------------
 *
 * Call record: the header is the whole record.
 *
 *   63                    32 31                     2 1   0
 *  +------------------------+------------------------+-----+
 *  |   pc, low 32 bits      |   time, low 30 bits    | tag |   tag = entry or exit
 *  +------------------------+------------------------+-----+
 *
 * Full record: header, then `words` - 1 words of payload, chosen by `kind`.
 *
 *   63                               16 15     8 7     2 1   0
 *  +-----------------------------------+--------+-------+-----+
 *  |        time, low 48 bits          | words  | kind  | tag |   tag = full, or busy while it is being written
 *  +-----------------------------------+--------+-------+-----+
 *
 * Time: ticks of the channel's clock. A reader takes the first value at or after the chunk's time_begin that has these
 * low bits; the writer uses the call form only within 2^29 ticks of time_begin, and a full one within 2^47.
 * In a record written by a nested signal handler, time may lie before that of the preceding record, and in one
 * interrupted by a handler, after that of the following record; never before time_begin (a reader may see "just before"
 * as a value near 2^30 or 2^48, see penna_extend_time).
 * pc: the upper 32 bits are the chunk's pc_high.
 */
enum penna_tag {
  PENNA_TAG_FULL = 0,  /* a zero word is not a record: every kind is > 0 */
  PENNA_TAG_ENTRY = 1, /* function entry; pc = its first instruction */
  PENNA_TAG_EXIT = 2,  /* function exit; pc as on entry */
  PENNA_TAG_BUSY = 3,  /* a full record that is not committed yet: skip `words`, count it as torn */
};

enum { PENNA_CALL_TIME_BITS = 30, PENNA_FULL_TIME_BITS = 48, PENNA_MAX_RECORD_WORDS = 255 };

/* Kinds of full records: kinds.inc lists them. The payload struct of each is below. */
enum penna_kind {
#define PENNA_KIND(number, name, payload, event_class, word) PENNA_KIND_##name = number,
#include "penna/kinds.inc"
#undef PENNA_KIND
  PENNA_KIND_COUNT
};

/* Event classes, as on command lines and in masks; listed in classes.inc. Every per-class count has PENNA_CLASS_SLOTS
 * slots, in memory and on disk, so that a new class moves no field; slots without a class are 0. */
enum penna_event_class {
#define PENNA_EVENT_CLASS(number, name, ...) PENNA_##name = number,
#include "penna/classes.inc"
#undef PENNA_EVENT_CLASS
  PENNA_CLASS_COUNT,
  PENNA_CLASS_SLOTS = 8,
  PENNA_NO_CLASS = PENNA_CLASS_COUNT /* of records that are not events: modules, names, losses, ... */
};

PENNA_STATIC_ASSERT((int)PENNA_CLASS_COUNT <= (int)PENNA_CLASS_SLOTS, "each class has a slot");

/* ---- Payloads (after the 8-byte header) -------------------------------------------------------------------------- */

struct penna_call {
  uint64_t pc;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_call) == 8, "penna_call is 8 bytes");

/* The function that allocated or freed a block; in the upper byte of the address word. */
enum penna_alloc_family {
  PENNA_FAMILY_MALLOC = 0,
  PENNA_FAMILY_CALLOC = 1,
  PENNA_FAMILY_REALLOC = 2,
  PENNA_FAMILY_ALIGNED = 3, /* aligned_alloc, memalign, posix_memalign, valloc, pvalloc */
  PENNA_FAMILY_COUNT = 4
};

/*   63      56 55                                   0
 *  +----------+--------------------------------------+
 *  |  family  |              address                 |
 *  +----------+--------------------------------------+
 *  |  size, 32 bits     |    stack id, 32 bits       |
 *  +--------------------+----------------------------+  */
struct penna_alloc {
  uint64_t address_family;
  uint32_t stack; /* node of the stack tree (channel.h); 0 = unknown */
  uint32_t size;  /* bytes requested */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_alloc) == 16, "penna_alloc is 16 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_alloc, stack) == 8, "penna_alloc.stack");

struct penna_alloc_large {
  uint64_t address_family;
  uint32_t stack;
  uint32_t reserved;
  uint64_t size;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_alloc_large) == 24, "penna_alloc_large is 24 bytes");

struct penna_free {
  uint64_t address_family;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_free) == 8, "penna_free is 8 bytes");

#define PENNA_ADDRESS_MASK ((UINT64_C(1) << 56) - 1)

struct penna_free_stack {
  uint64_t address_family;
  uint32_t stack;
  uint32_t reserved;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_free_stack) == 16, "penna_free_stack is 16 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_free_stack, stack) == 8, "penna_free_stack.stack");

/* Mappings form their own family: ranges of pages, any part of which can be unmapped or mapped again. */
enum penna_map_how {
  PENNA_MAP_MMAP = 0,
  PENNA_MAP_MREMAP = 1, /* preceded by an UNMAP of the old range */
  PENNA_MAP_BRK = 2     /* brk, sbrk: the end of the data segment moved up */
};
/*   0        8       16      20    22      24
 *   +--------+-------+-------+-----+-------+
 *   |address | bytes | stack | how | flags |     flags: penna_map_flag
 *   +--------+-------+-------+-----+-------+  */
enum penna_map_flag { PENNA_MAP_FILE = 1, PENNA_MAP_SHARED = 2, PENNA_MAP_NO_ACCESS = 4 };
struct penna_map {
  uint64_t address;
  uint64_t bytes; /* whole pages; for brk, the distance it moved */
  uint32_t stack;
  uint16_t how;   /* penna_map_how */
  uint16_t flags; /* penna_map_flag: file-backed; MAP_SHARED; PROT_NONE */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_map) == 24, "penna_map is 24 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_map, stack) == 16, "penna_map.stack");

struct penna_unmap {
  uint64_t address;
  uint64_t bytes;
  uint32_t stack;
  uint32_t reserved;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_unmap) == 24, "penna_unmap is 24 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_unmap, stack) == 16, "penna_unmap.stack");

/* Each pool is its own family, too: its blocks lie inside blocks or mappings that are recorded as well. */
struct penna_pool_alloc {
  uint64_t address;
  uint64_t size;
  uint32_t stack;
  uint32_t pool; /* id given by a SITE record of kind PENNA_SITE_POOL, whose name is the pool's */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_pool_alloc) == 24, "penna_pool_alloc is 24 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_pool_alloc, pool) == 20, "penna_pool_alloc.pool");

struct penna_pool_free {
  uint64_t address;
  uint32_t stack; /* 0 without --free-stacks */
  uint32_t pool;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_pool_free) == 16, "penna_pool_free is 16 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_pool_free, pool) == 12, "penna_pool_free.pool");

/* What threads wait for; in the upper byte of the address word of every lock record. */
enum penna_sync {
  PENNA_SYNC_MUTEX = 0,
  PENNA_SYNC_READ = 1,  /* an rwlock, shared */
  PENNA_SYNC_WRITE = 2, /* an rwlock, exclusive: the same object as READ at that address */
  PENNA_SYNC_SPIN = 3,
  PENNA_SYNC_SEMAPHORE = 4, /* LOCK, LOCK_WAIT: one taken; UNLOCK: one given, by any thread */
  PENNA_SYNC_CONDITION = 5, /* in LOCK_REQUEST, WAKE, LOCK_MADE, LOCK_GONE; COND_WAIT has its own field */
  PENNA_SYNC_BARRIER = 6,   /* LOCK_WAIT: until the others arrived; WAKE: by the last to arrive */
  PENNA_SYNC_ONCE = 7,      /* LOCK, UNLOCK: around the call; LOCK_WAIT: for the thread that runs it */
  PENNA_SYNC_JOIN = 8,      /* LOCK_WAIT: until a thread ended; the address is its pthread_t, the owner its tid */
  PENNA_SYNC_FUTEX = 9,     /* a word the program itself waits on, as in std::atomic::wait: LOCK_WAIT, WAKE */
  PENNA_SYNC_OWN = 10,      /* a custom lock, known only by its functions */
  PENNA_SYNC_COUNT = 11
};
/* ORed in, in LOCK and LOCK_AT: taken by a try function, which would not have waited. */
enum { PENNA_SYNC_TRIED = 0x80 };

/*   63      56 55                                   0
 *  +----------+--------------------------------------+
 *  |   sync   |              address                 |
 *  +----------+--------------------------------------+  */
struct penna_lock {
  uint64_t lock;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_lock) == 8, "penna_lock is 8 bytes");

struct penna_lock_at {
  uint64_t lock;
  uint32_t stack;
  uint32_t owner; /* LOCK_REQUEST: tid that holds it now; 0 = unknown. Else 0 */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_lock_at) == 16, "penna_lock_at is 16 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_lock_at, stack) == 8, "penna_lock_at.stack");

struct penna_wake {
  uint64_t lock;
  uint32_t stack;
  uint32_t most; /* how many it wakes at most: 1 = signal, UINT32_MAX = broadcast */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_wake) == 16, "penna_wake is 16 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_wake, most) == 12, "penna_wake.most");

enum penna_wait_end {
  PENNA_WAIT_GOT = 0,     /* the lock is held */
  PENNA_WAIT_TIMEOUT = 1, /* timed out: the lock is not held (a timed out COND_WAIT holds it) */
  PENNA_WAIT_ERROR = 2,   /* another error: the lock is not held */
  PENNA_WAIT_OWNER_DIED = 3
};

struct penna_lock_wait {
  uint64_t lock;
  uint64_t begin; /* full time of the request */
  uint32_t stack; /* of the waiter */
  uint32_t owner; /* tid that held it when the wait began; 0 = unknown */
  uint32_t end;   /* penna_wait_end */
  uint32_t reserved;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_lock_wait) == 32, "penna_lock_wait is 32 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_lock_wait, stack) == 16, "penna_lock_wait.stack");

struct penna_cond_wait {
  uint64_t lock;      /* the mutex, held again at the time of the record */
  uint64_t condition; /* address of the condition variable, without sync */
  uint64_t begin;     /* full time at which the wait began */
  uint32_t stack;
  uint32_t end; /* penna_wait_end */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_cond_wait) == 32, "penna_cond_wait is 32 bytes");

/* The values of the arguments follow, in the order and by the types of the site: an 8-byte word for each number or
 * pointer (sign- or zero-extended; float as the bits of a double); for a string or an array a word {u32 length in
 * bytes, u32 flags} and then its bytes, zero-padded to 8. Flags: bit 0 = truncated; for an array, bits 4..7 the
 * penna_arg_type of its elements and bits 8..11 the bytes of each, 1 to 8. */
struct penna_point {
  uint32_t site;  /* id given by a SITE record of this process */
  uint32_t stack; /* 0: not recorded */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_point) == 8, "penna_point is 8 bytes");

enum penna_arg_type {
  PENNA_ARG_INT = 1,     /* signed integer, also enum */
  PENNA_ARG_UINT = 2,    /* unsigned integer */
  PENNA_ARG_FLOAT = 3,   /* float or double */
  PENNA_ARG_POINTER = 4, /* an address, shown in hex */
  PENNA_ARG_STRING = 5,  /* bytes, copied */
  PENNA_ARG_BOOL = 6,
  PENNA_ARG_CHAR = 7,
  PENNA_ARG_ARRAY = 8 /* elements of one of the types above except strings, copied */
};
enum { PENNA_STRING_CUT = 1, PENNA_MAX_STRING = 255, PENNA_MAX_ARGS = 12 };
enum { PENNA_ELEMENT_TYPE_SHIFT = 4, PENNA_ELEMENT_BYTES_SHIFT = 8 };

/* Followed by `path_bytes` of path, padded with zeros to 8. */
struct penna_module {
  uint64_t bias;  /* run-time address - address in the file */
  uint64_t start; /* the mapped range, [start, end) */
  uint64_t end;
  uint32_t generation; /* grows with each dlclose; a later module replaces older ones where they overlap */
  uint16_t path_bytes;
  uint16_t build_id_bytes; /* 0..32 */
  uint8_t build_id[32];
};
PENNA_STATIC_ASSERT(sizeof(struct penna_module) == 64, "penna_module is 64 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_module, build_id) == 32, "penna_module.build_id");

/* What a site is. The end of a span is a separate site with the same names as its beginning; in a thread, it ends the
 * innermost span of these names. Triggers call back into their program and are never recorded. */
enum penna_site_kind {
  PENNA_SITE_EVENT = 1,
  PENNA_SITE_SPAN = 2,
  PENNA_SITE_SPAN_END = 3,
  PENNA_SITE_TRIGGER = 4,
  PENNA_SITE_ARGUMENTS = 5, /* a function's arguments, in VALUES records */
  PENNA_SITE_RESULT = 6,    /* its return value, in VALUES records */
  PENNA_SITE_POOL = 7       /* penna/alloc.h: in a program a place that uses a pool; in a record the pool */
};

/* Followed by zero-terminated strings, together zero-padded to 8: provider, name, source file, then the name of each
 * argument ("" if it has none). For ARGUMENTS and RESULT, whose name is the function's, then how to show each argument:
 * "" = by its type, "x" = hex, "o" = octal, "p" = a code address, "e:NAME=NUMBER,..." = an enum with these names,
 * "stack" = the node of the stack tree from which the function was called; after that " ..." if further values are left
 * out. */
struct penna_site_info {
  uint32_t site;
  uint32_t line;
  uint64_t address;    /* run-time address of the site's code; 0 = none */
  uint16_t text_bytes; /* of the strings, without padding */
  uint8_t arg_count;
  uint8_t kind;                      /* penna_site_kind */
  uint8_t arg_types[PENNA_MAX_ARGS]; /* penna_arg_type */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_site_info) == 32, "penna_site_info is 32 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_site_info, arg_types) == 20, "penna_site_info.arg_types");

struct penna_thread {
  char name[16]; /* as in the kernel: at most 15 bytes and a zero */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_thread) == 16, "penna_thread is 16 bytes");

/* The longer form: names another thread of the process, from now on. */
struct penna_thread_named {
  char name[16];
  uint32_t serial, tid; /* of that thread */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_thread_named) == 24, "penna_thread_named is 24 bytes");

/*   0         4               32
 *   +---------+-----+---------+
 *   | calls   | ... | slot 7  |   streams, and recordings of format 1 and 2, end after the fourth
 *   +---------+-----+---------+  */
struct penna_lost {
  uint32_t count[PENNA_CLASS_SLOTS]; /* events of each class since the thread's last record */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_lost) == 32, "penna_lost is 32 bytes");

struct penna_blocked {
  uint64_t ticks;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_blocked) == 8, "penna_blocked is 8 bytes");

/* The values that a function was called with, after its entry, or that it returned, before its exit; only THREAD, SITE,
 * LOST and BLOCKED records, which a thread may write at the beginning of a chunk, can lie in between. They are encoded
 * like a point's. A value that could not be read is replaced by its address: a word, or the 8 bytes of a string. */
struct penna_values {
  uint32_t site;      /* as in penna_point: PENNA_SITE_ARGUMENTS or PENNA_SITE_RESULT */
  uint16_t bad;       /* bit i: value i could not be read */
  uint16_t is_result; /* 0 or 1 */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_values) == 8, "penna_values is 8 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_values, bad) == 4, "penna_values.bad");
PENNA_STATIC_ASSERT(offsetof(struct penna_values, is_result) == 6, "penna_values.is_result");

/* Where calls are left without exits, or continued without entries: setjmp and longjmp, contexts. */
enum penna_jump_what {
  PENNA_JUMP_SAVE = 1,   /* `buffer` now means this place: setjmp, getcontext */
  PENNA_JUMP_GO = 2,     /* continues at the place of `buffer`: longjmp, setcontext */
  PENNA_JUMP_SWITCH = 3, /* `other` now means this place; continues at that of `buffer`: swapcontext */
  PENNA_JUMP_MAKE = 4    /* `buffer` now means a new stack, which ends in `other` (0: nowhere): makecontext */
};
struct penna_jump {
  uint64_t buffer; /* address of the jmp_buf or ucontext_t */
  uint64_t other;
  uint32_t what; /* penna_jump_what */
  uint32_t reserved;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_jump) == 24, "penna_jump is 24 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_jump, what) == 16, "penna_jump.what");

/* ---- Encoding and decoding of headers -----------------------------------------------------------------------------
 */

static inline uint64_t penna_full_header(uint32_t kind, uint32_t words, uint64_t time) {
  return (uint64_t)(time << 16) | (uint64_t)words << 8 | (uint64_t)kind << 2 | PENNA_TAG_FULL;
}
static inline uint64_t penna_call_header(uint32_t tag, uint64_t pc, uint64_t time) {
  return pc << 32 | (uint32_t)(time << 2) | tag;
}
static inline uint32_t penna_header_tag(uint64_t header) { return header & 3; }
static inline uint32_t penna_header_kind(uint64_t header) { return (header >> 2) & 63; }
static inline uint32_t penna_header_words(uint64_t header) { return (header >> 8) & 255; }

/* The full time of a record from the low `bits` bits in its header. Values up to a 16th of the range before `begin` are
 * taken as before it (a handler that ran while its chunk was being opened), all others as after it. */
static inline uint64_t penna_extend_time(uint64_t begin, uint64_t low, uint32_t bits) {
  uint64_t range = UINT64_C(1) << bits;
  uint64_t ahead = (low - begin) & (range - 1);
  return ahead >= range - (range >> 4) ? begin + ahead - range : begin + ahead;
}
static inline uint64_t penna_header_time(uint64_t header, uint64_t begin) {
  uint32_t tag = penna_header_tag(header);
  return tag == PENNA_TAG_ENTRY || tag == PENNA_TAG_EXIT
             ? penna_extend_time(begin, (uint32_t)header >> 2, PENNA_CALL_TIME_BITS)
             : penna_extend_time(begin, header >> 16, PENNA_FULL_TIME_BITS);
}

PENNA_C_CODE_END

#endif
