// SPDX-License-Identifier: MIT
// printable(): untrusted text, made safe for a terminal; and the UTF-8 decoding it uses.
//
// Why one function: names, paths and arguments come from programs, files and sockets, and end up in messages, tables
// and exports. A terminal obeys escape sequences in them, and direction marks make a name look like another. Every
// output calls this. Invariant: the result is valid UTF-8 without control characters; applied again, it does not
// change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penna {

// ASCII control characters (C0, DEL; including line ends) and bytes that are not UTF-8 become \xNN; C1 and characters
// that direct text (bidirectional controls, line and paragraph separators) become \uNNNN. Everything else stays.
std::string printable(std::string_view text);

// Only printable ASCII, like nearly all names: printable() would not change it.
bool is_plain_ascii(std::string_view text);

// Code points that printable() does not let through.
bool is_control(uint32_t code);

// One UTF-8 character at text[at]: its code point, and `size` in bytes. Invalid: code = kNotUtf8, size = 1.
struct Utf8 {
  uint32_t code;
  uint32_t size;
};
inline constexpr uint32_t kNotUtf8 = UINT32_MAX;
Utf8 decode_utf8(std::string_view text, size_t at);

}  // namespace penna
