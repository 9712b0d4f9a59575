/* SPDX-License-Identifier: MIT
 *
 * firmware.h: points in an image without an operating system: switches its sites, and writes the events of enabled ones
 * into a ring, as units of stream.h.
 *
 * In one C file, compiled for general registers only (gcc and clang: -mgeneral-regs-only), because the code around a
 * site may hold values in vector registers:
 *     #define PENNA_FIRMWARE_IMPLEMENTATION
 *     #include "penna/firmware.h"
 * linker script keeps the sections penna_sites and .note.penna. Freestanding; calls no function outside this file.
 * Recording: from anywhere, interrupts included. Switching: from one place at a time.
 * Invariant: only the bytes of slots change in the code, each by one store that other cores may run into.
 */
#ifndef PENNA_FIRMWARE_H
#define PENNA_FIRMWARE_H

#include "penna/arch/point.h"
#include "penna/point_abi.h"
#include "penna/ring.h"
#include "penna/stream.h"

PENNA_C_CODE_BEGIN

#ifdef __cplusplus
extern "C" {
#endif

/* Gives each point an id, from 1, and directs records to `ring`. Returns the number of points. A unit has at most
 * ring->slot_size bytes: strings and arrays are cut to fit, and a site whose numbers alone do not fit stays off.
 * `thread` returns the current thread (stream.h); called for each record, in interrupts too. */
uint32_t penna_firmware_start(struct penna_ring* ring, uint32_t (*thread)(void));

/* Switches the points and triggers whose "provider:name" matches. Returns their number, counted as in control.h.
 * Enables nest: what was switched on twice must be switched off twice; further disables do nothing. The code must be
 * writable. Not reentrant. */
uint32_t penna_firmware_switch(const char* pattern, int on);

/* Writes the SITE unit of site `id` for the stream, up to PENNA_MAX_UNIT_WORDS words; 0 if there is no such site. */
int penna_firmware_site(uint64_t* unit, uint32_t id);

#ifdef PENNA_FIRMWARE_IMPLEMENTATION

#if defined(__SSE__) || defined(__ARM_NEON)
#error "compile this file with -mgeneral-regs-only"
#endif
#ifndef PENNA_ARCH_HAS_POINTS
#error "this processor has no points that can be switched"
#endif

#include "penna/detail/site_table.h"
#include "penna/detail/site_text.h"

extern const struct penna_point_module penna_image __asm__("penna_module_description")
    __attribute__((weak, visibility("hidden")));
void penna_firmware_values_entry(void);
void penna_firmware_reserve_entry(void);

static struct penna_ring* penna_firmware_ring;
static uint32_t (*penna_firmware_thread)(void);

/* ---- Sites ------------------------------------------------------------------------------------------------------- */

/* The table of the whole image; without a note if it has no points. */
static inline struct penna_site_table penna_firmware_table(void) {
  struct penna_site_table table = {&penna_image, 0, UINTPTR_MAX};
  return table;
}
static inline size_t penna_firmware_site_count(const struct penna_site_table* table) {
  return table->note != NULL ? penna_site_count(table) : 0;
}

uint32_t penna_firmware_start(struct penna_ring* ring, uint32_t (*thread)(void)) {
  const struct penna_site_table table = penna_firmware_table();
  const size_t count = penna_firmware_site_count(&table);
  uint32_t last = 0;
  penna_firmware_ring = ring;
  penna_firmware_thread = thread;
  for (size_t i = 0; i < count; i++) {
    const struct penna_point_site* site = penna_first_site(&table) + i;
    struct penna_point_state* state = penna_state_of(site);
    if (site->kind == PENNA_SITE_TRIGGER || state->id != 0 || (3u + 1u + site->arg_count) * 8 > ring->slot_size)
      continue;
    state->arg_count = site->arg_count;
    state->types = site->types;
    state->id = ++last;
  }
  if (count != 0) {
    penna_entries_of(&table)->reserve = (uintptr_t)&penna_firmware_reserve_entry;
    penna_entries_of(&table)->values = (uintptr_t)&penna_firmware_values_entry;
  }
  return last;
}

int penna_firmware_site(uint64_t* unit, uint32_t id) {
  const struct penna_site_table table = penna_firmware_table();
  const size_t count = penna_firmware_site_count(&table);
  for (size_t i = 0; i < count; i++) {
    const struct penna_point_site* site = penna_first_site(&table) + i;
    if (id == 0 || penna_state_of(site)->id != id) continue;
    char* text = (char*)(unit + 2 + sizeof(struct penna_site_info) / 8); /* its place in the unit */
    uint32_t room = PENNA_MAX_UNIT_WORDS * 8 - (uint32_t)(text - (char*)unit);
    uint32_t bytes = penna_copy_site_text(site, (const char*)UINTPTR_MAX, text, room);
    penna_unit_site(unit, id, site->kind, site->line, penna_slot_of(site), text, bytes, site->arg_count, site->types);
    return 1;
  }
  return 0;
}

/* ---- Switching --------------------------------------------------------------------------------------------------- */

/* Whether an event of this site can be recorded. */
static int penna_firmware_ready(struct penna_switcher* self, const struct penna_site_table* table,
                                const struct penna_point_site* site) {
  (void)self, (void)table;
  return site->kind == PENNA_SITE_TRIGGER || penna_state_of(site)->id != 0;
}

/* Writes the whole change with one store. */
static int penna_firmware_write(struct penna_switcher* self, const struct penna_site_table* table,
                                const struct penna_slot_change* change) {
  typedef penna_slot_unit __attribute__((may_alias)) word;
  word after;
  (void)self, (void)table;
  if (change->slot % sizeof after != 0 || !penna_slot_holds(change->slot, change->from)) return 0;
  __builtin_memcpy(&after, change->to, sizeof after);
  __atomic_store_n((word*)change->slot, after, __ATOMIC_RELEASE);
  penna_arch_code_changed(change->slot);
  return 1;
}

uint32_t penna_firmware_switch(const char* pattern, int on) {
  static uint32_t stamp;
  const struct penna_site_table table = penna_firmware_table();
  struct penna_switcher switcher = {penna_firmware_ready, penna_firmware_write};
  struct penna_switching switching = {pattern, PENNA_ALL_KINDS, ++stamp,
                                      on ? penna_request_enable() : penna_request_disable()};
  struct penna_change_counts counts = {0, 0, 0};
  if (table.note != NULL) penna_change_table(&switcher, &table, &switching, &counts);
  return counts.matched;
}

/* ---- Recording --------------------------------------------------------------------------------------------------- */

/* A string or an array, as described in event.h and point_abi.h, in at most `room` words. */
static inline uint64_t* penna_firmware_put(uint64_t* to, const uint64_t* pair, uint32_t type, uint32_t room) {
  static const char kNull[] = "(null)";
  const char* from = pair[0] != 0 ? (const char*)(uintptr_t)pair[0] : kNull;
  uint64_t limit = pair[0] != 0 ? pair[1] : sizeof kNull | PENNA_TEXT_ENDS_AT_ZERO;
  uint32_t most = (room - 1) * 8, bytes = 0, flags = 0;
  if (most > PENNA_MAX_STRING) most = PENNA_MAX_STRING;
  if (type == PENNA_ARG_ARRAY) {
    uint32_t element = (uint32_t)(limit >> 32) >> PENNA_ELEMENT_BYTES_SHIFT & 15;
    flags = (uint32_t)(limit >> 32);
    bytes = (uint32_t)limit;
    if (bytes > most) bytes = most & ~(element - 1), flags |= PENNA_STRING_CUT;
  } else {
    uint64_t end = limit & ~PENNA_TEXT_ENDS_AT_ZERO;
    while (bytes < end && bytes <= most && ((limit & PENNA_TEXT_ENDS_AT_ZERO) == 0 || from[bytes] != '\0')) bytes++;
    if (bytes > most) bytes = most, flags = PENNA_STRING_CUT;
  }
  uint32_t words = (bytes + 7) / 8;
  *to = bytes | (uint64_t)flags << 32;
  if (words != 0) to[words] = 0;
  for (uint32_t i = 0; i < bytes; i++) ((volatile char*)(to + 1))[i] = from[i];
  return to + 1 + words;
}

/* Called by the entry of the same name; `values` as in penna_point_entries. */
__attribute__((used)) uint64_t* penna_firmware_values(const struct penna_point_state* state, const uint64_t* values) {
  uint32_t ticket, count = state->arg_count;
  uint64_t* unit = (uint64_t*)penna_ring_reserve(penna_firmware_ring, &ticket);
  if (unit == NULL) return NULL;
  uint64_t* end = unit + penna_firmware_ring->slot_size / 8;
  uint64_t* to = penna_unit_point(unit, penna_firmware_thread(), state->id);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t type = (uint32_t)(state->types >> (4 * i)) & 15;
    if (type != PENNA_ARG_STRING && type != PENNA_ARG_ARRAY) {
      *to++ = *values++;
    } else {
      to = penna_firmware_put(to, values, type, (uint32_t)(end - to) - (count - 1 - i));
      values += 2;
    }
  }
  penna_unit_end(unit, to);
  penna_ring_commit(penna_firmware_ring, ticket);
  return NULL;
}

/* A site that was not compiled with PENNA_POINT_BY_VALUES: there is no record for it to store into. */
__attribute__((used)) uint64_t* penna_firmware_reserve(const struct penna_point_state* state, const uint64_t* values) {
  (void)state, (void)values;
  __atomic_fetch_add(&penna_firmware_ring->dropped, 1, __ATOMIC_RELAXED);
  return NULL;
}

__asm__(PENNA_ASM_ENTRY("penna_firmware_values_entry", "penna_firmware_values")
            PENNA_ASM_ENTRY("penna_firmware_reserve_entry", "penna_firmware_reserve"));

#endif
#ifdef __cplusplus
}
#endif
PENNA_C_CODE_END

#endif
