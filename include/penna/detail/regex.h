/* SPDX-License-Identifier: MIT
 *
 * regex.h: extended regular expressions, for names: . [a-z] [!a-z] ( ) | * + ? ^ $ and \x for x itself; any other
 * character stands for itself.
 *
 * Why not a library's: points are selected inside the program, where nothing may be allocated, and a pattern must mean
 * the same on both sides.
 * How: the expression becomes a program of steps, and all ways through it are followed at once (Thompson, CACM 1968),
 * so that no expression takes longer than steps times characters.
 * Invariant: no unbounded loop, whatever the expression holds; no memory but the stack's, some 5 kB.
 */
#ifndef PENNA_DETAIL_REGEX_H
#define PENNA_DETAIL_REGEX_H

#include <stddef.h>
#include <stdint.h>

#include "penna/detail/glob.h"

PENNA_C_CODE_BEGIN

enum { PENNA_REGEX_STEPS = 512, PENNA_REGEX_DEPTH = 64 };
enum penna_regex_does {
  PENNA_REGEX_CHAR,
  PENNA_REGEX_ANY,
  PENNA_REGEX_SET,
  PENNA_REGEX_BEGIN,
  PENNA_REGEX_END,
  PENNA_REGEX_FORK, /* continues at both */
  PENNA_REGEX_MATCH
};
struct penna_regex_step {
  uint8_t does;
  char wanted;   /* CHAR */
  int16_t first; /* SET: its place in the text; FORK: a relative target, like second */
  int16_t second;
};
enum penna_regex_fault {
  PENNA_REGEX_RIGHT,
  PENNA_REGEX_NO_PARENTHESIS, /* ( without ) */
  PENNA_REGEX_NO_BRACKET,     /* [ without ] */
  PENNA_REGEX_STRAY,          /* ) without ( */
  PENNA_REGEX_NOTHING,        /* * + ? after nothing */
  PENNA_REGEX_LONE,           /* \ at the end */
  PENNA_REGEX_DEEP,
  PENNA_REGEX_LONG
};
struct penna_regex {
  const char* text; /* not zero-terminated */
  uint32_t at, length, count;
  int is_wrong;      /* penna_regex_fault: the first one, */
  uint32_t wrong_at; /* and its place in the text */
  struct penna_regex_step steps[PENNA_REGEX_STEPS];
};

/* ---- The expression becomes steps -------------------------------------------------------------------------------- */

static inline char penna_regex_peek(const struct penna_regex* regex) {
  return regex->at < regex->length ? regex->text[regex->at] : '\0';
}
static inline void penna_regex_fail(struct penna_regex* regex, enum penna_regex_fault fault, uint32_t at) {
  if (regex->is_wrong) return;
  regex->is_wrong = (int)fault;
  regex->wrong_at = at;
}
static inline void penna_regex_emit(struct penna_regex* regex, enum penna_regex_does does, char wanted, uint32_t first,
                                    uint32_t second) {
  struct penna_regex_step* step = &regex->steps[regex->count];
  /* Nothing is stored beyond the end: callers continue, and check is_wrong later. */
  if (regex->count == PENNA_REGEX_STEPS) {
    penna_regex_fail(regex, PENNA_REGEX_LONG, regex->at);
    return;
  }
  step->does = (uint8_t)does;
  step->wanted = wanted;
  step->first = (int16_t)first;
  step->second = (int16_t)second;
  ++regex->count;
}
/* Inserts a fork before the steps from `start` on: distances within them stay the same. */
static inline void penna_regex_fork(struct penna_regex* regex, uint32_t start, uint32_t second) {
  penna_regex_emit(regex, PENNA_REGEX_FORK, 0, 1, second);
  for (uint32_t i = regex->count - 1; i > start && !regex->is_wrong; --i) {
    struct penna_regex_step moved = regex->steps[i];
    regex->steps[i] = regex->steps[i - 1];
    regex->steps[i - 1] = moved;
  }
}

static inline void penna_regex_set(struct penna_regex* regex) {
  const uint32_t start = regex->at;
  uint32_t end = start + (penna_regex_peek(regex) == '!' || penna_regex_peek(regex) == '^') + 1;
  while (end < regex->length && regex->text[end] != ']') ++end;
  if (end >= regex->length) penna_regex_fail(regex, PENNA_REGEX_NO_BRACKET, start - 1);
  penna_regex_emit(regex, PENNA_REGEX_SET, 0, start, 0);
  regex->at = end + 1;
}

static inline void penna_regex_alternatives(struct penna_regex* regex, uint32_t depth);

static inline void penna_regex_atom(struct penna_regex* regex, uint32_t depth) {
  const uint32_t start = regex->at;
  const char c = penna_regex_peek(regex);
  ++regex->at;
  if (c == '(') {
    penna_regex_alternatives(regex, depth + 1);
    if (penna_regex_peek(regex) != ')') penna_regex_fail(regex, PENNA_REGEX_NO_PARENTHESIS, start);
    ++regex->at;
  } else if (c == '[') {
    penna_regex_set(regex);
  } else if (c == '.') {
    penna_regex_emit(regex, PENNA_REGEX_ANY, 0, 0, 0);
  } else if (c == '^' || c == '$') {
    penna_regex_emit(regex, c == '^' ? PENNA_REGEX_BEGIN : PENNA_REGEX_END, 0, 0, 0);
  } else if (c == '*' || c == '+' || c == '?') {
    penna_regex_fail(regex, PENNA_REGEX_NOTHING, start);
  } else if (c == '\\') {
    if (regex->at >= regex->length) penna_regex_fail(regex, PENNA_REGEX_LONE, start);
    penna_regex_emit(regex, PENNA_REGEX_CHAR, penna_regex_peek(regex), 0, 0);
    ++regex->at;
  } else {
    penna_regex_emit(regex, PENNA_REGEX_CHAR, c, 0, 0);
  }
}

static inline void penna_regex_repeated(struct penna_regex* regex, uint32_t depth) {
  const uint32_t start = regex->count;
  penna_regex_atom(regex, depth);
  for (;; ++regex->at) {
    const char c = penna_regex_peek(regex);
    const uint32_t length = regex->count - start;
    if (regex->is_wrong || (c != '*' && c != '+' && c != '?')) return;
    /* ? and * put a fork before the atom: into it, or past it. * and + put one after it, which goes back. */
    if (c == '?') penna_regex_fork(regex, start, length + 1);
    if (c == '*') penna_regex_fork(regex, start, length + 2);
    if (c == '*') penna_regex_emit(regex, PENNA_REGEX_FORK, 0, 0u - (length + 1), 0u - (length + 1));
    if (c == '+') penna_regex_emit(regex, PENNA_REGEX_FORK, 0, 0u - length, 1);
  }
}

static inline void penna_regex_alternatives(struct penna_regex* regex, uint32_t depth) {
  const uint32_t start = regex->count;
  if (depth > PENNA_REGEX_DEPTH) penna_regex_fail(regex, PENNA_REGEX_DEEP, regex->at);
  while (!regex->is_wrong) {
    const char c = penna_regex_peek(regex);
    if (regex->at >= regex->length || c == ')') return;
    if (c != '|') {
      penna_regex_repeated(regex, depth);
      continue;
    }
    ++regex->at;
    /* The fork leads into the left side, or past it and past the jump that follows it, into the right side. Where
     * that jump goes is known when the right side is complete. */
    penna_regex_fork(regex, start, regex->count - start + 2);
    const uint32_t jump = regex->count;
    penna_regex_emit(regex, PENNA_REGEX_FORK, 0, 0, 0);
    if (regex->is_wrong) return;
    penna_regex_alternatives(regex, depth + 1);
    regex->steps[jump].first = regex->steps[jump].second = (int16_t)(regex->count - jump);
  }
}

/* Returns 0 if the expression is invalid or too long. The text must outlive the regex. */
static inline int penna_regex_compile(struct penna_regex* regex, const char* text, size_t length) {
  regex->text = text;
  regex->at = regex->count = regex->wrong_at = 0;
  regex->is_wrong = PENNA_REGEX_RIGHT;
  if (length == 0 || length > PENNA_REGEX_STEPS) penna_regex_fail(regex, PENNA_REGEX_LONG, PENNA_REGEX_STEPS);
  regex->length = (uint32_t)length;
  penna_regex_alternatives(regex, 0);
  if (regex->at < regex->length) penna_regex_fail(regex, PENNA_REGEX_STRAY, regex->at);
  penna_regex_emit(regex, PENNA_REGEX_MATCH, 0, 0, 0);
  return !regex->is_wrong;
}

/* ---- The steps are followed -------------------------------------------------------------------------------------- */

struct penna_regex_places {
  uint8_t bits[PENNA_REGEX_STEPS / 8];
};
static inline int penna_regex_is_in(const struct penna_regex_places* places, uint32_t step) {
  return places->bits[step / 8] >> step % 8 & 1;
}

/* The steps that are reached, and those whose successors are to be added. Each is reached once, so there is room for
 * all. */
struct penna_regex_walk {
  struct penna_regex_places* places;
  uint32_t count;
  uint16_t todo[PENNA_REGEX_STEPS];
};
static inline void penna_regex_meet(struct penna_regex_walk* walk, uint32_t step) {
  if (penna_regex_is_in(walk->places, step)) return;
  walk->places->bits[step / 8] = (uint8_t)(walk->places->bits[step / 8] | 1u << step % 8);
  walk->todo[walk->count++] = (uint16_t)step;
}
/* Adds a step and everything that follows without consuming a character; returns 1 if the match is among them. */
static inline int penna_regex_add(const struct penna_regex* regex, struct penna_regex_places* places, uint32_t first,
                                  int at_begin, int at_end) {
  struct penna_regex_walk walk;
  walk.places = places;
  walk.count = 0;
  penna_regex_meet(&walk, first);
  while (walk.count != 0) {
    const uint32_t step = walk.todo[--walk.count];
    const struct penna_regex_step* one = &regex->steps[step];
    if (one->does == PENNA_REGEX_MATCH) return 1;
    if ((one->does == PENNA_REGEX_BEGIN && at_begin) || (one->does == PENNA_REGEX_END && at_end))
      penna_regex_meet(&walk, step + 1);
    if (one->does != PENNA_REGEX_FORK) continue;
    penna_regex_meet(&walk, (uint32_t)((int32_t)step + one->first));
    penna_regex_meet(&walk, (uint32_t)((int32_t)step + one->second));
  }
  return 0;
}

static inline int penna_regex_takes(const struct penna_regex* regex, const struct penna_regex_step* step, char c) {
  int matched = 0;
  if (step->does == PENNA_REGEX_SET) penna_glob_set(regex->text + step->first, c, &matched);
  return matched || step->does == PENNA_REGEX_ANY || (step->does == PENNA_REGEX_CHAR && step->wanted == c);
}

/* Whether the expression matches anywhere in `text`. */
static inline int penna_regex_finds(const struct penna_regex* regex, const char* text) {
  /* Steps are kept as a set, so each costs once per character, however many ways lead to it. The first step is
   * added again at each character: the expression may match anywhere. */
  struct penna_regex_places now = {{0}};
  for (const char* at = text;; ++at) {
    struct penna_regex_places next = {{0}};
    if (penna_regex_add(regex, &now, 0, at == text, *at == '\0')) return 1;
    if (*at == '\0') return 0;
    for (uint32_t step = 0; step < regex->count; ++step)
      if (penna_regex_is_in(&now, step) && penna_regex_takes(regex, &regex->steps[step], *at) &&
          penna_regex_add(regex, &next, step + 1, 0, at[1] == '\0'))
        return 1;
    now = next;
  }
}

/* ---- Patterns: "/expression/", else a glob ----------------------------------------------------------------------- */

/* The length of the expression between the slashes; 0: it is a glob. */
static inline size_t penna_regex_in(const char* pattern) {
  size_t length = 0;
  while (pattern[length] != '\0') ++length;
  return length > 2 && pattern[0] == '/' && pattern[length - 1] == '/' ? length - 2 : 0;
}
static inline int penna_is_pattern(const char* pattern) {
  struct penna_regex regex;
  const size_t length = penna_regex_in(pattern);
  return length == 0 || penna_regex_compile(&regex, pattern + 1, length);
}
static inline int penna_text_matches(const char* pattern, const char* text) {
  struct penna_regex regex;
  const size_t length = penna_regex_in(pattern);
  if (length == 0) return penna_glob_matches(pattern, text);
  return penna_regex_compile(&regex, pattern + 1, length) && penna_regex_finds(&regex, text);
}

PENNA_C_CODE_END

#endif
