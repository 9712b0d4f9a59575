// SPDX-License-Identifier: MIT
// printable(): text of strangers, made fit for a terminal; and the UTF-8 that it is read as.
//
// Why one function: names, paths and arguments come from programs, files and sockets, and leave in messages, tables and
// exports. A terminal obeys escape sequences in them, and direction marks make a name look like another. Each way out
// calls this. Invariant: what it gives is valid UTF-8 without control characters; given again, it stays as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penna {

// Control characters of ASCII (C0, DEL; line ends too) and bytes that are no UTF-8 as \xNN; C1 and what
// directs text (bidirectional controls, line and paragraph separators) as \uNNNN. All else as it is.
std::string printable(std::string_view text);

// Nothing but printable ASCII, as nearly all names: printable() would give it back.
bool is_plain_ascii(std::string_view text);

// What printable() does not let through, of code points.
bool is_control(uint32_t code);

// One character of UTF-8 at text[at]: its code point, and `size` in bytes. Not valid: code = kNotUtf8, size = 1.
struct Utf8 {
  uint32_t code;
  uint32_t size;
};
inline constexpr uint32_t kNotUtf8 = UINT32_MAX;
Utf8 decode_utf8(std::string_view text, size_t at);

}  // namespace penna
