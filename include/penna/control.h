/* SPDX-License-Identifier: MIT
 *
 * control.h: switches points and triggers of the running program, from inside it.
 *
 *     penna_enable("db:*")      penna::enable("db:*")        adds one enable to every matching site
 *     penna_disable("db:*")     penna::disable("db:*")       removes one; never below zero
 *     penna_disable_all()       penna::disable_all()         removes all enables
 *     penna_is_enabled("db:*")  penna::is_enabled("db:*")    number of matching sites that are on
 *     penna_enable_id(25)       penna::enable(25)            the same by the number of a PENNA_TRIGGER_ID
 *     penna_list("*", f, data)  penna::for_each_point("*", f)
 *
 * A pattern is a glob of PROVIDER:NAME (*, ?, [a-z], \x), a regular expression such as "/^db:(read|write)$/", or a
 * number. Enables nest: a site is on while it has more enables than disables. They apply to the program and all its
 * libraries; sites of a library loaded later start in the state that earlier requests give them. A trigger that is on
 * calls its callback; an event or span that is on is recorded while `penna record` or a recorder inside the program
 * runs. Recorders and `penna ctl` change the same counts.
 *
 * Return value: the number of sites whose names matched. Copies of a site made by the compiler, and a span's end, count
 * once; a site in an inline function counts once per translation unit; sites that could not be patched do not count.
 * -1 if there was no memory to remember the request or the pattern is longer than 65,000 bytes; nothing has changed
 * then. 0 where sites cannot be switched.
 *
 * Thread-safe. Not async-signal-safe, and not to be called from a listing's callback, except to enable and disable.
 * Linux. Nothing to link; if the agent is in the process, it does the work.
 */
#ifndef PENNA_CONTROL_H
#define PENNA_CONTROL_H

#include "penna/detail/control_runtime.h"
#include "penna/detail/site_text.h"

PENNA_C_CODE_BEGIN

/* A site and its state. The strings live as long as the site's module stays loaded. */
typedef struct penna_point_status {
  const char* provider;
  const char* name;
  const char* file;
  uint32_t line;
  uint32_t number; /* of PENNA_TRIGGER_ID; else PENNA_NO_NUMBER */
  uint32_t kind;   /* penna_site_kind: EVENT, SPAN or TRIGGER */
  uint32_t wanted; /* enables minus disables; not 0 = on */
} penna_point_status;
typedef int (*penna_status_function)(const penna_point_status* point, void* data);

#ifdef __cplusplus
#define PENNA_API inline
#else
#define PENNA_API static inline __attribute__((unused))
#endif

PENNA_API int penna_enable(const char* pattern) {
  return penna_change(pattern, PENNA_ALL_KINDS, penna_request_enable());
}
PENNA_API int penna_disable(const char* pattern) {
  return penna_change(pattern, PENNA_ALL_KINDS, penna_request_disable());
}
PENNA_API int penna_disable_all(void) { return penna_change("*", PENNA_ALL_KINDS, penna_request_off()); }

/* Adapts a penna_status_function to the visitor of sites. */
typedef struct penna_lister {
  penna_status_function visit;
  void* data;
} penna_lister;
PENNA_API int penna_list_site(const struct penna_point_site* site, void* data) {
  struct penna_lister* lister = (struct penna_lister*)data;
  struct penna_site_text text = penna_read_site_text(penna_text_of(site), site->text_bytes, 0, 0);
  struct penna_point_status status;
  status.provider = penna_next_text(&text).at;
  status.name = penna_next_text(&text).at;
  status.file = penna_next_text(&text).at;
  status.line = site->line;
  status.number = site->number;
  status.kind = site->kind;
  status.wanted = penna_state_of(site)->wanted;
  return lister->visit(&status, lister->data);
}

/* Calls `visit` for each matching site until it returns 0. Returns the number of calls. */
PENNA_API int penna_list(const char* pattern, penna_status_function visit, void* data) {
  struct penna_lister lister = {visit, data};
  return penna_visit_sites(pattern, penna_list_site, &lister);
}

PENNA_API int penna_count_enabled(const struct penna_point_status* point, void* count) {
  *(int*)count += point->wanted != 0;
  return 1;
}
PENNA_API int penna_is_enabled(const char* pattern) {
  int count = 0;
  penna_list(pattern, penna_count_enabled, &count);
  return count;
}

/* A number, printed as a pattern. */
typedef struct penna_number_text {
  char digits[12];
} penna_number_text;
PENNA_API struct penna_number_text penna_print_number(uint32_t number) {
  struct penna_number_text text = {{0}};
  int at = 10;
  do text.digits[at--] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  for (int i = 0; i < 11; ++i) text.digits[i] = ++at < 12 ? text.digits[at] : '\0';
  return text;
}
PENNA_API int penna_enable_id(uint32_t id) { return penna_enable(penna_print_number(id).digits); }
PENNA_API int penna_disable_id(uint32_t id) { return penna_disable(penna_print_number(id).digits); }
PENNA_API int penna_is_enabled_id(uint32_t id) { return penna_is_enabled(penna_print_number(id).digits); }

#ifdef __cplusplus
#include <string_view>

namespace penna {
namespace detail {

// Calls visit(zero-terminated copy of the pattern); -1 if the pattern is too long.
template <class Visit>
int with_pattern(std::string_view pattern, Visit&& visit) {
  if (pattern.size() > PENNA_MAX_PATTERN) return -1;
  char* text = static_cast<char*>(__builtin_alloca(pattern.size() + 1));
  for (size_t i = 0; i < pattern.size(); ++i) text[i] = pattern[i];
  text[pattern.size()] = '\0';
  return visit(text);
}

}  // namespace detail

inline int enable(std::string_view pattern) { return detail::with_pattern(pattern, penna_enable); }
inline int disable(std::string_view pattern) { return detail::with_pattern(pattern, penna_disable); }
inline int is_enabled(std::string_view pattern) { return detail::with_pattern(pattern, penna_is_enabled); }
inline int enable(uint32_t id) { return penna_enable_id(id); }
inline int disable(uint32_t id) { return penna_disable_id(id); }
inline int is_enabled(uint32_t id) { return penna_is_enabled_id(id); }
inline int disable_all() { return penna_disable_all(); }

using PointStatus = penna_point_status;

// Calls visit(const PointStatus&) for each matching site; returns their number.
template <class Visit>
int for_each_point(std::string_view pattern, Visit&& visit) {
  const penna_status_function visit_one = [](const penna_point_status* point, void* data) {
    (*static_cast<std::remove_reference_t<Visit>*>(data))(*point);
    return 1;
  };
  return detail::with_pattern(pattern, [&](const char* text) {
    return penna_list(text, visit_one, const_cast<void*>(static_cast<const void*>(&visit)));
  });
}

}  // namespace penna
#endif

PENNA_C_CODE_END

#endif
