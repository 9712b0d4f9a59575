// SPDX-License-Identifier: MIT
// See slowdown.h.
#include "model/calls/slowdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/events/summary.h"

namespace penna {
namespace {

// "about 12 times slower, 4 at least". The cost of an event is known to within about a third; where it dominates the
// time used, little is known of the rest, so a lower bound is given as well.
std::string factor_text(const Slowdown& slowdown) {
  constexpr double kMostSure = 3, kUnsure = 0.9;
  const double factor = slowdown.factor();
  if (factor < kMostSure) return fmt::format("about {:.1f} times slower", factor);
  const double used = slowdown.own_ns + slowdown.cost_ns;
  const double least = std::floor(used / (used - kUnsure * slowdown.cost_ns));
  if (factor >= Slowdown::kMostFactor) return fmt::format("{:.0f} times slower or more", least);
  return fmt::format("about {:.0f} times slower, {:.0f} at least", factor, least);
}

// The measured cost of one event, by class; a call is two events.
std::string costs_text(const ProcessEnd& end) {
  std::string text;
  for (size_t i = 0; i < end.costs.size(); ++i) {
    const EventCost& cost = end.costs[i];
    if (cost.events == 0 || cost.ps == 0) continue;
    const double ns = static_cast<double>(cost.ps) / 1000 * (i == PENNA_CALLS ? 2 : 1);
    text += fmt::format("{}{:.0f} ns {}", text.empty() ? "" : ", ", ns, kClassNouns[i].with_article);
  }
  return text;
}

}  // namespace

std::string slowdown_text(const ProcessEnd& end, const std::string& whom) {
  const Slowdown slowdown(end);
  const double share = slowdown.cost_ns / (slowdown.cost_ns + slowdown.own_ns) * 100;
  return fmt::format("recording made {} {}: {:.0f} % of its processor time, {}; {}", whom, factor_text(slowdown), share,
                     costs_text(end),
                     slowdown.is_of_calls()
                         ? "short functions seem longer than they are; record --max-overhead 10% drops the busiest "
                           "ones, report calls --net subtracts the cost"
                         : "record -k records fewer kinds, --sample-bytes a part of the allocations");
}

std::optional<CostliestProcess> costliest_process(const Recording& recording) {
  std::optional<CostliestProcess> costliest;
  for (uint32_t i = 0; i < recording.processes().size(); ++i) {
    const auto& end = recording.processes()[i].end;
    if (!end) continue;
    const Slowdown slowdown(*end);
    if (slowdown.cost_ns > (costliest ? costliest->slowdown.cost_ns : 0)) costliest = {i, slowdown};
  }
  return costliest;
}

std::string slowdown_text(const Recording& recording) {
  const auto costliest = costliest_process(recording);
  if (!costliest || !costliest->slowdown.is_much()) return "";
  const RecordedProcess& process = recording.processes()[costliest->process];
  const std::string whom = recording.processes().size() == 1
                               ? "the program"
                               : fmt::format("{} (pid {})", process_name(process.process), process.process.pid);
  return slowdown_text(*process.end, whom);
}

// The cost of one event in ticks, by process and class, as the agent measured it.
NetTimes::NetTimes(const Recording& recording)
    : costs_(recording.processes().size()), clocks_(recording.threads().size()) {
  for (size_t i = 0; i < costs_.size(); ++i) {
    const auto& end = recording.processes()[i].end;
    for (size_t k = 0; end && k < end->costs.size(); ++k)
      costs_[i][k] = static_cast<double>(end->costs[k].ps) / 1000 / recording.time().ns_per_tick();
    known_ |= costs_[i][PENNA_CALLS] > 0;
  }
}

double NetTimes::cost_of(uint32_t process, uint32_t event_class) const {
  return event_class < PENNA_CLASS_COUNT ? costs_[process][event_class] : 0;
}

// The thread's clock less what recording has taken so far. It never goes back: an event that took less than its cost
// leaves a debt, which is paid from the time that follows, up to kMostDebt events' worth.
uint64_t NetTimes::take(Clock& clock, double cost, uint64_t time) {
  const auto at = static_cast<double>(time);
  double net = at - clock.taken;
  if (net < clock.last) {
    clock.taken -= std::max(0.0, clock.last - net - kMostDebt * cost);
    net = clock.last;
  }
  clock.last = net;
  clock.taken += cost;
  return static_cast<uint64_t>(net);
}

Event NetTimes::operator()(Event event) {
  const double cost = event.inherited ? 0 : cost_of(event.process, classify(event.record.kind));
  event.time = take(clocks_[event.thread], cost, event.time);
  return event;
}

CallRun NetTimes::operator()(const CallRun& run) {
  calls_.assign(run.calls.begin(), run.calls.end());
  const double cost = cost_of(run.process, PENNA_CALLS);
  Clock& clock = clocks_[run.thread];
  for (CallEvent& call : calls_) call.time = take(clock, cost, call.time);
  return {run.process, run.thread, calls_};
}

}  // namespace penna
