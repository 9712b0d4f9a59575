/* SPDX-License-Identifier: MIT
 *
 * site_table.h: the sites of a module, and how a switching changes them.
 *
 * Why separate from finding modules and writing code: a program, the agent, a kernel and firmware do these differently,
 * and everything else in the same way. Freestanding; the caller holds the lock.
 * Invariant: a site is switched only where its count and its slot differ; a table that was linked wrongly yields no
 * points, but no crash either.
 */
#ifndef PENNA_DETAIL_SITE_TABLE_H
#define PENNA_DETAIL_SITE_TABLE_H

#include "penna/arch/point.h"
#include "penna/detail/site_requests.h"

PENNA_C_CODE_BEGIN

/* The target of a field in the tables: fields hold the distance from themselves, so tables need no relocations, and
 * can lie in read-only memory. */
#define PENNA_TARGET(type, field) ((type*)(uintptr_t)((intptr_t)(field) + (intptr_t) * (field)))

/* A module with sites, and its whole mapping: [start, end). */
struct penna_site_table {
  const struct penna_point_module* note;
  uintptr_t start, end;
};

struct penna_slot_change;

/* How sites are switched. */
struct penna_switcher {
  /* Whether this site may be armed now; prepares it. */
  int (*ready)(struct penna_switcher* self, const struct penna_site_table* table, const struct penna_point_site* site);
  /* Returns 0 if refused: then nothing has changed. */
  int (*write)(struct penna_switcher* self, const struct penna_site_table* table,
               const struct penna_slot_change* change);
};

struct penna_switching {
  const char* pattern;
  uint32_t kinds; /* bit 1 << penna_site_kind */
  uint32_t stamp; /* differs for each switching */
  struct penna_request request;
};
/* Places that use a pool are not points: they are switched when allocations are recorded, and only then. */
enum {
  PENNA_POOL_KINDS = 1 << PENNA_SITE_POOL,
  PENNA_ALL_KINDS = 0xfe & ~PENNA_POOL_KINDS,
  PENNA_RECORDED_KINDS = PENNA_ALL_KINDS & ~(1 << PENNA_SITE_TRIGGER)
};

/* Subtracts where an addition could overflow: addresses come from the tables, which may be damaged. */
static inline int penna_is_inside(const struct penna_site_table* table, const void* at, size_t bytes) {
  const uintptr_t address = (uintptr_t)at;
  return address >= table->start && address <= table->end && bytes <= table->end - address;
}

static inline const struct penna_point_site* penna_first_site(const struct penna_site_table* table) {
  return PENNA_TARGET(const struct penna_point_site, &table->note->sites_at);
}
static inline size_t penna_site_count(const struct penna_site_table* table) {
  const uintptr_t first = (uintptr_t)penna_first_site(table);
  const uintptr_t end = (uintptr_t)PENNA_TARGET(const char, &table->note->end_at);
  if (end < first || !penna_is_inside(table, penna_first_site(table), end - first)) return 0;
  return (end - first) / sizeof(struct penna_point_site);
}
static inline struct penna_point_entries* penna_entries_of(const struct penna_site_table* table) {
  struct penna_point_entries* entries = PENNA_TARGET(struct penna_point_entries, &table->note->entries_at);
  return table->note->version == PENNA_POINT_ABI_VERSION && penna_is_inside(table, entries, sizeof *entries) ? entries
                                                                                                             : 0;
}

static inline int penna_has_slot(const struct penna_point_site* site) { return site->slot_at != 0; }
static inline uintptr_t penna_slot_of(const struct penna_point_site* site) {
  return (uintptr_t)PENNA_TARGET(const char, &site->slot_at);
}
static inline uintptr_t penna_cold_of(const struct penna_point_site* site) {
  return (uintptr_t)PENNA_TARGET(const char, &site->cold_at);
}
static inline struct penna_point_state* penna_state_of(const struct penna_point_site* site) {
  return PENNA_TARGET(struct penna_point_state, &site->state_at);
}
static inline const char* penna_text_of(const struct penna_point_site* site) {
  return PENNA_TARGET(const char, &site->text_at);
}

#ifdef PENNA_ARCH_HAS_POINTS

/* How a slot is to change: it holds `from`, and is to hold `to`. They differ only in the first penna_slot_unit. */
struct penna_slot_change {
  uintptr_t slot;
  int armed; /* by `to` */
  unsigned char from[PENNA_SLOT_BYTES], to[PENNA_SLOT_BYTES];
};

/* A site whose parts are all inside its module. */
static inline int penna_site_is_sound(const struct penna_site_table* table, const struct penna_point_site* site) {
  const char* text = penna_text_of(site);
  if (penna_has_slot(site) && (!penna_is_inside(table, (const void*)penna_slot_of(site), PENNA_SLOT_BYTES) ||
                               !penna_is_inside(table, (const void*)penna_cold_of(site), 1)))
    return 0;
  const int known =
      (site->kind >= PENNA_SITE_EVENT && site->kind <= PENNA_SITE_TRIGGER) || site->kind == PENNA_SITE_POOL;
  return known && site->arg_count <= PENNA_MAX_ARGS && site->text_bytes != 0 &&
         penna_is_inside(table, penna_state_of(site), sizeof(struct penna_point_state)) &&
         penna_is_inside(table, text, site->text_bytes) && text[site->text_bytes - 1] == '\0';
}

/* "provider:name" of a site's text; the rest of `name` is unchanged. */
static inline void penna_name_text(const char* text, uint32_t bytes, struct penna_site_name* name) {
  const char* end = text + bytes;
  size_t used = 0;
  for (int part = 0; part < 2; ++part) {
    /* Two bytes stay free: for the colon, and for the zero. */
    for (; text < end && *text != '\0'; ++text)
      if (used < sizeof name->full - 2) name->full[used++] = *text;
    if (text < end) ++text;
    if (part == 0) name->full[used++] = ':';
  }
  name->full[used] = '\0';
}

static inline void penna_name_site(const struct penna_point_site* site, struct penna_site_name* name) {
  penna_name_text(penna_text_of(site), site->text_bytes, name);
  name->number = site->number;
  name->kind = site->kind;
}

/* 1 if the slot contains these bytes. */
static inline int penna_slot_holds(uintptr_t slot, const unsigned char* code) {
  const volatile unsigned char* at = (const volatile unsigned char*)slot;
  for (int i = 0; i < PENNA_SLOT_BYTES; ++i)
    if (at[i] != code[i]) return 0;
  return 1;
}

/* Makes the slot agree with the site's count. Returns 0 if refused. */
static inline int penna_settle_site(struct penna_switcher* switcher, const struct penna_site_table* table,
                                    const struct penna_point_site* site) {
  struct penna_slot_change change;
  const int wanted = penna_state_of(site)->wanted != 0 && switcher->ready(switcher, table, site);
  if (!penna_has_slot(site)) return 1;
  /* A jump from the slot would not reach the cold block: the site can only stay off. */
  change.slot = penna_slot_of(site);
  change.armed = wanted;
  if (!penna_arch_slot(change.slot, penna_cold_of(site), wanted, change.to) ||
      !penna_arch_slot(change.slot, penna_cold_of(site), !wanted, change.from))
    return !wanted;
  if (penna_slot_holds(change.slot, change.to)) return 1;
  return switcher->write(switcher, table, &change);
}

/* Switches the sites of one module. From the last to the first: a span's end is armed before its beginning. */
static inline void penna_change_table(struct penna_switcher* switcher, const struct penna_site_table* table,
                                      const struct penna_switching* switching, struct penna_change_counts* counts) {
  const struct penna_point_site* first = penna_first_site(table);
  for (size_t i = penna_site_count(table); i-- > 0;) {
    const struct penna_point_site* site = first + i;
    struct penna_site_name name;
    if (!penna_site_is_sound(table, site)) continue;
    penna_name_site(site, &name);
    if (!penna_pattern_matches(switching->pattern, switching->kinds, &name)) continue;
    struct penna_point_state* state = penna_state_of(site);
    if (state->stamp != switching->stamp) { /* the first copy of it in this switching */
      const int was_on = state->wanted != 0;
      state->stamp = switching->stamp;
      state->wanted = penna_request_applied(switching->request, state->wanted);
      state->outcome = was_on != (state->wanted != 0) ? PENNA_CHANGED : PENNA_UNCHANGED;
      if (site->kind != PENNA_SITE_SPAN_END) {
        ++counts->matched;
        counts->changed += state->outcome == PENNA_CHANGED;
      }
    }
    /* Each copy has its own slot. One that is refused makes the site refused, once. */
    if (!penna_settle_site(switcher, table, site) && state->outcome != PENNA_REFUSED &&
        site->kind != PENNA_SITE_SPAN_END) {
      counts->changed -= state->outcome == PENNA_CHANGED;
      ++counts->refused;
      state->outcome = PENNA_REFUSED;
    }
  }
}

/* For a new module: applies all requests so far to its sites. Returns how many sites are malformed. */
static inline uint32_t penna_enter_table(struct penna_switcher* switcher, const struct penna_site_table* table,
                                         struct penna_requests* requests) {
  const struct penna_point_site* first = penna_first_site(table);
  uint32_t unsound = 0;
  for (size_t i = penna_site_count(table); i-- > 0;) {
    struct penna_site_name name;
    if (!penna_site_is_sound(table, first + i)) {
      ++unsound;
      continue;
    }
    penna_name_site(first + i, &name);
    penna_state_of(first + i)->wanted = penna_wanted_count(requests, &name);
    penna_settle_site(switcher, table, first + i);
  }
  return unsound;
}

/* Checks all slots again, after the answer of `ready` has changed. */
static inline void penna_settle_table(struct penna_switcher* switcher, const struct penna_site_table* table) {
  const struct penna_point_site* first = penna_first_site(table);
  for (size_t i = penna_site_count(table); i-- > 0;)
    if (penna_site_is_sound(table, first + i)) penna_settle_site(switcher, table, first + i);
}

#endif /* PENNA_ARCH_HAS_POINTS */
PENNA_C_CODE_END

#endif
