// SPDX-License-Identifier: MIT
// OverheadGovernor: finds the functions whose calls cost more than a share of the program's time, so that they are no
// longer recorded.
//
// Why an observer: it sees each call, even in chunks that are still being filled. It counts, and decides whenever a
// process has used 10 ms of processor time; decisions are orders for another thread, because carrying them out takes a
// moment.
// Invariant: a function is ordered to be silenced once per process; the remaining calls are within the limit, as far as
// their cost is known.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/hash.h"
#include "base/result.h"
#include "collect/clocks.h"
#include "collect/observer.h"
#include "recording/module_map.h"

namespace penna {

// A function of a process, with the facts known when the order is given.
struct BusyFunction {
  uint64_t pc = 0;
  uint64_t calls = 0;  // in the last window
  double share = 0;    // of the program's own time, spent on recording them
  Module module;       // that contains it
};

struct SilenceOrder {
  uint32_t pid = 0;
  double seconds = 0;  // of processor time that the process had used
  std::vector<BusyFunction> functions;
};

class OverheadGovernor final : public ForwardingObserver {
 public:
  // `limit`: cost of recording calls / processor time without it. `call_ns`: what recording a call costs; 0: measure it
  // now.
  static Result<OverheadGovernor> make(double limit, double call_ns = 0);
  OverheadGovernor(OverheadGovernor&&) = default;
  OverheadGovernor& operator=(OverheadGovernor&&) = delete;

  // Any thread. Readable when there are orders.
  int fd() const { return event_.get(); }
  std::vector<SilenceOrder> take_orders();

  // Nanoseconds of processor time of a process; tests substitute their own.
  using Clock = uint64_t (*)(pid_t pid);
  void set_clock(Clock clock) { clock_ = clock; }

  void began(const Process& process) override;
  void records(uint32_t process, std::span<const uint8_t> chunk) override;
  void ended(const ProcessEnd& end) override;

 private:
  static constexpr uint64_t kWindowNs = 10'000'000;
  static constexpr size_t kMaxModules = 16384;
  // Limits per order, because each function is silenced separately; and in total, because the addresses come from the
  // process.
  static constexpr size_t kMaxOrder = 256, kMaxSilenced = 1 << 16;
  struct Watched {  // a process
    pid_t pid = 0;
    uint64_t began_ns = 0;        // at the start of the window
    NumberMap<uint64_t> calls;    // in the window, by pc
    std::set<uint64_t> silenced;  // late calls of these are not counted
    std::vector<Module> modules;
  };
  OverheadGovernor(double limit, double call_ns, Fd event)
      : limit_(limit), call_ns_(call_ns), event_(std::move(event)) {}
  void count(Watched& watched, uint64_t pc);
  static const Module* module_at(const Watched& watched, uint64_t pc);
  void decide(Watched& watched, uint64_t now_ns);
  void issue(SilenceOrder order);

  double limit_, call_ns_;
  Fd event_;
  Clock clock_ = processor_ns;
  std::map<uint32_t, Watched> watched_;
  size_t counted_ = 0;                                                  // functions in the windows of all processes
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // guards orders_
  std::vector<SilenceOrder> orders_;
};

}  // namespace penna
