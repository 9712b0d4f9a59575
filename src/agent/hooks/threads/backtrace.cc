// SPDX-License-Identifier: MIT
// What a program sees when it walks its own stack: its real callers, not the agent's trampolines and hooks.
//
// Invariant: the frames are those of the untraced program, in their order; the agent's are left out.
#include <stdint.h>

#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/own_code.h"
#include "agent/modules/real.h"
#include "agent/stacks/unwinder.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

constexpr int kMostFrames = 2048;
constexpr int kEndOfStack = 5, kContinue = 0;  // of _Unwind_Reason_Code

// A program's request to its unwinder.
struct Asked {
  OnFrame on_frame;
  void* argument;
  uintptr_t (*get_ip)(void* context);
  bool own_frame;  // the next frame is the wrapper's
};

int on_every_frame(void* context, void* argument) {
  auto& asked = *static_cast<Asked*>(argument);
  const bool ours = asked.own_frame || is_own_code(asked.get_ip(context));
  asked.own_frame = false;
  return ours ? kContinue : asked.on_frame(context, asked.argument);
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

// Requests twice as many frames, because each may come with a trampoline, plus two for libc's function and this hook:
// those come first, unless the hook below has left them out.
PENNA_EXPORT int backtrace(void** frames, int size) {
  if (real.backtrace == nullptr && !resolve_real_functions()) return 0;
  // More would take over 32 KiB of the caller's stack: then the agent's are among the frames.
  if (size <= 0 || size > kMostFrames) return real.backtrace(frames, size);
  const int most = size * 2 + 2;
  auto** all = static_cast<void**>(__builtin_alloca(static_cast<size_t>(most) * sizeof(void*)));
  const int found = real.backtrace(all, most);
  const auto is_own = [&](int i) { return i < found && is_own_code(reinterpret_cast<uintptr_t>(all[i])); };
  int kept = 0;
  for (int i = is_own(0) ? 1 : is_own(1) ? 2 : 0; i < found && kept < size; ++i)
    if (!is_own(i)) frames[kept++] = all[i];
  return kept;
}

PENNA_EXPORT int _Unwind_Backtrace(OnFrame on_frame, void* argument) {
  // The unwinder may have been loaded by a dlopen since the start.
  auto walk = real._Unwind_Backtrace;
  if (walk == nullptr) walk = reinterpret_cast<decltype(walk)>(next_definition("_Unwind_Backtrace"));
  Unwinder unwinder;
  if (walk == nullptr) return kEndOfStack;
  // Where libgcc's function was entered, `walk` is its beginning, moved out of the module.
  const auto original = real_before._Unwind_Backtrace == nullptr ? walk : real_before._Unwind_Backtrace;
  if (!find_unwinder(reinterpret_cast<uintptr_t>(original), &unwinder)) return walk(on_frame, argument);
  Asked asked{on_frame, argument, unwinder.get_ip, true};
  return walk(on_every_frame, &asked);
}
