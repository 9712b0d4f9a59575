// SPDX-License-Identifier: MIT
// See overhead_governor.h.
#include "collect/overhead_governor.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "collect/clocks.h"
#include "recording/records.h"

namespace penna {
namespace {

// Two timestamps, and everything around them in a hook and its trampoline, including cache effects (bench/RESULTS.md:
// real programs).
double measure_call_ns() {
  // Nanoseconds, on the machines of bench/RESULTS.md; on a slower machine functions are only silenced a little later.
  constexpr double kRestNs = 45;
  return 2 * measure_stamp_ns() + kRestNs;
}

}  // namespace

Result<OverheadGovernor> OverheadGovernor::make(double limit, double call_ns) {
  Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return Error{"cannot watch over the cost of recording: " + errno_text(errno)};
  return OverheadGovernor(limit, call_ns != 0 ? call_ns : measure_call_ns(), std::move(event));
}

std::vector<SilenceOrder> OverheadGovernor::take_orders() {
  uint64_t count;
  (void)!::read(event_.get(), &count, sizeof count);
  const std::lock_guard lock(*mutex_);
  return std::exchange(orders_, {});
}

void OverheadGovernor::issue(SilenceOrder order) {
  {
    const std::lock_guard lock(*mutex_);
    orders_.push_back(std::move(order));
  }
  const uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

void OverheadGovernor::began(const Process& process) {
  Watched& watched = watched_[process.number];
  watched.pid = static_cast<pid_t>(process.pid);
  watched.began_ns = clock_(watched.pid);
  ForwardingObserver::began(process);
}

void OverheadGovernor::records(uint32_t process, std::span<const uint8_t> chunk) {
  Watched& watched = watched_[process];
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind == PENNA_KIND_CALL_ENTRY) {
      count(watched, record.pc);
    } else if (record.kind == PENNA_KIND_MODULE && watched.modules.size() < kMaxModules) {
      if (auto module = decode_module(record)) watched.modules.push_back(std::move(*module));
    }
  }
  const uint64_t now_ns = watched.pid != 0 ? clock_(watched.pid) : 0;
  if (now_ns >= watched.began_ns + kWindowNs) decide(watched, now_ns);
  ForwardingObserver::records(process, chunk);
}

void OverheadGovernor::count(Watched& watched, uint64_t pc) {
  if (auto found = watched.calls.find(pc); found != watched.calls.end()) {
    ++found.value();
  } else if (counted_ < Budget::kFunctions) {
    watched.calls[pc] = 1;
    ++counted_;
  }
}

// The module that was loaded there last.
const Module* OverheadGovernor::module_at(const Watched& watched, uint64_t pc) {
  const auto found = std::find_if(watched.modules.rbegin(), watched.modules.rend(),
                                  [pc](const Module& one) { return pc >= one.start && pc < one.end; });
  return found != watched.modules.rend() ? &*found : nullptr;
}

void OverheadGovernor::decide(Watched& watched, uint64_t now_ns) {
  std::vector<std::pair<uint64_t, uint64_t>> busiest;  // calls, pc
  uint64_t calls = 0;
  for (const auto& [pc, count] : watched.calls) {
    calls += count;  // including functions that are silenced by now, because they had their cost
    if (watched.silenced.count(pc) == 0) busiest.emplace_back(count, pc);
  }
  const auto used = static_cast<double>(now_ns - watched.began_ns);
  // At least a twentieth: if the calls seem to cost more than all the time used, the estimate is too high.
  const double own = std::max(used - static_cast<double>(calls) * call_ns_, used / 20);
  double cost = 0;
  for (const auto& [count, pc] : busiest) cost += static_cast<double>(count) * call_ns_;
  counted_ -= watched.calls.size();
  watched.calls.clear();
  watched.began_ns = now_ns;
  if (cost <= limit_ * own) return;
  // The limit is exceeded: silence enough functions to get well below it.
  constexpr double kKept = 0.7;
  // Most calls first, so that the fewest functions are lost.
  std::sort(busiest.rbegin(), busiest.rend());
  SilenceOrder order{static_cast<uint32_t>(watched.pid), static_cast<double>(now_ns) / 1e9, {}};
  for (const auto& [count, pc] : busiest) {
    if (cost <= kKept * limit_ * own || order.functions.size() == kMaxOrder || watched.silenced.size() >= kMaxSilenced)
      break;
    const Module* module = module_at(watched, pc);
    if (module == nullptr) continue;  // described later by another thread: wait for the next window
    const double mine = static_cast<double>(count) * call_ns_;
    cost -= mine;
    watched.silenced.insert(pc);
    order.functions.push_back({pc, count, mine / own, *module});
  }
  if (!order.functions.empty()) issue(std::move(order));
}

void OverheadGovernor::ended(const ProcessEnd& end) {
  if (const auto found = watched_.find(end.number); found != watched_.end()) {
    counted_ -= found->second.calls.size();
    watched_.erase(found);
  }
  ForwardingObserver::ended(end);
}

}  // namespace penna
