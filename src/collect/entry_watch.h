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
  struct Entry {
    uint32_t process = 0;
    uint32_t serial = 0, tid = 0;  // of the thread
    uint64_t pc = 0, ticks = 0;
  };
  virtual void entered(const Entry& entry) = 0;
  // left() is called too.
  void want_exits() { wants_exits_ = true; }
  // Such a function has returned. Only if it was known as one: after its entry was reported.
  virtual void left(const Entry&) {}
  // The thread has lost events: exits may be among them.
  virtual void lost(uint32_t /*process*/, uint32_t /*serial*/) {}

 private:
  static constexpr size_t kMaxUnplaced = 4096;
  struct Watched {                // a process
    NumberMap<bool> functions;    // by pc: whether it is waited for; only those that are certain
    std::vector<Entry> unplaced;  // of pcs outside of all known modules
    std::array<uint64_t, 64>
        others{};  // cache of pcs that do not count, checked before `functions`: most calls are to few functions
  };
  void look_at(Watched& watched, const Entry& entry);
  void look_at_exit(Watched& watched, const Entry& entry);
  void remember(Watched& watched, uint64_t pc, bool wanted);
  void forget(Watched& watched);
  void learn(uint32_t process, Watched& watched, const Record& record);

  CallRules functions_;
  bool FunctionTraits::*which_;
  bool wants_exits_ = false;
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
  void entered(const Entry& entry) override {
    if (is_over() && entry.ticks >= ticks_) return;
    ticks_ = entry.ticks;
    process_ = entry.process;
    pc_ = entry.pc;
  }
  uint64_t ticks_ = 0, pc_ = 0;
  uint32_t process_ = 0;
};

}  // namespace penna
