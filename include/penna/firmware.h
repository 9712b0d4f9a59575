/* SPDX-License-Identifier: MIT
 *
 * firmware.h: points in an image with no operating system under it: switches its sites, and takes what those that are on
 * say into a ring, as units of stream.h.
 *
 * In one C file, compiled for general registers only (gcc and clang: -mgeneral-regs-only), for a site may have its values in
 * vector registers:
 *     #define PENNA_FIRMWARE_IMPLEMENTATION
 *     #include "penna/firmware.h"
 * All files with points: -DPENNA_POINT_BY_VALUES=1. i386: all files with this ring: -DPENNA_RING_TICKET_BITS=16. The linker script keeps the sections penna_sites and .note.penna.
 * Freestanding; no calls but its own. Recording: from anywhere, interrupts included. Switching: from one place at a time.
 * Invariant: only the bytes of slots change in the code, each by one store that other cores may run into.
 */
#ifndef PENNA_FIRMWARE_H
#define PENNA_FIRMWARE_H

#include "penna/arch/point.h"
#include "penna/point_abi.h"
#include "penna/ring.h"
#include "penna/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gives each site an id, from 1 on, and makes `ring` the place where records go; how many sites. The greatest unit is of
 * ring->slot_size: strings and arrays are cut to what is left in it, and a site whose numbers alone do not fit stays off.
 * `thread`: who runs now (stream.h); called for each record. */
uint32_t penna_firmware_start(struct penna_ring* ring, uint32_t (*thread)(void));

/* Switches the sites "provider:name" that match a glob: how many do. Enabling counts: what was switched on twice must be
 * switched off twice; off once more does nothing. The code must be writable here. */
uint32_t penna_firmware_switch(const char* pattern, int on);

/* The SITE unit of site number `id`, for the stream; 0 when there is none. PENNA_MAX_UNIT_WORDS. */
int penna_firmware_site(uint64_t* unit, uint32_t id);

#ifdef PENNA_FIRMWARE_IMPLEMENTATION

#if defined(__SSE__) || defined(__ARM_NEON)
#error "compile this file with -mgeneral-regs-only"
#endif
#ifndef PENNA_ARCH_HAS_POINTS
#error "this processor has no points that can be switched"
#endif

#include "penna/detail/glob.h"
#include "penna/detail/site_text.h"

extern const struct penna_point_site penna_first_site[] __asm__("__start_penna_sites")
    __attribute__((weak, visibility("hidden")));
extern const struct penna_point_site penna_end_of_sites[] __asm__("__stop_penna_sites")
    __attribute__((weak, visibility("hidden")));
extern struct penna_point_entries penna_entries __asm__("penna_module_entries")
    __attribute__((weak, visibility("hidden")));
void penna_firmware_values_entry(void);
void penna_firmware_reserve_entry(void);

static struct penna_ring* penna_firmware_ring;
static uint32_t (*penna_firmware_thread)(void);

/* ---- Sites -------------------------------------------------------------------------------------------------------- */

static inline void* penna_follow(const int32_t* field) { return (char*)(uintptr_t)field + *field; }

static inline struct penna_point_state* penna_state_of(const struct penna_point_site* site) {
  return (struct penna_point_state*)penna_follow(&site->state_at);
}

static inline int penna_site_can_switch(const struct penna_point_site* site) {
  return site->slot_at != 0 && penna_state_of(site)->id != 0;
}

uint32_t penna_firmware_start(struct penna_ring* ring, uint32_t (*thread)(void)) {
  uint32_t last = 0;
  penna_firmware_ring = ring;
  penna_firmware_thread = thread;
  for (const struct penna_point_site* site = penna_first_site; site < penna_end_of_sites; site++) {
    struct penna_point_state* state = penna_state_of(site);
    if (state->id != 0 || (3u + 1u + site->arg_count) * 8 > ring->slot_size) continue;
    state->arg_count = site->arg_count;
    state->types = site->types;
    state->id = ++last;
  }
  if (last != 0) {
    penna_entries.reserve = (uintptr_t)&penna_firmware_reserve_entry;
    penna_entries.values = (uintptr_t)&penna_firmware_values_entry;
  }
  return last;
}

int penna_firmware_site(uint64_t* unit, uint32_t id) {
  for (const struct penna_point_site* site = penna_first_site; site < penna_end_of_sites; site++) {
    if (id == 0 || penna_state_of(site)->id != id) continue;
    char* text = (char*)(unit + 2 + sizeof(struct penna_site_info) / 8); /* where the unit has it */
    uint32_t room = PENNA_MAX_UNIT_WORDS * 8 - (uint32_t)(text - (char*)unit);
    uint32_t bytes = penna_copy_site_text(site, (const char*)UINTPTR_MAX, text, room);
    penna_unit_site(unit, id, site->kind, site->line, (uintptr_t)penna_follow(&site->slot_at), text, bytes,
                    site->arg_count, site->types);
    return 1;
  }
  return 0;
}

/* ---- Switching ---------------------------------------------------------------------------------------------------- */

/* "provider:name" against a glob. */
static inline int penna_site_matches(const struct penna_point_site* site, const char* pattern) {
  char name[128];
  uint32_t length = 0;
  const char* from = (const char*)penna_follow(&site->text_at);
  for (uint32_t part = 0; part < 2; part++) {
    for (; *from != '\0' && length < sizeof name - 2; from++) name[length++] = *from;
    while (*from++ != '\0') {
    }
    if (part == 0) name[length++] = ':';
  }
  name[length] = '\0';
  return penna_glob_matches(pattern, name);
}

/* One store of a word that holds the whole slot. */
static inline void penna_store_slot(uintptr_t slot, const unsigned char* code) {
  typedef uint32_t __attribute__((may_alias)) half;
  typedef uint64_t __attribute__((may_alias, aligned(8))) whole;
  if (PENNA_SLOT_BYTES == 4) {
    __atomic_store_n((half*)slot, code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24,
                     __ATOMIC_RELEASE);
  } else {
    /* Nobody else stores here: a compare-and-swap for the store of eight bytes that it ends with. */
    whole* at = (whole*)(slot & ~(uintptr_t)7);
    uint64_t before, after;
    do {
      before = after = *(volatile whole*)at;
      for (uint32_t i = 0; i < PENNA_SLOT_BYTES; i++) {
        uint32_t shift = 8 * ((uint32_t)(slot & 7) + i);
        after = (after & ~((uint64_t)0xff << shift)) | (uint64_t)code[i] << shift;
      }
    } while (!penna_arch_cas_local(at, before, after));
  }
  penna_arch_code_changed(slot);
}

static inline void penna_patch_site(const struct penna_point_site* site, int on) {
  static const unsigned char kDisabled[PENNA_SLOT_BYTES] = PENNA_DISABLED_SLOT;
  unsigned char armed[PENNA_SLOT_BYTES];
  uintptr_t slot = (uintptr_t)penna_follow(&site->slot_at);
  if (!on)
    penna_store_slot(slot, kDisabled);
  else if (penna_arch_armed_slot(slot, (uintptr_t)penna_follow(&site->cold_at), armed))
    penna_store_slot(slot, armed);
}

uint32_t penna_firmware_switch(const char* pattern, int on) {
  static uint32_t stamp;
  uint32_t matched = 0;
  stamp++;
  for (const struct penna_point_site* site = penna_first_site; site < penna_end_of_sites; site++) {
    if (!penna_site_can_switch(site) || !penna_site_matches(site, pattern)) continue;
    struct penna_point_state* state = penna_state_of(site);
    if (state->stamp != stamp) { /* copies of a site share their state */
      state->stamp = stamp;
      state->wanted = on ? state->wanted + 1 : state->wanted - (state->wanted != 0);
      matched++;
    }
    penna_patch_site(site, state->wanted != 0);
  }
  return matched;
}

/* ---- Recording ---------------------------------------------------------------------------------------------------- */

/* A string or an array, as record and cold block describe them (event.h, point_abi.h), in at most `room` words. */
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

/* Called by the entry of the same name: `values` as penna_point_entries says. */
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

/* A site that was not compiled with PENNA_POINT_BY_VALUES: there is no record that it could store into. */
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
#endif
