// SPDX-License-Identifier: MIT
// See returns.h.
#include "reach/inject/returns.h"

#include <cstring>
#include <string>

namespace penna {
namespace {

// The real caller behind a return to `address`; 0: the address is not in a trampoline.
uint64_t caller_of(const RemoteMemory& memory, const penna_attachment& head, uint64_t address) {
  const uint64_t offset = address - head.trampolines;
  if (offset >= head.trampoline_bytes || offset % PENNA_TRAMPOLINE_BYTES != PENNA_TRAMPOLINE_RETURNS) return 0;
  return memory.word(head.links + offset / PENNA_TRAMPOLINE_BYTES * PENNA_LINK_BYTES);
}

size_t put_back_of(const RemoteMemory& memory, const ThreadState& thread, const penna_attachment& head) {
  constexpr uint64_t kMost = 8 << 20;
  size_t count = 0;
  const uint64_t begin = thread.stack() & ~uint64_t{7};
  const std::string stack = stack_of(memory, thread, kMost);
  for (size_t at = 0; at + 8 <= stack.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, stack.data() + at, sizeof word);
    if (word - head.trampolines >= head.trampoline_bytes) continue;
    const uint64_t caller = caller_of(memory, head, word);
    if (caller > 1) count += memory.write(begin + at, &caller, sizeof caller);  // 1: a link under construction
  }
  return count;
}

}  // namespace

size_t put_back_returns(const RemoteMemory& memory, const StoppedProcess& process, const penna_attachment& head) {
  if (memory.get<uint32_t>(head.link_count_at).value_or(0) == 0) return 0;
  size_t count = 0;
  for (const StoppedThread& one : process.threads()) count += put_back_of(memory, one.state, head);
  return count;
}

}  // namespace penna
