// SPDX-License-Identifier: MIT
// ThreadCalls: the call events of one thread, on their way into its matcher. Calls, CallTree and CallGraph keep one per
// thread; each derives its own state from it.
// Invariant: functions are distinguished by place where an address meant two functions at different times, else by
// address.
#pragma once

#include "model/calls/call_matcher.h"
#include "model/events/events.h"
#include "model/names/code_map.h"

namespace penna {

struct ThreadCalls {
  template <typename First>  // an Event or a CallRun
  ThreadCalls(const First& first, const CodeMap& map)
      : process(first.process), thread(first.thread), time_matters(map.time_matters(first.process)) {}

  template <typename Observer>
  [[gnu::flatten]] void add(const CallRun& run, FunctionTable& functions, Observer&& observer) {
    for (const CallEvent& call : run.calls) {
      const uint64_t key = time_matters ? functions.intern(process, call.pc, call.time) : call.pc;
      if (call.is_entry) {
        matcher.enter(key, call.pc, call.time, observer);
      } else {
        matcher.exit(key, call.pc, call.time, observer);
      }
    }
    last_time = run.calls.back().time;
  }
  template <typename Observer>
  void add(const Event& event, FunctionTable& functions, Observer&& observer) {
    if (event.record.is_call()) {
      if (event.inherited) return inherit(event, functions, observer);
      const CallEvent call{event.time, event.record.pc, event.record.kind == PENNA_KIND_CALL_ENTRY};
      return add(CallRun{process, thread, {&call, 1}}, functions, observer);
    }
    last_time = event.time;
    matcher.jump(event.record.as<penna_jump>(), event.time, observer);
  }
  template <typename Observer>
  void inherit(const Event& event, FunctionTable& functions, Observer&& observer) {
    const uint64_t pc = event.record.pc;
    const uint64_t key = time_matters ? functions.intern(process, pc, event.time) : pc;
    matcher.enter(key, pc, event.time, observer, true);
    last_time = event.time;
  }
  // Ends open calls at the last call event.
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
