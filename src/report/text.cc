// SPDX-License-Identifier: MIT
// See text.h.
#include "report/text.h"

#include <algorithm>

#include "base/printable.h"

namespace penna {
namespace {

struct Range {
  uint32_t first, last;
};

// Combining marks and wide characters, coarsely by Unicode block: enough to keep columns straight for names that people
// write. Not wcwidth(3): it depends on the locale.
constexpr Range kCombining[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},  {0x64b, 0x65f},
                                {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
                           {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
                           {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

template <size_t kCount>
bool within(uint32_t code, const Range (&ranges)[kCount]) {
  for (const Range& range : ranges)
    if (code >= range.first && code <= range.last) return true;
  return false;
}

size_t width_of(uint32_t code) {
  if (code < 0x300) return 1;
  return within(code, kCombining) ? 0 : within(code, kWide) ? 2 : 1;
}

// As much of a word as fits, up to a place where it may be broken; at least one character.
size_t broken_at(std::string_view word, size_t width) {
  size_t fits = 0, mark = 0;
  for (size_t at = 0, used = 0; at < word.size();) {
    const Utf8 character = decode_utf8(word, at);
    used += width_of(character.code);
    if (used > width && fits != 0) break;
    at += character.size;
    fits = at;
    if (std::string_view("|,/").find(word[at - 1]) != std::string_view::npos) mark = at;
  }
  return fits == word.size() || mark == 0 ? fits : mark;
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8 character = decode_utf8(text, at);
    width += width_of(character.code);
    at += character.size;
  }
  return width;
}

std::string cut_middle(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  const bool head_only = width < 5;
  const size_t left = head_only ? width : (width - 3 + 1) / 2;
  const size_t right = head_only ? 0 : width - 3 - left;

  size_t head = 0;
  for (size_t used = 0; head < text.size();) {
    const Utf8 character = decode_utf8(text, head);
    used += width_of(character.code);
    if (used > left) break;
    head += character.size;
  }
  // The tail: drop characters from the left until the rest fits.
  size_t tail = head, rest = display_width(text.substr(head));
  while (tail < text.size() && rest > right) {
    const Utf8 character = decode_utf8(text, tail);
    rest -= width_of(character.code);
    tail += character.size;
  }
  return std::string(text.substr(0, head)) + (head_only ? "" : "...") + std::string(text.substr(tail));
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  size_t used = 0;
  constexpr std::string_view kBlanks = " \n";
  for (size_t at = text.find_first_not_of(kBlanks); at < text.size(); at = text.find_first_not_of(kBlanks, at)) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    std::string_view word = text.substr(at, end - at);
    at = end;
    if (used != 0 && used + 1 + display_width(word) > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used != 0) lines.back() += ' ', ++used;
    while (display_width(word) > width) {
      const size_t part = broken_at(word, width);
      if (part == word.size()) break;  // a single character that is wider
      lines.back() += word.substr(0, part);
      lines.emplace_back();
      word.remove_prefix(part);
    }
    lines.back() += word;
    used += display_width(word);
  }
  return lines;
}

}  // namespace penna
