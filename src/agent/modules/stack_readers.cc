// SPDX-License-Identifier: MIT
// See stack_readers.h. gcc's runtimes hide their own interface when they are linked statically, so they are known by
// what every one of them shows: an optional symbolizer that they would call (sanitizer_common,
// sanitizer_symbolizer_posix_libcdep.cpp), and malloc, which UndefinedBehaviorSanitizer's leaves to others.
#include "agent/modules/stack_readers.h"

#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/loader.h"

namespace penna::agent {
namespace {

bool found;

bool is_stack_reader(const link_map& map) {
  const DynamicSymbols symbols(map);
  return symbols.find("malloc").address != 0 && symbols.imports("__sanitizer_symbolize_code");
}

}  // namespace

void look_for_stack_readers() {
  for_each_module([](const link_map& map) {
    found = found || (!is_ours(&map) && !is_kernels(map) && is_stack_reader(map));
    return !found;
  });
}

bool return_addresses_are_read() { return found; }

}  // namespace penna::agent
