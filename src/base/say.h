// SPDX-License-Identifier: MIT
// say(): a line from penna to the user, on stderr, prefixed with "penna: "; say_of(): prefixed with its speaker, "penna
// report: ".
//
// Why not fmt::print: a closed stderr must not end Penna with an exception. Invariant: never fails; one line of
// printable text, whatever names and arguments it quotes.
#pragma once

#include <string_view>

namespace penna {

void say(std::string_view text);
void say_of(std::string_view who, std::string_view text);

}  // namespace penna
