// SPDX-License-Identifier: MIT
// Progress: one line on stderr that says how far a long step is, when a person may be looking.
//
// Invariant: nothing is printed in the first second, nor when stderr is no terminal; the line is gone afterwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace penna {

class Progress {
 public:
  // `what`: "reading"; `total` in `unit`s ("events"); 0 = not known. Not enabled: does nothing.
  Progress(std::string what, uint64_t total, std::string unit, bool enabled);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap: looks at the clock once in 64 Ki steps.
  void step(uint64_t steps = 1) {
    const uint64_t before = done_;
    done_ += steps;
    if (before >> 16 != done_ >> 16 && enabled_) update();
  }

  // The same for steps that take more than a microsecond: looks at the clock each time.
  void slow_step() {
    ++done_;
    if (enabled_) update();
  }

  // "reading: 45 %, 5.2 M events/s, 3 s left".
  static std::string text(const std::string& what, uint64_t done, uint64_t total, const std::string& unit,
                          double seconds);

 private:
  using Clock = std::chrono::steady_clock;
  void update();

  std::string what_, unit_;
  uint64_t total_, done_ = 0;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::seconds(1);
};

}  // namespace penna
