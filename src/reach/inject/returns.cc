// SPDX-License-Identifier: MIT
// See returns.h.
#include "reach/inject/returns.h"

#include <cstring>
#include <string>

namespace penna {
namespace {

// The real caller behind a return to `address`; null: the address is not in a trampoline.
CodePtr caller_of(const RemoteMemory& memory, const penna_attachment& head, uint64_t address) {
  const uint64_t offset = address - head.trampolines;
  if (offset >= head.trampoline_bytes || offset % PENNA_TRAMPOLINE_BYTES != PENNA_TRAMPOLINE_RETURNS) return {};
  const RemoteBytes link = RemoteBytes(head.links) + offset / PENNA_TRAMPOLINE_BYTES * PENNA_LINK_BYTES;
  return memory.get_or_zero(link.as<CodePtr>());
}

size_t put_back_of(const RemoteMemory& memory, const ThreadState& thread, const penna_attachment& head) {
  constexpr uint64_t kMost = 8 << 20;
  size_t count = 0;
  const RemoteBytes begin = aligned_down(thread.stack(), 8);
  const std::string stack = stack_of(memory, thread, kMost);
  for (size_t at = 0; at + 8 <= stack.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, stack.data() + at, sizeof word);
    if (word - head.trampolines >= head.trampoline_bytes) continue;
    const CodePtr caller = caller_of(memory, head, word);
    if (caller > CodePtr(1)) count += memory.write((begin + at).as<CodePtr>(), caller);  // 1: a link under construction
  }
  return count;
}

}  // namespace

size_t put_back_returns(const RemoteMemory& memory, const StoppedProcess& process, const penna_attachment& head) {
  if (memory.get_or_zero(RemotePtr<uint32_t>(head.link_count_at)) == 0) return 0;
  size_t count = 0;
  for (const StoppedThread& one : process.threads()) count += put_back_of(memory, one.state, head);
  return count;
}

}  // namespace penna
