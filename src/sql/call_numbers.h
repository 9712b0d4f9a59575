// SPDX-License-Identifier: MIT
// The call that a thread is in, by its number in the table call: 1 for the first that the thread enters.
//
// Invariant: every entry gets a number, even one without a row (inherited by a fork): the same in every table.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/calls/thread_calls.h"
#include "sql/source.h"

namespace penna {

class CallNumbers {
 public:
  explicit CallNumbers(const SqlSource& source)
      : source_(source), map_(source.recording()), functions_(map_), threads_(source.recording().threads().size()) {}

  void operator()(const Event& event) {
    if (!event.record.changes_calls()) return;
    auto& thread = threads_[event.thread];
    if (!thread) thread = std::make_unique<Thread>(event, map_);
    thread->add(event, functions_, Observer{*thread});
  }
  // The id of the innermost open call; empty if none is open.
  std::optional<int64_t> current(uint32_t thread) const {
    if (!threads_[thread] || threads_[thread]->matcher.stack().empty()) return std::nullopt;
    return source_.call_id(thread, threads_[thread]->matcher.stack().back().tag);
  }

 private:
  struct Thread : ThreadCalls {
    using ThreadCalls::ThreadCalls;
    uint32_t last = 0;
  };
  struct Observer {
    Thread& thread;
    void on_enter(OpenCall& call, size_t) { call.tag = ++thread.last; }
    void on_leave(const OpenCall&, uint64_t, CallEnd, size_t) {}
  };

  const SqlSource& source_;
  CodeMap map_;
  FunctionTable functions_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace penna
