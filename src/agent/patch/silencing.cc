// SPDX-License-Identifier: MIT
// See silencing.h.
#include "agent/patch/silencing.h"

#include "agent/calls/gprof.h"
#include "agent/core/pages.h"
#include "agent/core/return_trampolines.h"
#include "agent/modules/loader.h"
#include "agent/modules/near_ranges.h"
#include "agent/patch/sites.h"

namespace penna::agent {
namespace {

// A call with four bytes of distance, as compilers and stubs make it, and what becomes of its first byte (Intel SDM,
// volume 2):
//   e8 rel32      call rel32           ->  a9 imm32      test eax, imm32
//   ff 15 rel32   call [rip + rel32]   ->  3b 15 rel32   cmp edx, [rip + rel32]
// The flags mean nothing where a function begins, nor where it calls.
constexpr uint8_t kCall = 0xe8, kTest = 0xa9, kCallThrough[] = {0xff, 0x15}, kCompare = 0x3b;
constexpr uintptr_t kCallBytes = 5, kCallThroughBytes = 6;

enum class Outcome { kChanged, kWas, kRefused };

class CallSilencer {
 public:
  CallSilencer() : patcher_{board(), 0, 0} {}
  ~CallSilencer() { penna_finish_patching(&patcher_); }
  CallSilencer(const CallSilencer&) = delete;
  CallSilencer& operator=(const CallSilencer&) = delete;

  // Of the call that ends at `resume`.
  Outcome silence(uintptr_t resume) {
    const penna_elf_range code = code_at(resume);
    if (code.start == code.end || resume - kCallThroughBytes < code.start) return Outcome::kRefused;
    const auto* before = reinterpret_cast<const uint8_t*>(resume);
    if (counts_for_gprof() && !is_ours(resume)) return Outcome::kRefused;  // its own counts would stop
    if (before[-5] == kCallThrough[1] && before[-6] == kCallThrough[0])
      return write(code, resume - kCallThroughBytes, kCompare);
    if (before[-5] == kCall) return write(code, resume - kCallBytes, kTest);
    const bool was = before[-5] == kTest || (before[-5] == kCallThrough[1] && before[-6] == kCompare);
    return was ? Outcome::kWas : Outcome::kRefused;
  }

 private:
  // Written by us, or by the compiler?
  static bool is_ours(uintptr_t resume) {
    int32_t distance;
    __builtin_memcpy(&distance, reinterpret_cast<const uint8_t*>(resume) - sizeof distance, sizeof distance);
    return function_of_stub(resume) != 0 || is_near_memory(resume + static_cast<uintptr_t>(intptr_t{distance}));
  }
  // A module's, or a page of stubs, which is nothing else.
  static penna_elf_range code_at(uintptr_t resume) {
    if (function_of_stub(resume) != 0) {
      const uintptr_t first = page_down(resume - kCallThroughBytes);
      return {first, page_down(resume) + kPageBytes, PENNA_PROT_READ | PENNA_PROT_EXEC};
    }
    const penna_elf_module elf = elf_of_module(resume);
    return penna_elf_code_at(&elf, resume);
  }
  Outcome write(const penna_elf_range& code, uintptr_t at, uint8_t byte) {
    return penna_write_code(&patcher_, &code, at, &byte, 1) != 0 ? Outcome::kChanged : Outcome::kRefused;
  }

  penna_patcher patcher_;
};

}  // namespace

penna_control_status silence_functions(const uint64_t* functions, uint32_t count, penna_change_counts* counts) {
  BoardLock lock(BoardLock::kTry);
  if (!lock) return PENNA_CONTROL_BUSY;
  CallSilencer silencer;
  uint64_t met = 0;  // by bit: of these functions a call was seen
  static_assert(PENNA_CONTROL_FUNCTIONS <= 64);
  for (const ReturnLink& link : penna_return_links) {
    const uintptr_t caller = __atomic_load_n(&link.caller, __ATOMIC_ACQUIRE);  // pairs with publish()
    if (caller == 0 || caller == kTaken || (link.way & kStale) != 0) continue;
    for (uint32_t i = 0; i < count; ++i) {
      if (link.function != functions[i]) continue;
      met |= uint64_t{1} << i;
      const Outcome outcome = silencer.silence(link.resume);
      counts->changed += outcome == Outcome::kChanged;
      counts->refused += outcome == Outcome::kRefused;
    }
  }
  counts->matched += static_cast<uint32_t>(__builtin_popcountll(met));
  return PENNA_CONTROL_DONE;
}

}  // namespace penna::agent
