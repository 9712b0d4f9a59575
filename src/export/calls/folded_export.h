// SPDX-License-Identifier: MIT
// penna export folded: stacks as "outer;inner;innermost NUMBER", one line for each that has its own number. For
// flamegraph.pl, inferno, speedscope and every other tool that draws flame graphs.
//
// The number: for calls, their self time in nanoseconds or their count; for allocations, their bytes, their count, the
// bytes live at the end or at the peak of their process, or how many were temporary; for everything that threads wait
// for, nanoseconds waited, or for locks the nanoseconds that others waited meanwhile, by the stack that had taken the
// lock; for points, how often each was hit, with its name innermost. A ';' in a name becomes ':', what was recorded
// without a stack is "[unknown]".
// Invariant: the sum of all numbers is what was recorded, up to rounding: no stack is left out for being small.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "export/text/text_sink.h"
#include "model/blocks/allocation_choice.h"
#include "model/calls/call_tree.h"
#include "model/events/events.h"
#include "model/names/names.h"

namespace penna {

enum class FoldedWeight { kTime, kCalls, kAllocBytes, kAllocs, kLive, kPeak, kTemp, kWait, kWaitByHolder, kPoints };
// The events that a weight is computed from: a bit of EventFilter::classes.
uint32_t classes_of(FoldedWeight weight);
// Unit of its numbers: "ns", "bytes", "calls", "allocations" or "points".
const char* unit_word(FoldedWeight weight);

struct FoldedOptions {
  FoldedWeight weight = FoldedWeight::kTime;
  bool threads = false;                // process and thread as the outermost two: "lua (pid 7);worker (tid 8);main 5"
  AllocationChoice* choice = nullptr;  // for allocation weights: which count; null: all
};

struct FoldedReport {
  WalkReport walk;
  uint64_t folded = 0;  // calls added to their callers for lack of room
};

// Reads all calls into the tree. Calls `step` with the number of events read since the last time.
FoldedReport read_calls(const Recording& recording, CallTree& tree, const std::function<void(uint64_t)>& step);

// A stack, outermost frame first, and its weight, never 0. False: stop.
using StackVisitor = std::function<bool(std::span<const std::string_view> frames, uint64_t weight)>;

// The stacks with their numbers, for drawing. Calls `step` with the number of events read since the last time.
FoldedReport fold_stacks(const Recording& recording, Names& names, const FoldedOptions& options,
                         const StackVisitor& visit, const std::function<void(uint64_t)>& step);
FoldedReport export_folded(const Recording& recording, Names& names, const FoldedOptions& options, const TextSink& sink,
                           const std::function<void(uint64_t)>& step);

}  // namespace penna
