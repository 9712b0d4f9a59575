// SPDX-License-Identifier: MIT
// Globs, as users write them for points: "db:*", "net:send?", "cache:[gs]et". Without libc; linear but for the stars.
#pragma once

namespace penna::agent {

// True when all of `text` matches `pattern`: * any characters, ? any one, [a-z] or [!a-z] one of a set, \x x itself.
// A set without its end matches nothing.
bool glob_matches(const char* pattern, const char* text);

}  // namespace penna::agent
