// SPDX-License-Identifier: MIT
// say(): a line from penna to the user, on stderr, after "penna: "; say_of(): after who says it, "penna report: ".
//
// Why not fmt::print: a closed stderr must not end us with an exception. Invariant: never fails; one line of
// printable text, whatever names and arguments it quotes.
#pragma once

#include <string_view>

namespace penna {

void say(std::string_view text);
void say_of(std::string_view who, std::string_view text);

}  // namespace penna
