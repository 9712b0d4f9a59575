// SPDX-License-Identifier: MIT
// Progress: how far a long pass has come, for an observer: a line on a terminal, a page, none.
//
// Why an observer: analyses run under commands, a viewer and SQL, and none of them may print.
// Invariant: begin() once, then at() with numbers that never decrease, then end() once; all on the pass's thread.
#pragma once

#include <cstdint>
#include <string>

namespace penna {

class ProgressObserver {
 public:
  virtual ~ProgressObserver() = default;
  // `what`: "reading"; `total` in `unit`s ("events"); 0 = unknown.
  virtual void begin(const std::string& what, uint64_t total, const std::string& unit) = 0;
  virtual void at(uint64_t done) = 0;
  virtual void end() = 0;
  virtual void make_way() {}  // something else is about to be printed
};

// The span of one pass: begins with the constructor and ends with the destructor, however the pass is left.
class Progress {
 public:
  // `observer` must outlive it; null: none.
  Progress(const std::string& what, uint64_t total, const std::string& unit, ProgressObserver* observer)
      : observer_(observer) {
    if (observer_ != nullptr) observer_->begin(what, total, unit);
  }
  ~Progress() {
    if (observer_ != nullptr) observer_->end();
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap: notifies the observer once in 64 Ki steps.
  void step(uint64_t steps = 1) {
    const uint64_t before = done_;
    done_ += steps;
    if (before >> 16 != done_ >> 16 && observer_ != nullptr) observer_->at(done_);
  }

  uint64_t done() const { return done_; }
  void make_way() const {
    if (observer_ != nullptr) observer_->make_way();
  }

  // For steps that take more than a microsecond: notifies the observer each time.
  void slow_step() {
    ++done_;
    if (observer_ != nullptr) observer_->at(done_);
  }

 private:
  ProgressObserver* observer_;
  uint64_t done_ = 0;
};

}  // namespace penna
