// SPDX-License-Identifier: MIT
// See home_frame_x86_64.h.
#include "reach/process/home_frame_x86_64.h"

#include <cpuid.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "penna/detail/remote.h"
#include "reach/process/traced.h"

namespace penna {
namespace {

// The kernel's struct ucontext, whose own header conflicts with libc's.
struct Context {
  uint64_t flags, link;
  uint64_t stack_start, stack_flags, stack_bytes;  // the alternate stack
  sigcontext registers;
  uint64_t signal_mask;
};
static_assert(offsetof(Context, registers) == 40 && offsetof(Context, signal_mask) == 296 &&
              sizeof(Context) == PENNA_REMOTE_CONTEXT_BYTES);
static_assert(offsetof(sigcontext, rsp) == 120 && offsetof(sigcontext, fpstate) == 184);  // as in penna/detail/remote.h

constexpr uint64_t kFpXstate = 1, kSigcontextSs = 2, kStrictRestoreSs = 4;  // UC_...
constexpr uint64_t kNoStackFlags = 0xffff;  // a value that sigaltstack(2) rejects: the stack stays as it is
constexpr size_t kLegacyBytes = 576;        // FXSAVE's area, and the header after it
constexpr size_t kFeatures = 464, kInUse = 512;
constexpr uint64_t kAmx = 0x60000;  // room for it exists only after the program has requested it

uint64_t word_at(const std::vector<uint8_t>& vector, size_t offset) {
  uint64_t word = 0;
  if (offset + sizeof word <= vector.size()) std::memcpy(&word, vector.data() + offset, sizeof word);
  return word;
}

// The features in the saved state: the kernel restores no more than the thread has room for, or only FXSAVE's part.
uint64_t features_of(const std::vector<uint8_t>& vector) {
  const uint64_t amx = word_at(vector, kInUse) & kAmx;
  return (word_at(vector, kFeatures) & ~kAmx) | amx;
}

size_t bytes_of(uint64_t features, size_t most) {
  size_t bytes = kLegacyBytes;
  for (unsigned i = 2; i < 63; ++i) {
    unsigned size = 0, offset = 0, flags = 0, unused = 0;
    if ((features >> i & 1) != 0 && __get_cpuid_count(0xd, i, &size, &offset, &flags, &unused) != 0)
      bytes = std::max<size_t>(bytes, size_t{offset} + size);
  }
  return std::min(bytes, most);
}

sigcontext registers_of(const GeneralRegisters& from) {
  sigcontext to{};
  to.r8 = from.r8, to.r9 = from.r9, to.r10 = from.r10, to.r11 = from.r11;
  to.r12 = from.r12, to.r13 = from.r13, to.r14 = from.r14, to.r15 = from.r15;
  to.rdi = from.rdi, to.rsi = from.rsi, to.rbp = from.rbp, to.rbx = from.rbx;
  to.rdx = from.rdx, to.rax = from.rax, to.rcx = from.rcx, to.rsp = from.rsp;
  to.rip = from.rip, to.eflags = from.eflags;
  to.cs = static_cast<uint16_t>(from.cs), to.__pad0 = static_cast<uint16_t>(from.ss);  // libc's name for this field
  return to;
}

}  // namespace

ReturnFrame::ReturnFrame(RemoteBytes stack_top, const GeneralRegisters& general, const std::vector<uint8_t>& vector,
                         uint64_t signal_mask, bool sleeps) {
  const uint64_t features = features_of(vector);
  const size_t vector_bytes = bytes_of(features, vector.size());
  // From the top down: magic2, the vector state (XRSTOR requires 64-byte alignment), the ucontext, kHead bytes of our
  // own.
  const RemoteBytes vector_at = aligned_down(stack_top - vector_bytes - FP_XSTATE_MAGIC2_SIZE, 64);
  context_ = aligned_down(vector_at - sizeof(Context), 16);

  Context context{
      kFpXstate | kSigcontextSs | kStrictRestoreSs, 0, 0, kNoStackFlags, 0, registers_of(general), signal_mask};
  context.registers.fpstate = static_cast<_fpstate*>(vector_at.argument());
  _fpx_sw_bytes about{};
  about.magic1 = FP_XSTATE_MAGIC1;
  about.extended_size = static_cast<uint32_t>(vector_bytes + FP_XSTATE_MAGIC2_SIZE);
  about.xstate_bv = features;
  about.xstate_size = static_cast<uint32_t>(vector_bytes);
  const uint32_t end = FP_XSTATE_MAGIC2;

  bytes_.resize(bytes_between(this->stack_top(), vector_at) + vector_bytes + sizeof end);
  uint8_t* const to = bytes_.data() + kHead;
  to[PENNA_REMOTE_SLEEP] = sleeps;
  uint8_t* const vector_to = to + bytes_between(context_, vector_at);
  std::memcpy(to, &context, sizeof context);
  std::memcpy(vector_to, vector.data(), vector_bytes);
  std::memcpy(vector_to + kFeatures, &about, sizeof about);
  std::memcpy(vector_to + vector_bytes, &end, sizeof end);
}

bool ReturnFrame::write(pid_t thread) const { return write_to(thread, stack_top(), bytes_); }

}  // namespace penna
