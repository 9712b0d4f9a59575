/* SPDX-License-Identifier: MIT
 *
 * site_text.h: splits the text of a site into provider, name, source file, and the names of its values. For readers of
 * a site table: the agent in its own process, `penna list` in a file that it does not trust.
 * Invariant: nothing at or after `end` and `layout_end` is read; missing parts read as empty.
 */
#ifndef PENNA_DETAIL_SITE_TEXT_H
#define PENNA_DETAIL_SITE_TEXT_H

#include "penna/point_abi.h"

PENNA_C_CODE_BEGIN

/* Bytes, not zero-terminated. */
struct penna_piece {
  const char* at;
  uint32_t bytes;
};

struct penna_site_text {
  const char* at; /* of the next string */
  const char* end;
  const char* layout; /* of the next argument or field */
  const char* layout_end;
  const char* source; /* of the next argument, as it was written; null if unknown */
  const char* source_end;
  struct penna_piece argument; /* whose fields come next */
  uint32_t fields_left;
};

static inline struct penna_piece penna_take_piece(const char** at, const char* end) {
  struct penna_piece piece = {*at, 0};
  while (*at < end && **at != '\0') ++*at;
  piece.bytes = (uint32_t)(*at - piece.at);
  if (*at < end) ++*at;
  return piece;
}

/* Takes the next source text; commas separate them as in the preprocessor: not inside parentheses and literals. */
static inline struct penna_piece penna_take_source(const char** at, const char* end) {
  while (*at < end && **at == ' ') ++*at;
  struct penna_piece piece = {*at, 0};
  char quote = '\0';
  int depth = 0;
  for (; *at < end && (**at != ',' || depth != 0 || quote != '\0'); ++*at) {
    if (quote != '\0') {
      if (**at == '\\' && *at + 1 < end)
        ++*at;
      else if (**at == quote)
        quote = '\0';
    } else if (**at == '"' || **at == '\'') {
      quote = **at;
    } else {
      depth += (**at == '(') - (**at == ')');
    }
  }
  piece.bytes = (uint32_t)(*at - piece.at);
  while (piece.bytes != 0 && piece.at[piece.bytes - 1] == ' ') --piece.bytes;
  if (*at < end) ++*at;
  return piece;
}

/* Removes the source texts from the end of the strings, if they are for the same number of arguments. */
static inline void penna_find_source(struct penna_site_text* text) {
  const char *at = text->at, *last = text->at;
  uint32_t strings = 0, pieces = 0;
  for (; at < text->end; ++strings) {
    last = at;
    (void)penna_take_piece(&at, text->end);
  }
  if (strings < 4 || *last != PENNA_SOURCE_MARK) return;
  text->source_end = text->end;
  if (text->source_end[-1] == '\0') --text->source_end;
  text->end = last++;
  for (at = last; at < text->source_end; ++pieces) (void)penna_take_source(&at, text->source_end);
  if (pieces + 2 != strings) return; /* provider and name are in both; the strings also have the file and the source */
  (void)penna_take_source(&last, text->source_end);
  (void)penna_take_source(&last, text->source_end);
  text->source = last;
}

/* `layout` is null for a site without PENNA_TYPES_HAVE_LAYOUT. */
static inline struct penna_site_text penna_read_site_text(const char* at, uint32_t bytes, const char* layout,
                                                          const char* layout_end) {
  struct penna_site_text text = {at, at + bytes, layout, layout_end, 0, 0, {at, 0}, 0};
  penna_find_source(&text);
  return text;
}

/* Provider, name and file, in this order. */
static inline struct penna_piece penna_next_text(struct penna_site_text* text) {
  return penna_take_piece(&text->at, text->end);
}

/* The name of an argument: from PENNA_ARG, else its source. `written`: the source before macro expansion, if known. */
static inline struct penna_piece penna_argument_name(struct penna_piece source, struct penna_piece written) {
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
  return written.bytes != 0 ? written : source;
}

/* The next value's name, after provider, name and file: `field` is empty except for fields of a struct ("order"
 * "price"). */
static inline struct penna_piece penna_next_value(struct penna_site_text* text, struct penna_piece* field) {
  struct penna_piece none = {text->at, 0};
  *field = none;
  if (text->fields_left == 0) {
    uint32_t kind = text->layout != 0 && text->layout < text->layout_end ? (uint8_t)*text->layout++ : 1;
    struct penna_piece written = none;
    if (text->source != 0) written = penna_take_source(&text->source, text->source_end);
    text->argument = penna_argument_name(penna_next_text(text), written);
    if (kind < 2) return text->argument;
    text->fields_left = kind - 1;
  }
  --text->fields_left;
  *field = penna_take_piece(&text->layout, text->layout_end);
  return text->argument;
}

/* Copies the strings of a site in the form of a SITE record: at most `room` bytes to `to`; returns how many; names that
 * do not fit are left empty. `end`: of the memory that contains the site. */
static inline uint32_t penna_copy_site_text(const struct penna_point_site* site, const char* end, char* to,
                                            uint32_t room) {
  const char* layout =
      (site->types & PENNA_TYPES_HAVE_LAYOUT) != 0 ? (const char*)&site->layout_at + site->layout_at : 0;
  struct penna_site_text text =
      penna_read_site_text((const char*)&site->text_at + site->text_at, site->text_bytes, layout, end);
  uint32_t strings = 3u + site->arg_count, used = 0;
  for (uint32_t i = 0; i < strings; ++i) {
    uint32_t left = strings - i; /* each of these takes at least its zero */
    struct penna_piece pieces[3] = {{0, 0}, {".", 1}, {0, 0}};
    pieces[0] = i < 3 ? penna_next_text(&text) : penna_next_value(&text, &pieces[2]);
    if (i < 3 || pieces[2].bytes == 0) pieces[1].bytes = pieces[2].bytes = 0;
    for (uint32_t piece = 0; piece < 3; ++piece)
      for (uint32_t at = 0; at < pieces[piece].bytes && used + left < room; ++at) to[used++] = pieces[piece].at[at];
    to[used++] = '\0';
  }
  return used;
}

PENNA_C_CODE_END

#endif
