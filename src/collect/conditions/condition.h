// SPDX-License-Identifier: MIT
// The conditions of penna record --on, and the observers that watch for them.
//
// Why observers: they see each record once, in time, even in chunks that are still being filled. Each goes over the
// records by itself: a condition costs the recorder something, and the program nothing.
// Invariant: what a watch keeps is bounded, whatever targets do; nothing is kept of threads or processes that are gone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "collect/flight_recorder.h"
#include "collect/observer.h"
#include "filter/call_sieve.h"
#include "filter/where.h"

namespace penna {

struct SnapshotCondition {
  enum class Kind : uint8_t {
    kWait,   // for a lock, longer than `limit`
    kSpan,   // of points, open for longer
    kCall,   // of a function, likewise
    kPoint,  // was passed, and `where` holds for its arguments
    kRss,    // resident memory of a process is, or has grown by, more than `limit`
    kLive,   // bytes that a process has allocated and not freed, likewise
    kCrash,  // a process was ended by a signal that tells of an error
    kEnd,    // the recording ends: no watch, SnapshotRules::takes_the_end
  };
  Kind kind = Kind::kEnd;
  std::string text;     // as written
  std::string pattern;  // of the lock, span, function or point; empty: any
  std::optional<Where> where = {};
  uint64_t limit = 0;      // ns, or bytes
  bool is_growth = false;  // since the process was met, or since the last time it was met
};

// What a recorder must know besides. Called on the collector's thread.
struct ConditionHelp {
  double ticks_per_ns = 1;
  std::function<void(SnapshotCause)> report;
  std::function<void(std::string sentence)> note = {};  // what is not watched any more
  CallRules functions = {};  // kCall: FunctionTraits::snapshot marks them; the rest is ignored
  // kWait with a pattern: whether a lock is meant. Modules come first.
  std::function<bool(uint32_t process, uint64_t address)> is_lock = {};
  std::function<void(uint32_t process, const Module& module)> learn = {};
  std::function<uint64_t(uint64_t size)> weigh = {};                         // kLive: what a sampled block stands for
  std::function<std::optional<uint64_t>(uint32_t pid)> resident_bytes = {};  // kRss; nothing: the process is gone
  bool (*thread_lives)(uint32_t pid, uint32_t tid) = nullptr;
};

// Not for kEnd.
std::unique_ptr<ForwardingObserver> watch_for(const SnapshotCondition& condition, ConditionHelp help);

// From /proc.
std::optional<uint64_t> resident_bytes(uint32_t pid);

}  // namespace penna
