/* SPDX-License-Identifier: MIT
 *
 * site_requests.h: which sites are wanted, as the list of requests so far. A module that is loaded later gets them all,
 * as if it had been there from the start.
 *
 * Why it stays short: requests that no longer have an effect are dropped, and requests for one pattern are merged where
 * no request between them depends on the order. Freestanding; the caller holds the lock, and provides room
 * (penna_remember_request in patch.h).
 * Invariant: for every site, applying the requests in order, from 0 on, gives its count.
 */
#ifndef PENNA_DETAIL_SITE_REQUESTS_H
#define PENNA_DETAIL_SITE_REQUESTS_H

#include "penna/detail/regex.h"
#include "penna/point_abi.h"

PENNA_C_CODE_BEGIN

static inline struct penna_request penna_make_request(int32_t least, int32_t most, int32_t add) {
  struct penna_request request;
  request.least = least;
  request.most = most;
  request.add = add;
  return request;
}
static inline struct penna_request penna_request_enable(void) { return penna_make_request(0, INT32_MAX, 1); }
static inline struct penna_request penna_request_disable(void) { return penna_make_request(0, INT32_MAX, -1); }
static inline struct penna_request penna_request_on(void) { return penna_make_request(1, INT32_MAX, 0); }
static inline struct penna_request penna_request_off(void) { return penna_make_request(0, 0, 0); }

static inline int32_t penna_clamp(int64_t value, int64_t least, int64_t most) {
  return (int32_t)(value < least ? least : value > most ? most : value);
}
static inline uint32_t penna_request_applied(struct penna_request request, uint32_t count) {
  return (uint32_t)penna_clamp((int64_t)count + request.add, request.least, request.most);
}
/* Both requests, one after the other. INT32_MAX means no limit, and stays so. */
static inline struct penna_request penna_request_then(struct penna_request first, struct penna_request second) {
  const int64_t most = first.most == INT32_MAX ? INT32_MAX : (int64_t)first.most + second.add;
  return penna_make_request(penna_clamp((int64_t)first.least + second.add, second.least, second.most),
                            penna_clamp(most, second.least, second.most),
                            penna_clamp((int64_t)first.add + second.add, -INT32_MAX, INT32_MAX));
}
static inline int penna_request_is_nothing(struct penna_request request) {
  return request.least == 0 && request.most == INT32_MAX && request.add == 0;
}
/* Never lowers a count. */
static inline int penna_request_never_lowers(struct penna_request request) {
  return request.add >= 0 && request.most == INT32_MAX;
}
/* Adds to any count, so the order of such requests does not matter. */
static inline int penna_request_only_adds(struct penna_request request) {
  return penna_request_never_lowers(request) && request.least <= request.add;
}
/* Subtracts from any count, down to zero; the order of such requests does not matter either. */
static inline int penna_request_only_takes(struct penna_request request) {
  return request.add <= 0 && request.least == 0 && request.most == INT32_MAX;
}
/* Has the same result whatever the count was. */
static inline int penna_request_is_fixed(struct penna_request request) { return request.least == request.most; }

/* ---- Patterns ---------------------------------------------------------------------------------------------------- */

/* Small enough that the size of a record with its pattern fits 16 bits. */
enum { PENNA_MAX_PATTERN = 65000 }; /* bytes; names are compared up to their 511th byte */

/* The number that a pattern of digits stands for; else PENNA_NO_NUMBER. */
static inline uint32_t penna_pattern_number(const char* pattern) {
  uint64_t number = 0;
  const char* at = pattern;
  for (; *at >= '0' && *at <= '9' && number < PENNA_NO_NUMBER; ++at) number = number * 10 + (uint64_t)(*at - '0');
  return at == pattern || *at != '\0' || number >= PENNA_NO_NUMBER ? PENNA_NO_NUMBER : (uint32_t)number;
}

/* What patterns are compared with. */
struct penna_site_name {
  char full[512]; /* "provider:name", cut */
  uint32_t number;
  uint32_t kind;
};
static inline int penna_pattern_matches(const char* pattern, uint32_t kinds, const struct penna_site_name* name) {
  const uint32_t number = penna_pattern_number(pattern);
  if ((kinds >> name->kind & 1) == 0) return 0;
  return number != PENNA_NO_NUMBER ? number == name->number : penna_text_matches(pattern, name->full);
}

/* How a pattern relates to the sites that another one matches: all of them, none, or unknown. */
enum penna_coverage { PENNA_COVERS_NONE, PENNA_COVERS_SOME, PENNA_COVERS_ALL };
static inline int penna_is_one_of(char c, const char* set) {
  while (*set != '\0' && *set != c) ++set;
  return *set != '\0';
}
static inline int penna_has_any(const char* text, const char* set) {
  while (*text != '\0' && !penna_is_one_of(*text, set)) ++text;
  return *text != '\0';
}
static inline int penna_is_same_text(const char* one, const char* other) {
  while (*one == *other && *one != '\0') ++one, ++other;
  return *one == *other;
}
/* One of them is a regular expression: it can be compared with a name, but not with another pattern. */
static inline enum penna_coverage penna_regex_covers(const char* pattern, const char* other) {
  if (penna_is_same_text(pattern, other)) return PENNA_COVERS_ALL;
  if (penna_regex_in(other) != 0 || penna_has_any(other, "*?[\\")) return PENNA_COVERS_SOME;
  return penna_text_matches(pattern, other) ? PENNA_COVERS_ALL : PENNA_COVERS_NONE;
}
/* Patterns that begin differently have nothing in common. If a glob contains only stars, and matches another one
 * without sets as if that were a name, the other one is a special case of it. */
static inline enum penna_coverage penna_glob_covers(const char* glob, const char* other) {
  const char* const special = "*?[\\";
  uint32_t i = 0;
  while (glob[i] == other[i] && glob[i] != '\0' && !penna_is_one_of(glob[i], special)) ++i;
  if (glob[i] != other[i] && !penna_is_one_of(glob[i], special) && !penna_is_one_of(other[i], special))
    return PENNA_COVERS_NONE;
  if (!penna_has_any(other, special)) return penna_glob_matches(glob, other) ? PENNA_COVERS_ALL : PENNA_COVERS_NONE;
  if (penna_has_any(glob, "?[\\") || penna_has_any(other, "[\\")) return PENNA_COVERS_SOME;
  return penna_glob_matches(glob, other) ? PENNA_COVERS_ALL : PENNA_COVERS_SOME;
}
static inline enum penna_coverage penna_pattern_covers(const char* pattern, const char* other) {
  const uint32_t number = penna_pattern_number(pattern), other_number = penna_pattern_number(other);
  if (pattern[0] == '*' && pattern[1] == '\0') return PENNA_COVERS_ALL;
  if (penna_regex_in(pattern) != 0 || penna_regex_in(other) != 0) return penna_regex_covers(pattern, other);
  if (number == PENNA_NO_NUMBER && other_number == PENNA_NO_NUMBER) return penna_glob_covers(pattern, other);
  if (number == PENNA_NO_NUMBER || other_number == PENNA_NO_NUMBER) return PENNA_COVERS_SOME;
  return number == other_number ? PENNA_COVERS_ALL : PENNA_COVERS_NONE;
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static inline uint32_t penna_requests_room(const struct penna_requests* requests) {
  return requests->room != 0 ? requests->room : (uint32_t)sizeof requests->records;
}
static inline struct penna_request_record* penna_request_at(struct penna_requests* requests, uint32_t at) {
  return (struct penna_request_record*)(void*)((uint8_t*)requests + offsetof(struct penna_requests, records) + at);
}
static inline const char* penna_request_pattern(const struct penna_request_record* record) {
  return (const char*)(record + 1);
}
/* The size of a record with a pattern of this length. */
static inline uint32_t penna_request_bytes(uint32_t length) {
  return (uint32_t)(sizeof(struct penna_request_record) + length + 4) & ~3u;
}
/* Up to PENNA_MAX_PATTERN + 1, which means: too long. */
static inline uint32_t penna_pattern_length(const char* pattern) {
  uint32_t length = 0;
  while (length <= PENNA_MAX_PATTERN && pattern[length] != '\0') ++length;
  return length;
}

/* Before an empty list every count is 0: a request at the front that keeps it at 0 is redundant. */
static inline void penna_tidy_requests(struct penna_requests* requests) {
  uint32_t to = 0;
  for (uint32_t at = 0; at < requests->used;) {
    const struct penna_request_record* record = penna_request_at(requests, at);
    const uint32_t bytes = record->bytes;
    const int says_nothing =
        penna_request_is_nothing(record->request) || (to == 0 && penna_request_applied(record->request, 0) == 0);
    if (!says_nothing) {
      if (to != at) __builtin_memmove(penna_request_at(requests, to), record, bytes);
      to += bytes;
    }
    at += bytes;
  }
  requests->used = to;
}

/* A lower bound for the count of any site that the record at `behind` applies to, after the requests before it. */
static inline uint32_t penna_least_count(struct penna_requests* requests, uint32_t behind) {
  const struct penna_request_record* about = penna_request_at(requests, behind);
  uint32_t least = 0;
  for (uint32_t at = 0; at < behind;) {
    const struct penna_request_record* record = penna_request_at(requests, at);
    const uint32_t after = penna_request_applied(record->request, least);
    at += record->bytes;
    if ((record->kinds & about->kinds) == 0) continue;
    const enum penna_coverage coverage =
        penna_pattern_covers(penna_request_pattern(record), penna_request_pattern(about));
    if (coverage == PENNA_COVERS_NONE) continue;
    /* A request that may apply counts if it lowers the bound; one that raises it, only if it certainly applies. */
    if (after < least || (coverage == PENNA_COVERS_ALL && (about->kinds & ~record->kinds) == 0)) least = after;
  }
  return least;
}

/* 1 if an addition after the records in [at, end) can be moved before them: they only add, or subtract no more than is
 * certainly there. */
static inline int penna_may_add_before(struct penna_requests* requests, uint32_t at, uint32_t end) {
  enum { PENNA_MOST_LOOKED_AT = 256 }; /* each one examines all before it */
  for (int looked_at = 0; at < end; at += penna_request_at(requests, at)->bytes) {
    const struct penna_request request = penna_request_at(requests, at)->request;
    if (penna_request_only_adds(request)) continue;
    if (!penna_request_only_takes(request) || ++looked_at > PENNA_MOST_LOOKED_AT) return 0;
    if (penna_least_count(requests, at) < (uint32_t)-request.add) return 0;
  }
  return 1;
}

/* 1 if the new request only shifts the result of the earlier one: additions between the two do not matter. */
static inline int penna_request_only_shifts(struct penna_request request, struct penna_request earlier) {
  return request.most == INT32_MAX && (int64_t)penna_request_applied(earlier, 0) + request.add >= request.least;
}

/* Drops requests that are overridden by one with a fixed result. */
static inline void penna_forget_overruled(struct penna_requests* requests, const char* pattern, uint32_t kinds) {
  const int for_all = penna_is_same_text(pattern, "*");
  for (uint32_t at = 0; at < requests->used;) {
    struct penna_request_record* record = penna_request_at(requests, at);
    if ((record->kinds == kinds && penna_is_same_text(penna_request_pattern(record), pattern)) ||
        (for_all && (record->kinds & ~kinds) == 0))
      record->request = penna_make_request(0, INT32_MAX, 0);
    at += record->bytes;
  }
  penna_tidy_requests(requests);
}

/* Merges the new request with the last one for the same pattern, if nothing between them depends on the order. Returns
 * 1 if nothing is left to add. */
static inline int penna_merge_request(struct penna_requests* requests, const char* pattern, uint32_t kinds,
                                      struct penna_request request) {
  struct penna_request_record* found = 0;                /* with this pattern, */
  uint32_t behind = 0;                                   /* and where it ends */
  int only_added = 1, only_taken = 1, never_lowered = 1; /* by what follows it */
  for (uint32_t at = 0; at < requests->used;) {
    struct penna_request_record* record = penna_request_at(requests, at);
    const int same = record->kinds == kinds && penna_is_same_text(penna_request_pattern(record), pattern);
    at += record->bytes;
    only_added = same || (only_added && penna_request_only_adds(record->request));
    only_taken = same || (only_taken && penna_request_only_takes(record->request));
    never_lowered = same || (never_lowered && penna_request_never_lowers(record->request));
    if (same) {
      found = record;
      behind = at;
    }
  }
  if (found == 0) return 0;
  if (request.add == 0 && never_lowered && penna_request_only_shifts(request, found->request))
    return 1; /* nothing would change */
  if (behind != requests->used) {
    const int adds =
        penna_request_only_adds(request) && !only_added && penna_may_add_before(requests, behind, requests->used);
    const int takes = only_taken && penna_request_only_takes(request) && penna_request_only_takes(found->request);
    if (!adds && !takes && !(only_added && penna_request_only_shifts(request, found->request))) return 0;
  }
  found->request = penna_request_then(found->request, request);
  return 1;
}

/* Remembers a request. Returns 0, and changes nothing, if there is no room. */
static inline int penna_add_request(struct penna_requests* requests, const char* pattern, uint32_t kinds,
                                    struct penna_request request) {
  const uint32_t length = penna_pattern_length(pattern), bytes = penna_request_bytes(length);
  if (length > PENNA_MAX_PATTERN) return 0;
  if (penna_request_is_fixed(request)) penna_forget_overruled(requests, pattern, kinds);
  if (!penna_merge_request(requests, pattern, kinds, request)) {
    struct penna_request_record* record = penna_request_at(requests, requests->used);
    if (bytes > penna_requests_room(requests) - requests->used) return 0;
    record->request = request;
    record->bytes = (uint16_t)bytes;
    record->kinds = (uint8_t)kinds;
    record->reserved = 0;
    __builtin_memcpy(record + 1, pattern, length + 1);
    requests->used += bytes;
  }
  penna_tidy_requests(requests);
  return 1;
}

/* The count of a site in a module that is loaded now. */
static inline uint32_t penna_wanted_count(struct penna_requests* requests, const struct penna_site_name* name) {
  uint32_t count = 0;
  for (uint32_t at = 0; at < requests->used;) {
    const struct penna_request_record* record = penna_request_at(requests, at);
    if (penna_pattern_matches(penna_request_pattern(record), record->kinds, name))
      count = penna_request_applied(record->request, count);
    at += record->bytes;
  }
  return count;
}

PENNA_C_CODE_END

#endif
