// SPDX-License-Identifier: MIT
// penna export folded: stacks as "outer;inner;innermost NUMBER", one line for each that has a number of its own. For
// flamegraph.pl, inferno, speedscope and every other tool that draws flame graphs.
//
// The number: of calls, nanoseconds of their own or how many they are; of allocations, their bytes, how many they are,
// the bytes that were live at the end or at the peak of their process, or how many were temporary; of all that threads
// wait for, nanoseconds waited, or of locks nanoseconds that others waited meanwhile, by the stack that had taken the
// lock; of points, how often each was passed, its name innermost. A ';' in a name becomes ':', what was recorded
// without a stack is "[unknown]".
// Invariant: the sum of all numbers is what was recorded, but for rounding: no stack is left out for being small.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "export/text_sink.h"
#include "model/blocks/allocation_choice.h"
#include "model/calls/call_tree.h"
#include "model/events/events.h"
#include "model/names/names.h"

namespace penna {

enum class FoldedWeight { kTime, kCalls, kAllocBytes, kAllocs, kLive, kPeak, kTemp, kWait, kWaitByHolder, kPoints };
// The events that a weight is made of: a bit of EventFilter::classes.
uint32_t classes_of(FoldedWeight weight);
// Of its numbers: "ns", "bytes", "calls", "allocations" or "points".
const char* unit_word(FoldedWeight weight);

struct FoldedOptions {
  FoldedWeight weight = FoldedWeight::kTime;
  bool threads = false;                // process and thread as the outermost two: "lua (pid 7);worker (tid 8);main 5"
  AllocationChoice* choice = nullptr;  // of weights of allocations: which count; null: all
};

struct FoldedReport {
  WalkReport walk;
  uint64_t folded = 0;  // calls that were added to their callers, for want of room
};

// Reads all calls into the tree. `step` is called with the number of events that were read since.
FoldedReport read_calls(const Recording& recording, CallTree& tree, const std::function<void(uint64_t)>& step);

// A stack, outermost frame first, and its weight, never 0. False: no more.
using StackVisitor = std::function<bool(std::span<const std::string_view> frames, uint64_t weight)>;

// The stacks as numbers, for who draws them. `step` is called with the number of events that were read since.
FoldedReport fold_stacks(const Recording& recording, Names& names, const FoldedOptions& options,
                         const StackVisitor& visit, const std::function<void(uint64_t)>& step);
FoldedReport export_folded(const Recording& recording, Names& names, const FoldedOptions& options, const TextSink& sink,
                           const std::function<void(uint64_t)>& step);

}  // namespace penna
