// SPDX-License-Identifier: MIT
// rss > SIZE, live > SIZE, crash.
//
// Chunks of different threads come in any order within the collector's interval (20 ms) and beyond: a free may come
// before its allocation, and an older block at an address after a newer one. Times say which is which.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/free_memory.h"
#include "base/hash.h"
#include "collect/conditions/record_watch.h"
#include "collect/conditions/watches.h"

namespace penna {
namespace {

std::string size_text(uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  return bytes >= 1'000'000'000 ? fmt::format("{:.2f} GB", size / 1e9) : fmt::format("{:.1f} MB", size / 1e6);
}

// Whether a value has crossed the limit: again only after it was below it, or has grown by as much again.
class Threshold {
 public:
  explicit Threshold(const SnapshotCondition& condition)
      : limit_(condition.limit), is_growth_(condition.is_growth), is_first_(condition.is_growth) {}
  bool is_crossed(uint64_t value) {
    if (std::exchange(is_first_, false)) base_ = value;
    const bool is_above = value > base_ && value - base_ > limit_;
    if (is_above && is_growth_) base_ = value;
    const bool is_new = is_above && !was_above_;
    was_above_ = is_above && !is_growth_;
    return is_new;
  }

 private:
  uint64_t limit_, base_ = 0;
  bool is_growth_, is_first_, was_above_ = false;
};

class RssWatch final : public ForwardingObserver {
 public:
  RssWatch(const SnapshotCondition& condition, ConditionHelp help)
      : condition_(condition), help_(std::move(help)), every_(static_cast<uint64_t>(kEveryNs * help_.ticks_per_ns)) {}

  void began(const Process& process) override {
    const auto one = processes_.try_emplace(process.number, Watched{process.pid, Threshold(condition_)}).first;
    look(one->second, penna_now());
    ForwardingObserver::began(process);
  }
  void ended(const ProcessEnd& end) override {
    processes_.erase(end.number);
    ForwardingObserver::ended(end);
  }
  void up_to_date() override {
    const uint64_t now = penna_now();
    if (now - last_ >= every_) {
      last_ = now;
      for (auto& [number, one] : processes_) look(one, now);
    }
    ForwardingObserver::up_to_date();
  }

 private:
  static constexpr double kEveryNs = 5e8;
  struct Watched {
    uint32_t pid;
    Threshold threshold;
  };
  void look(Watched& one, uint64_t now) {
    const auto bytes = help_.resident_bytes(one.pid);
    if (bytes && one.threshold.is_crossed(*bytes))
      help_.report({fmt::format("{}: process {} has {} in memory", condition_.text, one.pid, size_text(*bytes)), now});
  }

  SnapshotCondition condition_;
  ConditionHelp help_;
  uint64_t every_, last_ = 0;
  std::map<uint32_t, Watched> processes_;  // by number
};

class LiveWatch final : public RecordWatch {
 public:
  LiveWatch(const SnapshotCondition& condition, ConditionHelp help)
      : RecordWatch(condition, std::move(help),
                    {PENNA_KIND_ALLOC, PENNA_KIND_ALLOC_LARGE, PENNA_KIND_FREE, PENNA_KIND_FREE_STACK,
                     PENNA_KIND_REALLOC_FAILED}) {}

  void up_to_date() override {
    constexpr double kLateNs = 1e9;  // no chunk is so much later than another
    const uint64_t now = penna_now();
    for (auto& [number, heap] : heaps_) {
      if (now - heap.aged < static_cast<uint64_t>(kLateNs * help_.ticks_per_ns)) continue;
      heap.aged = now;
      heap.older = std::exchange(heap.early, {});
    }
    ForwardingObserver::up_to_date();
  }

 private:
  static constexpr size_t kMostBlocks = 1 << 22, kMostEarly = 1 << 16;
  struct Block {
    uint64_t ticks, bytes;
  };
  struct Heap {
    explicit Heap(const SnapshotCondition& condition) : threshold(condition) { (void)threshold.is_crossed(0); }
    NumberMap<Block> blocks;  // by address
    NumberMap<uint64_t> early,
        older;  // frees whose blocks are not known yet: when; since less than a second, and before
    NumberMap<std::pair<uint64_t, Block>> reallocated;  // by thread: the last block that realloc freed
    uint64_t bytes = 0, aged = 0;
    bool is_too_large = false;
    Threshold threshold;
  };

  void see(const OpenTimes::Thread& thread, const Record& record) override {
    Heap& heap = heaps_.try_emplace(thread.process, condition_).first->second;
    if (heap.is_too_large) return;
    const uint64_t word = record.as<penna_free>().address_family, address = word & PENNA_ADDRESS_MASK;
    switch (record.kind) {
      case PENNA_KIND_ALLOC: return add(thread, heap, address, record.as<penna_alloc>().size, record.time);
      case PENNA_KIND_ALLOC_LARGE: return add(thread, heap, address, record.as<penna_alloc_large>().size, record.time);
      case PENNA_KIND_REALLOC_FAILED: return take_back(thread, heap);
      default: remove(thread, heap, address, word >> 56 == PENNA_FAMILY_REALLOC, record.time);
    }
  }

  void add(const OpenTimes::Thread& thread, Heap& heap, uint64_t address, uint64_t size, uint64_t ticks) {
    for (NumberMap<uint64_t>* frees : {&heap.early, &heap.older})
      if (const auto freed = frees->find(address); freed != frees->end() && freed->second > ticks) {
        frees->erase(freed);
        return;
      }
    const Block block{ticks, help_.weigh ? help_.weigh(size) : size};
    const auto [at, is_new] = heap.blocks.try_emplace(address, block);
    if (!is_new) {
      if (at->second.ticks > ticks) return;  // an older block, whose free was seen, or will be
      heap.bytes -= at->second.bytes;
      at.value() = block;
    }
    heap.bytes += block.bytes;
    if (heap.threshold.is_crossed(heap.bytes))
      report(thread, fmt::format("has brought the live blocks to {}", size_text(heap.bytes)), ticks);
    if (heap.blocks.size() > kMostBlocks) give_up(heap);
  }

  void remove(const OpenTimes::Thread& thread, Heap& heap, uint64_t address, bool is_realloc, uint64_t ticks) {
    const auto found = heap.blocks.find(address);
    if (found == heap.blocks.end()) {
      if (heap.early.size() < kMostEarly) heap.early[address] = ticks;
      return;
    }
    if (found->second.ticks > ticks) return;  // of an older block, that was never seen
    heap.bytes -= found->second.bytes;
    if (is_realloc && heap.reallocated.size() < kMostEarly) heap.reallocated[thread.serial] = {address, found->second};
    heap.blocks.erase(found);
    (void)heap.threshold.is_crossed(heap.bytes);
  }

  static void take_back(const OpenTimes::Thread& thread, Heap& heap) {
    const auto freed = heap.reallocated.find(thread.serial);
    if (freed == heap.reallocated.end()) return;
    const auto [address, block] = freed->second;
    heap.reallocated.erase(freed);
    if (heap.blocks.try_emplace(address, block).second) heap.bytes += block.bytes;
  }

  void give_up(Heap& heap) {
    heap.is_too_large = true;
    free_memory(heap.blocks);
    if (help_.note)
      help_.note(
          fmt::format("{}: a process has more than {} live blocks, and is not watched any more; --sample-bytes "
                      "makes them few",
                      condition_.text, kMostBlocks));
  }

  void forget(uint32_t process) override { heaps_.erase(process); }

  std::map<uint32_t, Heap> heaps_;  // by process
};

class CrashWatch final : public ForwardingObserver {
 public:
  CrashWatch(SnapshotCondition condition, ConditionHelp help)
      : condition_(std::move(condition)), help_(std::move(help)) {}

  void began(const Process& process) override {
    pids_.began(process);
    ForwardingObserver::began(process);
  }
  void ended(const ProcessEnd& end) override {
    if (end.how == EndKind::kSignaled && !is_asked_for(end.code))
      help_.report(
          {fmt::format("{}: process {} was ended by {}", condition_.text, pids_.pid(end.number), name(end.code)),
           end.end_ticks});
    pids_.ended(end.number);
    ForwardingObserver::ended(end);
  }

 private:
  // By whoever wants it to end. SIGKILL is none of these: the kernel sends it where memory is short.
  static bool is_asked_for(int32_t signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGPIPE;
  }
  static std::string name(int32_t signal) {
    const char* const text = ::sigabbrev_np(signal);
    return text != nullptr ? fmt::format("SIG{}", text) : fmt::format("signal {}", signal);
  }

  SnapshotCondition condition_;
  ConditionHelp help_;
  KnownPids pids_;
};

}  // namespace

std::unique_ptr<ForwardingObserver> watch_rss(const SnapshotCondition& condition, ConditionHelp help) {
  if (!help.resident_bytes) help.resident_bytes = resident_bytes;
  return std::make_unique<RssWatch>(condition, std::move(help));
}
std::unique_ptr<ForwardingObserver> watch_live(const SnapshotCondition& condition, ConditionHelp help) {
  return std::make_unique<LiveWatch>(condition, std::move(help));
}
std::unique_ptr<ForwardingObserver> watch_crashes(const SnapshotCondition& condition, ConditionHelp help) {
  return std::make_unique<CrashWatch>(condition, std::move(help));
}

}  // namespace penna
