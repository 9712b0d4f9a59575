// SPDX-License-Identifier: MIT
// Flame graphs: the questions' part that sums stacks (questions.h).
#include <algorithm>

#include "view/answers/flame_tree.h"
#include "view/answers/questions.h"
#include "view/answers/time_order.h"

namespace penna {
namespace {

struct FlameWeight {
  const char* key;
  FoldedWeight weight, counted_by;  // equal: its value is the count
  const char* unit;
};
constexpr FlameWeight kWeights[] = {{"time", FoldedWeight::kTime, FoldedWeight::kCalls, "ns"},
                                    {"calls", FoldedWeight::kCalls, FoldedWeight::kCalls, "count"},
                                    {"bytes", FoldedWeight::kAllocBytes, FoldedWeight::kAllocs, "bytes"},
                                    {"allocations", FoldedWeight::kAllocs, FoldedWeight::kAllocs, "count"},
                                    {"live", FoldedWeight::kLive, FoldedWeight::kLive, "bytes"},
                                    {"peak", FoldedWeight::kPeak, FoldedWeight::kPeak, "bytes"},
                                    {"temporary", FoldedWeight::kTemp, FoldedWeight::kTemp, "count"},
                                    {"wait", FoldedWeight::kWait, FoldedWeight::kWait, "ns"},
                                    {"hold", FoldedWeight::kWaitByHolder, FoldedWeight::kWaitByHolder, "ns"},
                                    {"points", FoldedWeight::kPoints, FoldedWeight::kPoints, "count"}};

std::string weight_words() {
  std::string words;
  for (const FlameWeight& one : kWeights) words += (words.empty() ? "" : ", ") + std::string(one.key);
  return words;
}

using Frames = std::span<const std::string_view>;  // outermost first

// From the outermost `around` on, or up to it; empty without it: so a function that calls itself counts once.
Frames part_around(Frames frames, const std::string& around, bool is_up_to) {
  const auto at = static_cast<size_t>(std::find(frames.begin(), frames.end(), around) - frames.begin());
  if (at == frames.size()) return {};
  return is_up_to ? frames.first(at + 1) : frames.subspan(at);
}

}  // namespace

std::vector<std::string> Questions::weights_to_ask(const Summary& summary) {
  std::vector<std::string> keys;
  for (const FlameWeight& one : kWeights)
    for (uint32_t kind = 0; kind < PENNA_CLASS_COUNT; ++kind)
      if ((classes_of(one.weight) & 1u << kind) != 0 && summary.events[kind] != 0) keys.emplace_back(one.key);
  return keys;
}

// The name of the function that is asked about.
std::optional<std::string> Questions::around_of(Parameters& in) {
  if (!in.has("around")) return {};
  const std::lock_guard hold(mutex_);
  const NameIds& ids = data_.ids();
  return ids.name(static_cast<uint32_t>(in.number("around", 0, 0, ids.size() - 1)));
}

std::string Questions::flame(Parameters& in) {
  constexpr size_t kMostText = 50;
  const std::string key = in.text("weight", kMostText);
  const auto found =
      std::find_if(std::begin(kWeights), std::end(kWeights), [&](const FlameWeight& one) { return key == one.key; });
  if (found == std::end(kWeights)) in.refuse("weight is one of " + weight_words());
  FoldRequest request;
  request.of = selection(in);
  request.by_thread = in.number("by_thread", 0, 0, 1) != 0;
  const bool is_reversed = in.number("reverse", 0, 0, 1) != 0;
  FlameTree tree(is_reversed);
  const std::optional<std::string> around = around_of(in);
  if (in.number("time_order", 0, 0, 1) != 0) {
    if (key != "time" || in.has("reverse") || around)
      in.refuse("only time has an order, from the outermost function on");
    return time_order(in, request.of);
  }
  if (in.error()) return {};
  const auto add = [&](Frames frames, uint64_t value) {
    const Frames part = around ? part_around(frames, *around, is_reversed) : frames;
    if (!around || !part.empty()) tree.add(part, value);
    return true;
  };
  // Up to a function, its own are counted, and not those of its callees.
  const auto add_count = [&](Frames frames, uint64_t value) {
    const Frames part = around ? part_around(frames, *around, is_reversed) : frames;
    const bool is_its_own = !is_reversed || part.size() == frames.size();
    if (!around || (!part.empty() && is_its_own)) tree.add_count(part, value);
    return true;
  };
  request.weight = found->weight;
  if (in.number("compare", 0, 0, 1) != 0) {
    if (!readers_.fold_before) in.refuse(kNothingToCompare);
    if (around) in.refuse("a comparison is of all functions");
    if (in.error()) return {};
    const auto add_before = [&](Frames frames, uint64_t value) { return tree.add_before(frames, value), true; };
    tree.compare();
    if (const Result<> done = readers_.fold_before(found->weight, add_before); !done)
      return in.refuse(done.error().text), std::string();
  }
  Result<> done = readers_.fold(request, add);
  request.weight = found->counted_by;
  if (done && found->counted_by != found->weight) done = readers_.fold(request, add_count);
  if (!done) return in.refuse(done.error().text), std::string();
  std::lock_guard hold(mutex_);
  return tree.answer(found->unit, data_.ids());
}

std::string Questions::time_order(Parameters& in, const ViewSelection& of) {
  const PixelView view = pixel_view(in, data_.summary()->duration_ns);
  if (in.error()) return {};
  TimeOrder tree(static_cast<int64_t>(view.ns_per_pixel()));
  const Result<> done = readers_.read_part({of}, [&](const Recording& part, Names& names) -> Result<> {
    const size_t threads = part.threads().size();
    for (uint32_t thread = 0; thread < threads; ++thread)
      if (takes_thread(part, thread))
        tree.read(part, names, thread, of.threads.size() == 1 ? "" : parts_.thread_name(thread));
    return ok();
  });
  if (!done) return in.refuse(done.error().text), std::string();
  std::lock_guard hold(mutex_);
  return tree.answer(data_.ids());
}

}  // namespace penna
