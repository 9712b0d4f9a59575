// SPDX-License-Identifier: MIT
// See folded_export.h. Calls come from the tree of call paths, everything else from recorded stacks.
#include "export/calls/folded_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/printable.h"
#include "export/text/event_words.h"
#include "model/blocks/allocations.h"
#include "model/events/summary.h"
#include "model/locks/locks.h"
#include "model/locks/wait_rows.h"

namespace penna {
namespace {

// The name as part of a line: it must not contain what separates parts, or lines.
std::string part(const std::string& name) {
  std::string text = name;
  for (char& c : text) c = c == ';' ? ':' : c == '\n' ? ' ' : c;
  return printable(text);
}

// Outermost first.
using Frames = std::vector<std::string>;

// Process and thread as the outermost frames.
class Roots {
 public:
  explicit Roots(const Recording& recording) : summary_(summarize(recording)) {}
  Frames of(uint32_t thread) const {
    const ThreadSummary& of = summary_.threads[thread];
    const ProcessSummary& process = summary_.processes[of.process];
    return {part(fmt::format("{} (pid {})", process.name.empty() ? "process" : process.name, process.pid)),
            part(fmt::format("{} (tid {})", of.name.empty() ? "thread" : of.name, of.tid))};
  }

 private:
  Summary summary_;
};

bool visit_frames(const Frames& frames, uint64_t weight, const StackVisitor& visit) {
  const std::vector<std::string_view> views(frames.begin(), frames.end());
  return visit(views, weight);
}

// For a stack as recorded.
void add_frames(EventWords& words, uint32_t process, uint32_t stack, Frames& frames) {
  for (const std::string& name : words.folded_frames(process, stack)) frames.push_back(one_line(name));
}

// Each tree node with self time or calls is a line. Names are looked up once per function.
void visit_calls(const Recording& recording, Names& names, const FoldedOptions& options, const CallTree& tree,
                 const StackVisitor& visit) {
  const Roots roots(recording);
  const std::vector<CallNode>& nodes = tree.nodes();
  std::vector<std::string> functions(tree.functions().size());
  std::vector<std::string_view> frames;
  for (size_t i = 1; i < nodes.size(); ++i) {
    const double ns = static_cast<double>(nodes[i].self) * recording.time().ns_per_tick();
    const uint64_t value =
        options.weight == FoldedWeight::kCalls ? nodes[i].calls : static_cast<uint64_t>(std::llround(ns));
    if (value == 0 || nodes[i].function == kNoFunction) continue;
    frames.clear();
    for (size_t at = i; nodes[at].function != kNoFunction; at = nodes[at].parent) {
      std::string& name = functions[nodes[at].function];
      if (name.empty()) name = part(names.function_name(tree.functions().place(nodes[at].function)));
      frames.push_back(name);
    }
    const Frames outer = options.threads ? roots.of(nodes[i].thread) : Frames{};
    frames.insert(frames.end(), outer.rbegin(), outer.rend());
    std::reverse(frames.begin(), frames.end());
    if (!visit(frames, value)) return;
  }
}

uint64_t weight_of(const StackAllocations& stack, FoldedWeight weight) {
  switch (weight) {
    case FoldedWeight::kAllocBytes: return stack.bytes;
    case FoldedWeight::kAllocs: return stack.allocations;
    case FoldedWeight::kLive: return stack.live_bytes;
    case FoldedWeight::kPeak: return stack.peak_bytes;
    default: return stack.temporary;
  }
}

// In nanoseconds.
uint64_t wait_of(const Recording& recording, const WaitRow& wait) {
  return static_cast<uint64_t>(std::max<int64_t>(recording.time().duration_ns(wait.begin, wait.end), 0));
}

// What is known about a lock's holder, if not the stack that took the lock.
enum class Leaf : uint32_t { kNone, kReleased, kNobody, kUnknown };
constexpr const char* kLeaves[] = {"", "[released it]", "[none: it was free]", "[unknown]"};

// Sums by text: the same functions called from different places in them are one stack. Stacks are looked up by number
// first, and their text is made once.
class Stacks {
 public:
  Stacks(const Recording& recording, Names& names, const FoldedOptions& options)
      : words_(recording, names), roots_(recording), options_(options) {}

  // `thread`: index. `leaf`: appended to the stack.
  void add(uint32_t process, uint32_t thread, uint32_t stack, uint64_t value, Leaf leaf = Leaf::kNone) {
    if (value == 0) return;
    NumberMap<uint32_t>& slots = slots_[pair_key(options_.threads ? thread : 0, static_cast<uint32_t>(leaf))];
    auto [slot, added] = slots.try_emplace(pair_key(process, stack), 0);
    if (added) slot.value() = slot_of(process, thread, stack, leaf);
    uint64_t& sum = sums_[slot->second];
    if (__builtin_add_overflow(sum, value, &sum)) sum = UINT64_MAX;
  }
  // Sorted by text, so that the output does not depend on a hash.
  void visit(const StackVisitor& visit) const {
    std::vector<std::pair<std::string_view, uint32_t>> sorted;
    for (const auto& [text, slot] : by_text_) sorted.emplace_back(text, slot);
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [text, slot] : sorted)
      if (!visit_frames(frames_[slot], sums_[slot], visit)) return;
  }

 private:
  uint32_t slot_of(uint32_t process, uint32_t thread, uint32_t id, Leaf leaf) {
    Frames frames = options_.threads ? roots_.of(thread) : Frames{};
    const size_t outer = frames.size();
    add_frames(words_, process, id, frames);
    // A stack without frames would be a line with just a number.
    if (frames.size() == outer && (leaf == Leaf::kNone || id != 0)) frames.emplace_back("[unknown]");
    if (leaf != Leaf::kNone) frames.emplace_back(kLeaves[static_cast<size_t>(leaf)]);
    const auto [found, added] =
        by_text_.try_emplace(fmt::format("{}", fmt::join(frames, ";")), static_cast<uint32_t>(sums_.size()));
    if (added) {
      sums_.push_back(0);
      frames_.push_back(std::move(frames));
    }
    return found->second;
  }

  EventWords words_;
  Roots roots_;
  const FoldedOptions& options_;
  NumberMap<NumberMap<uint32_t>> slots_;  // by thread if needed, and leaf: process, stack -> slot
  TextMap<uint32_t> by_text_;
  std::vector<uint64_t> sums_;  // by slot
  std::vector<Frames> frames_;  // likewise
};

// Hits of points, by stack and point: the point is the innermost frame.
class PointStacks {
 public:
  PointStacks(const Recording& recording, Names& names, const FoldedOptions& options)
      : words_(recording, names), roots_(recording), options_(options) {}

  void add(const TimelineLine& line) {
    if (line.kind != LineKind::kPoint && line.kind != LineKind::kSpanBegin) return;
    ++counts_[{line.process, options_.threads ? line.thread : 0, line.stack, words_.name(line)}];
  }
  void visit(const StackVisitor& visit) {
    std::map<std::string, std::pair<Frames, uint64_t>> sums;  // different addresses may have the same names
    for (const auto& [key, count] : counts_) {
      const auto& [process, thread, stack, name] = key;
      Frames frames = options_.threads ? roots_.of(thread) : Frames{};
      if (stack == 0)
        frames.emplace_back("[unknown]");
      else
        add_frames(words_, process, stack, frames);
      frames.push_back(part(name));
      auto& sum = sums[fmt::format("{}", fmt::join(frames, ";"))];
      sum.first = std::move(frames);
      sum.second += count;
    }
    for (const auto& [text, sum] : sums)
      if (!visit_frames(sum.first, sum.second, visit)) return;
  }

 private:
  EventWords words_;
  Roots roots_;
  const FoldedOptions& options_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, std::string>, uint64_t> counts_;
};

// By holder: the stack that took the lock; if unknown, a last frame says what is known.
void add_holders(const Recording& recording, const Locks& locks, Stacks& stacks) {
  for (const WaitPair& pair : locks.pairs()) {
    const LockStats& lock = locks.all()[pair.lock];
    if (!has_holder(lock.kind)) continue;
    const Leaf leaf = pair.side == OtherSide::kHeld       ? Leaf::kNone
                      : pair.side == OtherSide::kReleased ? Leaf::kReleased
                      : pair.side == OtherSide::kFree     ? Leaf::kNobody
                                                          : Leaf::kUnknown;
    const double ns = static_cast<double>(pair.time) * recording.time().ns_per_tick();
    stacks.add(other_process(lock, pair), pair.other_thread, pair.other_stack,
               static_cast<uint64_t>(std::llround(std::min(ns, 9e18))), leaf);
  }
}

// With a range, waits count that began before it or end after it.
void add_waiters(const Recording& recording, const Locks& locks, Stacks& stacks) {
  for (const WaitPair& pair : locks.pairs()) {
    const double ns = static_cast<double>(pair.time) * recording.time().ns_per_tick();
    stacks.add(locks.all()[pair.lock].process, pair.thread, pair.stack,
               static_cast<uint64_t>(std::llround(std::min(ns, 9e18))));
  }
}

}  // namespace

uint32_t classes_of(FoldedWeight weight) {
  switch (weight) {
    case FoldedWeight::kAllocBytes:
    case FoldedWeight::kAllocs:
    case FoldedWeight::kLive:
    case FoldedWeight::kPeak:
    case FoldedWeight::kTemp: return kAllocEvents;
    case FoldedWeight::kWait:
    case FoldedWeight::kWaitByHolder: return kLockEvents;
    case FoldedWeight::kPoints: return kPointEvents;
    default: return kCallEvents;
  }
}

const char* unit_word(FoldedWeight weight) {
  switch (weight) {
    case FoldedWeight::kTime:
    case FoldedWeight::kWait:
    case FoldedWeight::kWaitByHolder: return "ns";
    case FoldedWeight::kCalls: return "calls";
    case FoldedWeight::kAllocBytes:
    case FoldedWeight::kLive:
    case FoldedWeight::kPeak: return "bytes";
    case FoldedWeight::kAllocs:
    case FoldedWeight::kTemp: return "allocations";
    case FoldedWeight::kPoints: return "points";
  }
  return "";
}

FoldedReport read_calls(const Recording& recording, CallTree& tree, const std::function<void(uint64_t)>& step) {
  FoldedReport report;
  report.walk = for_each_thread_event(recording, {.classes = kCallEvents}, [&](const auto& some) {
    step(count_of(some));
    tree(some);
  });
  tree.finish();
  report.folded = tree.folded();
  return report;
}

// One branch per class of events; `weight` decides.
FoldedReport fold_stacks(const Recording& recording, Names& names, const FoldedOptions& options,
                         const StackVisitor& visit, const std::function<void(uint64_t)>& step) {
  FoldedReport report;
  const uint32_t classes = classes_of(options.weight);
  if (classes == kCallEvents) {
    CallTree tree(recording, names.map(), options.threads);
    report = read_calls(recording, tree, step);
    visit_calls(recording, names, options, tree, visit);
  } else if (classes == kAllocEvents) {
    AllocationOptions counted;
    counted.choice = options.choice;
    if (options.threads) counted.context = [](const Event& event) { return event.thread; };
    if (options.choice != nullptr) learn_lifetimes(recording, *options.choice, [] {});
    Allocations heap(recording, std::move(counted));
    report.walk = for_each_event(recording, {.classes = classes, .all_threads = true}, [&](const Event& event) {
      step(1);
      heap(event);
    });
    heap.finish();
    Stacks stacks(recording, names, options);
    for (const StackAllocations& stack : heap.stacks())
      stacks.add(stack.process, stack.context, stack.stack, weight_of(stack, options.weight));
    stacks.visit(visit);
  } else if (classes == kPointEvents) {
    PointStacks stacks(recording, names, options);
    for_each_line_by_thread(
        recording, {.filter = {.classes = classes}}, [&] { step(1); }, &report.walk,
        [&](const TimelineLine& line) { return stacks.add(line), true; });
    stacks.visit(visit);
  } else if (options.weight == FoldedWeight::kWaitByHolder || (reads_range(recording) && !options.threads)) {
    Locks locks(recording);
    visit_past(recording, classes, locks);
    report.walk = for_each_event(recording, {.classes = classes, .all_threads = true}, [&](const Event& event) {
      step(1);
      locks(event);
    });
    locks.finish();
    Stacks stacks(recording, names, options);
    options.weight == FoldedWeight::kWait ? add_waiters(recording, locks, stacks)
                                          : add_holders(recording, locks, stacks);
    stacks.visit(visit);
  } else {
    Stacks stacks(recording, names, options);
    report.walk =
        for_each_wait(recording, {.follow_memory = false, .step = [&] { step(1); }}, [&](const WaitRow& wait) {
          stacks.add(wait.process, wait.thread, wait.stack, wait_of(recording, wait));
          return true;
        });
    stacks.visit(visit);
  }
  return report;
}

FoldedReport export_folded(const Recording& recording, Names& names, const FoldedOptions& options, const TextSink& sink,
                           const std::function<void(uint64_t)>& step) {
  TextBuffer out(sink);
  const StackVisitor write = [&](std::span<const std::string_view> frames, uint64_t weight) {
    for (size_t i = 0; i < frames.size(); ++i) {
      if (i != 0) out.character(';');
      out.text(frames[i]);
    }
    out.character(' ');
    out.integer(weight);
    out.text("\n");
    return out.ok();
  };
  FoldedReport report = fold_stacks(recording, names, options, write, step);
  out.flush();
  return report;
}

}  // namespace penna
