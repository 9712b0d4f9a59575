/* SPDX-License-Identifier: MIT
 *
 * stream.h: how records leave a kernel or firmware, where there is neither an agent nor shared memory. This header is
 * the specification.
 *
 * Why: such code has a ring (ring.h) and some output: a device file, a serial line, a memory dump. What it outputs is a
 * stream: a header followed by units. `penna import` turns it into a recording.
 * Invariant: a unit can be decoded from itself and the stream's header alone; each begins with a mark, so a reader can
 * resynchronise after damage. Little-endian, 8-byte aligned. Freestanding C11 and C++17, no calls.
 *
 * The functions below cannot fail and touch only their arguments and the clock: thread-safe and safe in interrupts as
 * long as no two contexts share a unit. The caller provides room for the unit; sizes are in 8-byte words.
 *
 *   0    +----------------------+        unit:  63         32 31          0
 *        | penna_stream_header  |               +------------+------------+
 *   128  | unit                 |               |   mark     |   thread   |
 *        | unit ...             |               | a full record of event.h|  its header says how long it is
 *        +----------------------+               +-------------------------+
 *
 * thread: the writer: a task's id, a number per interrupt, ...; 0 = no thread. SITE, THREAD and MODULE records apply to
 * the whole stream, wherever they appear. LOST records count what did not fit into the ring. A ring slot must hold the
 * largest unit written to it; only its first penna_unit_bytes() go into the stream.
 */
#ifndef PENNA_STREAM_H
#define PENNA_STREAM_H

#include "penna/clock.h"
#include "penna/event.h"

PENNA_C_CODE_BEGIN

enum { PENNA_STREAM_VERSION = 1 };
#define PENNA_STREAM_MAGIC UINT64_C(0x316d727453006e50) /* "Pn\0Strm1" */
#define PENNA_UNIT_MARK UINT32_C(0x75a55ae7)

struct penna_stream_header {
  uint64_t magic;
  uint32_t version;
  uint32_t bytes;            /* of this header: where units begin */
  uint64_t ticks_per_second; /* 0 = unknown */
  uint64_t ticks;            /* with the next two, one moment on three clocks */
  uint64_t monotonic_ns;     /* since boot */
  uint64_t realtime_ns;      /* since 1970; 0 = unknown */
  char source[80];           /* the writer's name, for people; zero-terminated unless it fills the array */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_stream_header) == 128, "penna_stream_header is 128 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_stream_header, ticks) == 24, "penna_stream_header.ticks");
PENNA_STATIC_ASSERT(offsetof(struct penna_stream_header, source) == 48, "penna_stream_header.source");

enum { PENNA_MAX_UNIT_WORDS = 1 + PENNA_MAX_RECORD_WORDS };

/* Copies up to a zero or `bytes`, and zeroes the rest of `room`. Volatile, because the compiler would otherwise turn
 * the loops into calls of memcpy and memset. */
static inline void penna_stream_copy(uint64_t* words, const char* from, uint32_t bytes, uint32_t room) {
  volatile char* to = (volatile char*)words;
  uint32_t i = 0;
  for (; i < room && i < bytes && from[i] != '\0'; i++) to[i] = from[i];
  for (; i < room; i++) to[i] = '\0';
}

/* Fills the header. Read the two clocks immediately before the call: the header maps them to ticks. */
static inline void penna_stream_begin(struct penna_stream_header* header, const char* source, uint64_t monotonic_ns,
                                      uint64_t realtime_ns) {
  header->magic = PENNA_STREAM_MAGIC;
  header->version = PENNA_STREAM_VERSION;
  header->bytes = sizeof *header;
  header->ticks_per_second = penna_ticks_per_second();
  header->ticks = penna_now();
  header->monotonic_ns = monotonic_ns;
  header->realtime_ns = realtime_ns;
  penna_stream_copy((uint64_t*)(void*)header->source, source, sizeof header->source, sizeof header->source);
}

/* Begins a unit, stamped with the current time. Returns the start of its payload; pass its end to penna_unit_end(). */
static inline uint64_t* penna_unit_begin(uint64_t* unit, uint32_t thread, uint32_t kind) {
  unit[0] = (uint64_t)PENNA_UNIT_MARK << 32 | thread;
  unit[1] = penna_full_header(kind, 0, penna_now());
  return unit + 2;
}
static inline void penna_unit_end(uint64_t* unit, const uint64_t* end) {
  unit[1] |= (uint64_t)(uint32_t)(end - (unit + 1)) << 8;
}

/* The size of a finished unit. */
static inline uint32_t penna_unit_bytes(const uint64_t* unit) { return 8 * (1 + penna_header_words(unit[1])); }

/* Begins the unit of a passed point. Returns where its values go; append each by one of the next two functions. Takes
 * 3 words, then 1 word per number, and 1 word plus up to `most` bytes per zero-terminated string. */
static inline uint64_t* penna_unit_point(uint64_t* unit, uint32_t thread, uint32_t site) {
  uint64_t* to = penna_unit_begin(unit, thread, PENNA_KIND_POINT);
  *to = site;
  return to + 1;
}
static inline uint64_t* penna_unit_put_word(uint64_t* to, uint64_t value) {
  *to = value;
  return to + 1;
}
static inline uint64_t* penna_unit_put_string(uint64_t* to, const char* text, uint32_t most) {
  __asm__("" : "+r"(text)); /* else gcc warns of literals that are shorter than `most` */
  uint32_t bytes = 0;
  while (bytes < most && text[bytes] != '\0') bytes++;
  *to = bytes | (uint64_t)(bytes == most && text[bytes] != '\0' ? PENNA_STRING_CUT : 0) << 32;
  penna_stream_copy(to + 1, text, bytes, (bytes + 7) & ~7u);
  return to + 1 + (bytes + 7) / 8;
}

/* Names a thread; 4 words. Longer names are cut to 15 bytes. */
static inline void penna_unit_thread(uint64_t* unit, uint32_t thread, const char* name) {
  uint64_t* to = penna_unit_begin(unit, thread, PENNA_KIND_THREAD);
  penna_stream_copy(to, name, sizeof(struct penna_thread) - 1, sizeof(struct penna_thread));
  penna_unit_end(unit, to + sizeof(struct penna_thread) / 8);
}

/* Points lost since the last such unit, of unknown threads; 4 words. */
static inline void penna_unit_lost_points(uint64_t* unit, uint32_t count) {
  uint64_t* to = penna_unit_begin(unit, 0, PENNA_KIND_LOST);
  to[0] = 0;
  to[1] = (uint64_t)count << 32; /* count[PENNA_POINTS] */
  penna_unit_end(unit, to + 2);
}

/* Describes a site. `text`: provider, name, source file, then the name of each argument, zero-terminated,
 * `text_bytes` in all; `kind`: penna_site_kind; `types`: penna_arg_type of argument i in bits 4i..4i+3. The unit may
 * have PENNA_MAX_UNIT_WORDS; text that does not fit is cut. */
static inline void penna_unit_site(uint64_t* unit, uint32_t site, uint32_t kind, uint32_t line, uint64_t address,
                                   const char* text, uint32_t text_bytes, uint32_t arg_count, uint64_t types) {
  enum { kInfoWords = sizeof(struct penna_site_info) / 8, kMostText = (PENNA_MAX_RECORD_WORDS - 1 - kInfoWords) * 8 };
  if (text_bytes > kMostText) text_bytes = kMostText;
  uint32_t text_words = (text_bytes + 7) / 8;
  uint64_t* to = penna_unit_begin(unit, 0, PENNA_KIND_SITE);
  struct penna_site_info info = {site, line, address, (uint16_t)text_bytes, (uint8_t)arg_count, (uint8_t)kind, {0}};
  for (uint32_t i = 0; i < arg_count && i < PENNA_MAX_ARGS; i++) info.arg_types[i] = (uint8_t)(types >> (4 * i) & 15);
  *(struct penna_site_info __attribute__((may_alias))*)to = info;
  volatile char* names = (volatile char*)(to + kInfoWords); /* like penna_stream_copy, but keeps zeros */
  for (uint32_t i = 0; i < text_words * 8; i++) names[i] = i < text_bytes ? text[i] : '\0';
  penna_unit_end(unit, to + kInfoWords + text_words);
}

PENNA_C_CODE_END

#endif
