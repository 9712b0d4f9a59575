// SPDX-License-Identifier: MIT
// See call_filters.h.
#include "agent/core/call_filters.h"

#include <linux/filter.h>

#include "unwind/arch.h"

namespace penna::agent {
namespace {

bool can_be_read(uintptr_t begin, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  for (uintptr_t at = begin & ~uintptr_t{7}; at < begin + bytes; at = (at & ~(kPage - 1)) + kPage)
    if (!unwind::raw_probe(at)) return false;
  return true;
}

}  // namespace

uint32_t refused_by_filter(const void* program) {
  if ((call_refusals & kRefusesRecording) != 0) return 0;  // memory can no longer be probed, and nothing needs to be
  const auto* const filter = static_cast<const sock_fprog*>(program);
  if (!can_be_read(reinterpret_cast<uintptr_t>(filter), sizeof *filter)) return 0;
  const uint32_t length = filter->len;
  const sock_filter* const code = filter->filter;
  if (length == 0 || length > BPF_MAXINSNS || !can_be_read(reinterpret_cast<uintptr_t>(code), length * sizeof *code))
    return 0;
  uint32_t refused = 0;
  const auto here = reinterpret_cast<uintptr_t>(&refused_by_filter);
  for (const OwnCall& own : kOwnCalls)
    if (refuses_call(code, length, own, here)) refused |= own.without;
  return refused;
}

}  // namespace penna::agent
