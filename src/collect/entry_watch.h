// SPDX-License-Identifier: MIT
// EntryWatch: an observer that waits for functions to be entered, in any process and thread.
//
// Why an observer: it sees each record once, in time, even in chunks that are still being filled.
// Invariant: every entry of such a function is reported once, whenever its module is described; at most
// `most_functions` functions are remembered.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "collect/budget.h"
#include "collect/observer.h"
#include "filter/call_sieve.h"
#include "recording/records.h"

namespace penna {

// One per recording; all on the collector's thread.
class EntryWatch : public ForwardingObserver {
 public:
  // `functions`: their traits; the rest of the rules is ignored; without `ask` there is none. `which`: the trait to
  // wait for.
  EntryWatch(CallRules functions, bool FunctionTraits::*which, size_t most_functions = Budget::kFunctions)
      : functions_(std::move(functions)), which_(which), most_functions_(most_functions) {}

  void records(uint32_t process, std::span<const uint8_t> chunk) override;
  void ended(const ProcessEnd& end) override;

 protected:
  virtual void entered(uint32_t process, uint64_t pc, uint64_t ticks) = 0;

 private:
  static constexpr size_t kMaxUnplaced = 4096;
  struct Watched {              // a process
    NumberMap<bool> functions;  // by pc: whether it is waited for; only those that are certain
    std::vector<std::pair<uint64_t, uint64_t>> unplaced;  // pcs outside of all known modules, with their ticks
    std::array<uint64_t, 64>
        others{};  // cache of pcs that do not count, checked before `functions`: most calls are to few functions
  };
  void look_at(uint32_t process, Watched& watched, uint64_t pc, uint64_t ticks);
  void remember(Watched& watched, uint64_t pc, bool wanted);
  void forget(Watched& watched);
  void learn(uint32_t process, Watched& watched, const Record& record);

  CallRules functions_;
  bool FunctionTraits::*which_;
  size_t most_functions_;
  std::map<uint32_t, Watched> watched_;
  size_t known_ = 0;  // functions of all processes
};

// Notes when the first function of -T FUNC@finish was entered.
class FinishWatch final : public EntryWatch {
 public:
  explicit FinishWatch(CallRules functions) : EntryWatch(std::move(functions), &FunctionTraits::finish) {}
  bool is_over() const { return ticks_ != 0; }
  uint64_t ticks() const { return ticks_; }  // 0: none yet
  uint32_t process() const { return process_; }
  uint64_t pc() const { return pc_; }

 private:
  void entered(uint32_t process, uint64_t pc, uint64_t ticks) override {
    if (is_over() && ticks >= ticks_) return;
    ticks_ = ticks;
    process_ = process;
    pc_ = pc;
  }
  uint64_t ticks_ = 0, pc_ = 0;
  uint32_t process_ = 0;
};

}  // namespace penna
