// SPDX-License-Identifier: MIT
// See live_heap.h. Two passes: the first finds each step's moment, the second reads the stacks at that moment.
#include "view/answers/live_heap.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "model/blocks/allocations.h"
#include "view/tracks/columns.h"

namespace penna {
namespace {

// The state after so many events; `live` is the sum over all processes that had not ended.
struct Moment {
  uint64_t events = 0, live = 0;
  int64_t time = 0;
};

class MostOfSteps : public AllocationObserver {
 public:
  MostOfSteps(const LiveHeapRequest& request, size_t processes)
      : view_(request.view), moments_(view_.pixels), process_bytes_(processes) {
    for (uint32_t step = 0; step < view_.pixels; ++step) moments_[step].time = view_.begin_of(step);
  }

  void on_live(uint32_t process, uint64_t, uint64_t bytes, uint64_t) override {
    now_ = now_ - process_bytes_[process] + bytes;
    process_bytes_[process] = bytes;
  }
  // An event is about to be counted: later steps begin with the current state.
  void before(int64_t time) {
    while (next_ < view_.pixels && view_.begin_of(next_) <= time) {
      moments_[next_].events = events_;
      moments_[next_++].live = now_;
    }
  }
  void after(int64_t time) {
    ++events_;
    if (next_ == 0) return;
    Moment& moment = moments_[next_ - 1];
    if (now_ > moment.live) moment = {events_, now_, time + 1};
  }
  std::vector<Moment> finish() {
    before(view_.t1);
    return std::move(moments_);
  }

 private:
  const PixelView view_;
  std::vector<Moment> moments_;
  std::vector<uint64_t> process_bytes_;
  uint32_t next_ = 0;  // the first step that has not begun
  uint64_t events_ = 0, now_ = 0;
};

// on_event(time): called after each counted event; false: no more are wanted.
template <typename Before, typename After>
void count_blocks(const Recording& recording, Allocations& heap, const LiveHeapRequest& request, Before&& before,
                  After&& after) {
  for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, [&](const Event& event) {
    const int64_t time = recording.time().duration_ns(request.begin, event.time);
    if (time >= request.view.t1) return false;
    before(time);
    heap(event);
    return static_cast<bool>(after(time));
  });
}

// The names of the allocating functions, in order of appearance.
class Owners {
 public:
  Owners(Names& names, bool by_stack) : names_(names), by_stack_(by_stack) {}

  // The owners of stacks in order of their slots; the first ones are known already.
  const std::vector<uint32_t>& of(const std::vector<StackAllocations>& stacks) {
    for (size_t slot = of_slot_.size(); slot < stacks.size(); ++slot) {
      const auto [found, is_new] = numbers_.try_emplace(name_of(stacks[slot]), static_cast<uint32_t>(list_.size()));
      if (is_new) list_.push_back(found->first);
      of_slot_.push_back(found->second);
    }
    return of_slot_;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  // "malloc's caller, called by this, called by that".
  std::string name_of(const StackAllocations& stack) {
    constexpr size_t kFrames = 4;
    if (!by_stack_) {
      const NameFrame* origin = names_.origin(stack.process, stack.stack);
      return origin == nullptr ? "[unknown]" : origin->function;
    }
    std::string text;
    size_t frames = 0;
    for (const NameFrame* frame : names_.shown(stack.process, stack.stack).frames) {
      if (++frames > kFrames) return text + " ← …";
      text += (text.empty() ? "" : " ← ") + std::string(names_.line_name(*frame));
    }
    return text.empty() ? "[unknown]" : text;
  }

  Names& names_;
  const bool by_stack_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> list_;
  std::vector<uint32_t> of_slot_;
};

using Steps =
    std::vector<std::vector<uint64_t>>;  // by step, then owner: its bytes then; owners that appear later are missing

Steps look(const Recording& recording, const LiveHeapRequest& request, const std::vector<Moment>& moments,
           Owners& owners) {
  Steps steps;
  Allocations heap(recording);
  uint64_t events = 0;
  const auto take = [&] {
    while (steps.size() < moments.size() && moments[steps.size()].events <= events) {
      if (!steps.empty() && moments[steps.size() - 1].events == moments[steps.size()].events) {
        steps.push_back(steps.back());
        continue;
      }
      const std::vector<StackAllocations> stacks = heap.stacks();
      const std::vector<uint32_t>& owner = owners.of(stacks);
      std::vector<uint64_t>& live = steps.emplace_back(owners.list().size());
      for (size_t slot = 0; slot < stacks.size(); ++slot) live[owner[slot]] += stacks[slot].live_bytes;
    }
    return steps.size() < moments.size();
  };
  if (take())
    count_blocks(
        recording, heap, request, [](int64_t) {},
        [&](int64_t) {
          ++events;
          return take();
        });
  return steps;
}

uint64_t at(const std::vector<uint64_t>& live, size_t owner) { return owner < live.size() ? live[owner] : 0; }

// The owners with most bytes over all steps, largest first.
std::vector<size_t> largest(const Steps& steps, size_t owners, size_t most) {
  std::vector<double> sums(owners);
  for (const std::vector<uint64_t>& live : steps)
    for (size_t i = 0; i < live.size(); ++i) sums[i] += static_cast<double>(live[i]);
  std::vector<size_t> order(owners);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t one, size_t other) { return sums[one] > sums[other]; });
  while (!order.empty() && (order.size() > most || sums[order.back()] == 0)) order.pop_back();
  return order;
}

}  // namespace

std::string live_heap(const Recording& recording, Names& names, const LiveHeapRequest& asked) {
  LiveHeapRequest request = asked;
  size_t slots = 0;
  std::vector<Moment> moments;
  // With very many stacks, there are fewer steps.
  for (bool is_done = false; !is_done;) {
    MostOfSteps most(request, recording.processes().size());
    AllocationOptions options;
    options.observer = &most;
    Allocations heap(recording, std::move(options));
    count_blocks(
        recording, heap, request, [&](int64_t time) { most.before(time); },
        [&](int64_t time) {
          most.after(time);
          return true;
        });
    moments = most.finish();
    slots = std::max<size_t>(heap.slot_count(), 1);
    const size_t room = std::max<size_t>(kMostLiveCells / slots, 1);
    is_done = request.view.pixels <= room;
    request.view.pixels = static_cast<uint32_t>(std::min<size_t>(request.view.pixels, room));
  }
  Owners owners(names, request.by_stack);
  const Steps steps = look(recording, request, moments, owners);
  const std::vector<size_t> shown = largest(steps, owners.list().size(), request.series);
  std::vector<double> time, live, total, bytes, rest;
  for (const Moment& moment : moments) time.push_back(static_cast<double>(moment.time));
  for (const Moment& moment : moments) live.push_back(static_cast<double>(moment.live));
  for (const std::vector<uint64_t>& step : steps)
    total.push_back(static_cast<double>(std::accumulate(step.begin(), step.end(), uint64_t{0})));
  rest = total;
  for (const size_t owner : shown)
    for (size_t step = 0; step < steps.size(); ++step) {
      bytes.push_back(static_cast<double>(at(steps[step], owner)));
      rest[step] -= bytes.back();
    }
  ColumnAnswer answer;
  answer.add("time", time);
  answer.add("live", live);
  answer.add("total", total);
  answer.add("bytes", bytes);
  answer.add("rest", rest);
  return answer.text([&](JsonWriter& json) {
    std::vector<std::string> series;
    series.reserve(shown.size());
    for (const size_t owner : shown) series.push_back(owners.list()[owner]);
    json.field_of_texts("series", series);
    json.field("others", uint64_t{owners.list().size() - shown.size()});
  });
}

}  // namespace penna
