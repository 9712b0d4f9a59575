// SPDX-License-Identifier: MIT
// libunwind as the reference, and readable stacks. See support.h.
#include "support.h"

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>

#include <cstdio>

namespace penna::unwind {
namespace {

constexpr size_t kMaxReference = 2000;

void step_to_end(unw_cursor_t& cursor, std::vector<uintptr_t>& pcs) {
  while (pcs.size() < kMaxReference) {
    unw_word_t pc = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    if (pc == 0) return;
    pcs.push_back(pc);
    if (unw_step(&cursor) <= 0) return;
  }
}

}  // namespace

[[gnu::noinline]] std::vector<uintptr_t> reference_stack() {
  std::vector<uintptr_t> pcs;
  pcs.reserve(kMaxReference);
  unw_context_t context;
  unw_cursor_t cursor;
  unw_getcontext(&context);
  unw_init_local(&cursor, &context);
  unw_step(&cursor);  // to our caller
  unw_step(&cursor);  // to our caller's caller
  step_to_end(cursor, pcs);
  return pcs;
}

std::vector<uintptr_t> reference_stack(const ucontext_t& context) {
  std::vector<uintptr_t> pcs;
  pcs.reserve(kMaxReference);
  unw_cursor_t cursor;
  unw_context_t copy = context;
  unw_init_local2(&cursor, &copy, UNW_INIT_SIGNAL_FRAME);
  step_to_end(cursor, pcs);
  return pcs;
}

std::string describe(const std::vector<uintptr_t>& pcs) {
  std::string text;
  char line[256];
  for (uintptr_t pc : pcs) {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(pc - 1), &info);
    std::snprintf(line, sizeof line, "  %#zx %s (%s)\n", pc, info.dli_sname ? info.dli_sname : "?",
                  info.dli_fname ? info.dli_fname : "?");
    text += line;
  }
  return text;
}

}  // namespace penna::unwind
