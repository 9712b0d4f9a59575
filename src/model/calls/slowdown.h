// SPDX-License-Identifier: MIT
// How much recording slowed a program down, in words; and NetTimes: times without what recording took.
//
// Why: who reads that a function takes 30 ns, 27 of which are the recorder's, draws the wrong conclusion.
// Invariant: times from NetTimes never go back within a thread; an excess that cannot be subtracted at one place is
// dropped there, not taken off later times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/events/events.h"
#include "recording/slowdown.h"

namespace penna {

// "recording made the program about 5 times slower, 3 at least: 80 % of its processor time, 27 ns a call; short
// functions seem longer than they are; ...".
std::string slowdown_text(const ProcessEnd& end, const std::string& whom);

// The process of whose time recording took the largest share; nothing: no cost is known.
struct CostliestProcess {
  uint32_t process = 0;  // index
  Slowdown slowdown;
};
std::optional<CostliestProcess> costliest_process(const Recording& recording);

// The text if the slowdown is large; else empty.
std::string slowdown_text(const Recording& recording);

class NetTimes {
 public:
  explicit NetTimes(const Recording& recording);
  bool is_known() const { return known_; }

  // The same event with its time reduced by the cost of recording all that preceded it in its thread. Call in thread
  // order.
  Event operator()(Event event);
  CallRun operator()(const CallRun& run);  // valid until the next call

 private:
  // Clocks are coarse: an event may seem to cost less than it did, and the next one more.
  static constexpr double kMostDebt = 4;  // events
  struct Clock {
    double taken = 0, last = 0;  // ticks
  };
  uint64_t take(Clock& clock, double cost, uint64_t time);
  double cost_of(uint32_t process, uint32_t event_class) const;

  bool known_ = false;
  std::vector<std::array<double, PENNA_CLASS_COUNT>> costs_;  // by process: ticks of an event
  std::vector<Clock> clocks_;                                 // by thread
  std::vector<CallEvent> calls_;
};

}  // namespace penna
