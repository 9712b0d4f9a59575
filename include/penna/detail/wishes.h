/* SPDX-License-Identifier: MIT
 *
 * wishes.h: which sites are wanted, as a list of what was asked for: what a module that is loaded later gets, as if it had
 * been there all along.
 *
 * Why it stays short: what cannot make a difference any more is dropped, and wishes of one pattern become one where nothing
 * between them can tell. Freestanding; the caller holds the lock.
 * Invariant: for every site, the wishes one after the other, from 0 on, give its count.
 */
#ifndef PENNA_DETAIL_WISHES_H
#define PENNA_DETAIL_WISHES_H

#include "penna/detail/glob.h"
#include "penna/point_abi.h"

static inline struct penna_wish penna_make_wish(int32_t least, int32_t most, int32_t add) {
  struct penna_wish wish;
  wish.least = least;
  wish.most = most;
  wish.add = add;
  return wish;
}
static inline struct penna_wish penna_wish_enable(void) { return penna_make_wish(0, INT32_MAX, 1); }
static inline struct penna_wish penna_wish_disable(void) { return penna_make_wish(0, INT32_MAX, -1); }
static inline struct penna_wish penna_wish_on(void) { return penna_make_wish(1, INT32_MAX, 0); }
static inline struct penna_wish penna_wish_off(void) { return penna_make_wish(0, 0, 0); }

static inline int32_t penna_clamp(int64_t value, int64_t least, int64_t most) {
  return (int32_t)(value < least ? least : value > most ? most : value);
}
static inline uint32_t penna_wish_applied(struct penna_wish wish, uint32_t count) {
  return (uint32_t)penna_clamp((int64_t)count + wish.add, wish.least, wish.most);
}
/* Both, one after the other. INT32_MAX stands for no limit, and stays so. */
static inline struct penna_wish penna_wish_then(struct penna_wish first, struct penna_wish second) {
  const int64_t most = first.most == INT32_MAX ? INT32_MAX : (int64_t)first.most + second.add;
  return penna_make_wish(penna_clamp((int64_t)first.least + second.add, second.least, second.most),
                         penna_clamp(most, second.least, second.most),
                         penna_clamp((int64_t)first.add + second.add, -INT32_MAX, INT32_MAX));
}
static inline int penna_wish_is_nothing(struct penna_wish wish) {
  return wish.least == 0 && wish.most == INT32_MAX && wish.add == 0;
}
/* Lowers no count. */
static inline int penna_wish_never_lowers(struct penna_wish wish) { return wish.add >= 0 && wish.most == INT32_MAX; }
/* Adds to any count, so that the order among such does not matter. */
static inline int penna_wish_only_adds(struct penna_wish wish) {
  return penna_wish_never_lowers(wish) && wish.least <= wish.add;
}
/* The same whatever was before. */
static inline int penna_wish_is_fixed(struct penna_wish wish) { return wish.least == wish.most; }

/* ---- Patterns ----------------------------------------------------------------------------------------------------- */

/* The number that a pattern of digits names; else PENNA_NO_NUMBER. */
static inline uint32_t penna_pattern_number(const char* pattern) {
  uint64_t number = 0;
  const char* at = pattern;
  for (; *at >= '0' && *at <= '9' && number < PENNA_NO_NUMBER; ++at) number = number * 10 + (uint64_t)(*at - '0');
  return at == pattern || *at != '\0' || number >= PENNA_NO_NUMBER ? PENNA_NO_NUMBER : (uint32_t)number;
}

/* What a pattern is compared with. */
struct penna_site_name {
  char full[512]; /* "provider:name", cut */
  uint32_t number;
  uint32_t kind;
};
static inline int penna_pattern_matches(const char* pattern, uint32_t kinds, const struct penna_site_name* name) {
  const uint32_t number = penna_pattern_number(pattern);
  if ((kinds >> name->kind & 1) == 0) return 0;
  return number != PENNA_NO_NUMBER ? number == name->number : penna_glob_matches(pattern, name->full);
}

/* ---- The list ----------------------------------------------------------------------------------------------------- */

static inline struct penna_wish_record* penna_wish_at(struct penna_wishes* wishes, uint32_t at) {
  return (struct penna_wish_record*)(void*)(wishes->records + at);
}
static inline const char* penna_wish_pattern(const struct penna_wish_record* record) {
  return (const char*)(record + 1);
}

static inline int penna_same_text(const char* a, const char* b) {
  while (*a == *b && *a != '\0') ++a, ++b;
  return *a == *b;
}

static inline void penna_drop_wish(struct penna_wishes* wishes, uint32_t at) {
  const uint32_t bytes = penna_wish_at(wishes, at)->bytes;
  for (uint32_t i = at; i + bytes < wishes->used; ++i) wishes->records[i] = wishes->records[i + bytes];
  wishes->used -= bytes;
}

/* Before an empty list every count is 0: a wish at the front that leaves it there says nothing. */
static inline void penna_tidy_wishes(struct penna_wishes* wishes) {
  for (uint32_t at = 0; at < wishes->used;) {
    const struct penna_wish_record* record = penna_wish_at(wishes, at);
    if (penna_wish_is_nothing(record->wish) || (at == 0 && penna_wish_applied(record->wish, 0) == 0))
      penna_drop_wish(wishes, at);
    else
      at += record->bytes;
  }
}

/* 1 when the new wish only shifts whatever the earlier one leaves, so that additions between the two do not matter. */
static inline int penna_wish_only_shifts(struct penna_wish wish, struct penna_wish earlier) {
  return wish.most == INT32_MAX && (int64_t)penna_wish_applied(earlier, 0) + wish.add >= wish.least;
}

/* Makes the new wish one with the last of the same pattern, where nothing between them can tell; forgets earlier ones that
 * it overrules. 1 when nothing is left to add. */
static inline int penna_merge_wish(struct penna_wishes* wishes, const char* pattern, uint32_t kinds,
                                   struct penna_wish wish) {
  struct penna_wish_record* found = 0;   /* of this pattern, */
  uint32_t behind = 0;                   /* and where it ends */
  int only_added = 1, never_lowered = 1; /* by what follows it */
  const int for_all = penna_same_text(pattern, "*");
  for (uint32_t at = 0; at < wishes->used;) {
    struct penna_wish_record* record = penna_wish_at(wishes, at);
    const int same = record->kinds == kinds && penna_same_text(penna_wish_pattern(record), pattern);
    const int overruled = same || (for_all && (record->kinds & ~kinds) == 0);
    if (overruled && penna_wish_is_fixed(wish)) {
      penna_drop_wish(wishes, at);
      continue;
    }
    at += record->bytes;
    only_added = same || (only_added && penna_wish_only_adds(record->wish));
    never_lowered = same || (never_lowered && penna_wish_never_lowers(record->wish));
    if (same) {
      found = record;
      behind = at;
    }
  }
  if (found == 0) return 0;
  if (wish.add == 0 && never_lowered && penna_wish_only_shifts(wish, found->wish)) return 1; /* so it is already */
  if (behind != wishes->used && !(only_added && penna_wish_only_shifts(wish, found->wish))) return 0;
  found->wish = penna_wish_then(found->wish, wish);
  return 1;
}

/* Remembers a wish. 0, and nothing has changed, when there is no room. */
static inline int penna_add_wish(struct penna_wishes* wishes, const char* pattern, uint32_t kinds,
                                 struct penna_wish wish) {
  uint32_t length = 0, bytes;
  while (pattern[length] != '\0') ++length;
  bytes = (uint32_t)(sizeof(struct penna_wish_record) + length + 4) & ~3u;
  if (length >= sizeof wishes->records) return 0;
  if (!penna_merge_wish(wishes, pattern, kinds, wish)) {
    struct penna_wish_record* record = penna_wish_at(wishes, wishes->used);
    if (wishes->used + bytes > sizeof wishes->records) return 0;
    record->wish = wish;
    record->bytes = (uint16_t)bytes;
    record->kinds = (uint8_t)kinds;
    record->reserved = 0;
    for (uint32_t i = 0; i <= length; ++i) ((char*)(record + 1))[i] = pattern[i];
    wishes->used += bytes;
  }
  penna_tidy_wishes(wishes);
  return 1;
}

/* The count of a site that was not there before. */
static inline uint32_t penna_wanted_count(struct penna_wishes* wishes, const struct penna_site_name* name) {
  uint32_t count = 0;
  for (uint32_t at = 0; at < wishes->used;) {
    const struct penna_wish_record* record = penna_wish_at(wishes, at);
    if (penna_pattern_matches(penna_wish_pattern(record), record->kinds, name))
      count = penna_wish_applied(record->wish, count);
    at += record->bytes;
  }
  return count;
}

#endif
