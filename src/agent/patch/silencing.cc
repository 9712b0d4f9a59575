// SPDX-License-Identifier: MIT
// See silencing.h.
#include "agent/patch/silencing.h"

#include "agent/calls/gprof.h"
#include "agent/core/attachment.h"
#include "agent/core/pages.h"
#include "agent/core/return_trampolines.h"
#include "agent/modules/loader.h"
#include "agent/modules/near_ranges.h"
#include "agent/patch/arch.h"
#include "agent/patch/sites.h"

namespace penna::agent {
namespace {

enum class Outcome { kChanged, kWas, kRefused };

class CallSilencer {
 public:
  CallSilencer() : patcher_{board(), 0, 0} {}
  ~CallSilencer() { penna_finish_patching(&patcher_); }
  CallSilencer(const CallSilencer&) = delete;
  CallSilencer& operator=(const CallSilencer&) = delete;

  // Silences the call that ends at `resume`.
  Outcome silence(uintptr_t resume) {
    const penna_elf_range code = code_at(resume);
    if (code.start == code.end || resume - kLongestCall < code.start) return Outcome::kRefused;
    if (counts_for_gprof() && !is_ours(resume)) return Outcome::kRefused;  // it would stop gprof's counting
    const SilentCall call = silent_call(resume);
    if (call.is == SilentCall::kCall) return write(code, call.at, call.byte);
    return call.is == SilentCall::kSilent ? Outcome::kWas : Outcome::kRefused;
  }

 private:
  // Whether the agent wrote it; otherwise the compiler did.
  static bool is_ours(uintptr_t resume) {
    return function_of_stub(resume) != 0 || is_near_memory(call_refers_to(resume));
  }
  // The code around it: of a module, or a page of stubs, which contains nothing else.
  static penna_elf_range code_at(uintptr_t resume) {
    if (function_of_stub(resume) != 0) {
      const uintptr_t first = page_down(resume - kLongestCall);
      return {first, page_down(resume) + kPageBytes, PENNA_PROT_READ | PENNA_PROT_EXEC};
    }
    const penna_elf_module elf = elf_of_module(resume);
    return penna_elf_code_at(&elf, resume);
  }
  Outcome write(const penna_elf_range& code, uintptr_t at, uint8_t byte) {
    if (!is_near_memory(at) && !note_code(at, reinterpret_cast<const uint8_t*>(at), &byte, 1)) return Outcome::kRefused;
    return penna_write_code(&patcher_, &code, at, &byte, 1) != 0 ? Outcome::kChanged : Outcome::kRefused;
  }

  penna_patcher patcher_;
};

}  // namespace

penna_control_status silence_functions(const uint64_t* functions, uint32_t count, penna_change_counts* counts,
                                       uint64_t* silent) {
  BoardLock lock(BoardLock::kTry);
  if (!lock) return PENNA_CONTROL_BUSY;
  CallSilencer silencer;
  uint64_t met = 0, heard = 0;  // by bit: the functions of which a call was found, and one that stays
  static_assert(PENNA_CONTROL_FUNCTIONS <= 64);
  for (const ReturnLink& link : penna_return_links) {
    const uintptr_t caller = __atomic_load_n(&link.caller, __ATOMIC_ACQUIRE);  // pairs with publish()
    // Unused, in the making, or of code that is unmapped by now.
    if (caller == 0 || caller == kTaken || (link.way & kStale) != 0) continue;
    for (uint32_t i = 0; i < count; ++i) {
      if (link.function != functions[i]) continue;
      met |= uint64_t{1} << i;
      const Outcome outcome = silencer.silence(link.resume);
      counts->changed += outcome == Outcome::kChanged;
      counts->refused += outcome == Outcome::kRefused;
      if (outcome == Outcome::kRefused) heard |= uint64_t{1} << i;
    }
  }
  counts->matched += static_cast<uint32_t>(__builtin_popcountll(met));
  *silent = met & ~heard;
  return PENNA_CONTROL_DONE;
}

}  // namespace penna::agent
