/* SPDX-License-Identifier: MIT
 *
 * site_text.h: takes the text of a site apart: provider, name, source file, and what its values are called. For whoever
 * reads a site table: the agent in its own process, `penna list` in a file that it does not trust.
 * Invariant: nothing at or behind `end` and `layout_end` is looked at; what is not there reads as empty.
 */
#ifndef PENNA_DETAIL_SITE_TEXT_H
#define PENNA_DETAIL_SITE_TEXT_H

#include "penna/point_abi.h"

/* Bytes, not ended by a zero. */
struct penna_piece {
  const char* at;
  uint32_t bytes;
};

struct penna_site_text {
  const char* at; /* of the next string */
  const char* end;
  const char* layout; /* of the next argument or field */
  const char* layout_end;
  struct penna_piece argument; /* whose fields come next */
  uint32_t fields_left;
};

/* `layout` is null for a site without PENNA_TYPES_HAVE_LAYOUT. */
static inline struct penna_site_text penna_read_site_text(const char* at, uint32_t bytes, const char* layout,
                                                          const char* layout_end) {
  struct penna_site_text text = {at, at + bytes, layout, layout_end, {at, 0}, 0};
  return text;
}

static inline struct penna_piece penna_take_piece(const char** at, const char* end) {
  struct penna_piece piece = {*at, 0};
  while (*at < end && **at != '\0') ++*at;
  piece.bytes = (uint32_t)(*at - piece.at);
  if (*at < end) ++*at;
  return piece;
}

/* Provider, name and file, in this order. */
static inline struct penna_piece penna_next_text(struct penna_site_text* text) {
  return penna_take_piece(&text->at, text->end);
}

/* What an argument is called: what PENNA_ARG says, else its source. */
static inline struct penna_piece penna_argument_name(struct penna_piece source) {
  const uint32_t mark_bytes = sizeof(PENNA_NAME_MARK) - 1;
  uint32_t i, same;
  for (i = 0; i + mark_bytes < source.bytes; ++i) {
    for (same = 0; same < mark_bytes && source.at[i + same] == PENNA_NAME_MARK[same];) ++same;
    if (same == mark_bytes) {
      struct penna_piece name = {source.at + i + mark_bytes, 0};
      while (i + mark_bytes + name.bytes < source.bytes && name.at[name.bytes] != '"') ++name.bytes;
      return name;
    }
  }
  return source;
}

/* The next value's name, after provider, name and file: `field` is empty but for those of a struct ("order" "price"). */
static inline struct penna_piece penna_next_value(struct penna_site_text* text, struct penna_piece* field) {
  struct penna_piece none = {text->at, 0};
  *field = none;
  if (text->fields_left == 0) {
    uint32_t kind = text->layout != 0 && text->layout < text->layout_end ? (uint8_t)*text->layout++ : 1;
    text->argument = penna_argument_name(penna_next_text(text));
    if (kind < 2) return text->argument;
    text->fields_left = kind - 1;
  }
  --text->fields_left;
  *field = penna_take_piece(&text->layout, text->layout_end);
  return text->argument;
}

/* The strings of a site as a SITE record takes them: at most `room` bytes at `to`, how many; names that do not fit are left
 * empty. `end`: of the memory in which the site lies. */
static inline uint32_t penna_copy_site_text(const struct penna_point_site* site, const char* end, char* to,
                                            uint32_t room) {
  const char* layout =
      (site->types & PENNA_TYPES_HAVE_LAYOUT) != 0 ? (const char*)&site->layout_at + site->layout_at : 0;
  struct penna_site_text text =
      penna_read_site_text((const char*)&site->text_at + site->text_at, site->text_bytes, layout, end);
  uint32_t strings = 3u + site->arg_count, used = 0;
  for (uint32_t i = 0; i < strings; ++i) {
    uint32_t left = strings - i; /* each of these takes its zero at least */
    struct penna_piece pieces[3] = {{0, 0}, {".", 1}, {0, 0}};
    pieces[0] = i < 3 ? penna_next_text(&text) : penna_next_value(&text, &pieces[2]);
    if (i < 3 || pieces[2].bytes == 0) pieces[1].bytes = pieces[2].bytes = 0;
    for (uint32_t piece = 0; piece < 3; ++piece)
      for (uint32_t at = 0; at < pieces[piece].bytes && used + left < room; ++at) to[used++] = pieces[piece].at[at];
    to[used++] = '\0';
  }
  return used;
}

#endif
