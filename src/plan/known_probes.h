// SPDX-License-Identifier: MIT
// The arguments of published probes: notes have only their sizes, manuals say what they mean.
//
// Why a table: an argument is copied as text where its program promises that it is the address of a string, and nowhere
// else.
// Sources: docs.python.org/3/howto/instrumentation; docs.ruby-lang.org, dtrace_probes; php.net, features.dtrace;
// postgresql.org, dynamic-trace; docs.oracle.com, DTrace Probes in HotSpot VM.
// Invariant: a probe is known by its provider, its name and its number of arguments, all three.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penna {

struct KnownArgument {
  enum Meaning : uint8_t {
    kNumber,
    kText,  // the address of a string that ends with a zero byte, or null
    // the address of a string, or null; the next argument of the probe is its length in bytes, and has no separate name
    kTextAndLength
  };
  std::string name;
  Meaning meaning = kNumber;
};

// For an unknown probe: "arg0" and so on, as gdb and bpftrace call them, and no text.
// `count`: how many arguments its note has.
std::vector<KnownArgument> arguments_of_probe(std::string_view provider, std::string_view name, size_t count);

}  // namespace penna
