// SPDX-License-Identifier: MIT
// ThreadCalls: the call events of one thread, on their way into its matcher. What Calls, CallTree and CallGraph keep of every
// thread; each derives a state of its own from it.
// Invariant: functions are told apart by their place where an address meant two of them at different times, else by address.
#pragma once

#include "model/call_matcher.h"
#include "model/code_map.h"
#include "model/events.h"

namespace penna {

struct ThreadCalls {
  ThreadCalls(const Event& first, const CodeMap& map)
      : process(first.process), thread(first.thread), time_matters(map.time_matters(first.process)) {}

  template <typename Observer>
  void add(const Event& event, FunctionTable& functions, Observer&& observer) {
    last_time = event.time;
    if (!event.record.is_call()) return matcher.jump(event.record.as<penna_jump>(), event.time, observer);
    const uint64_t pc = event.record.pc;
    const uint64_t key = time_matters ? functions.intern(process, pc, event.time) : pc;
    if (event.record.kind == PENNA_KIND_CALL_ENTRY) {
      matcher.enter(key, pc, event.time, observer);
    } else {
      matcher.exit(key, pc, event.time, observer);
    }
  }
  // Ends open calls with the last call event.
  template <typename Observer>
  void finish(Observer&& observer) {
    matcher.finish(last_time, observer);
  }

  CallMatcher matcher;
  uint32_t process, thread;
  bool time_matters;
  uint64_t last_time = 0;
};

}  // namespace penna
