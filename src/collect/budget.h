// SPDX-License-Identifier: MIT
// Budget: limits on what a recorder holds at one time, whatever the recorded processes do.
//
// Why: the numbers of threads, chunks, stacks and connections come from processes that may lie, and each costs the
// recorder memory or time. So each has a limit, all of them here; whatever exceeds one is recorded in less detail, or
// refused, and reported.
// Invariant: limits apply to what is held at the same time: honest programs do not reach them, however large or
// numerous.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>

namespace penna {

// One per recorder; the counting is done on the collector's thread.
class Budget {
 public:
  // Recorded processes that are alive at the same time.
  static constexpr size_t kChannels = 4096;
  // Connections that have not identified themselves: of all processes, and of one. Beyond the first limit, others wait;
  // beyond the second, the oldest of that process is closed. A connection that stays silent for too long is closed.
  static constexpr size_t kConnections = 128, kConnectionsOfOne = 16;
  static constexpr uint64_t kSilentMs = 10'000;
  // After a stop request, draining that takes longer is abandoned.
  static constexpr uint64_t kStopMs = 5'000;
  // Thread states of all living processes: what the recorder keeps per thread.
  static constexpr size_t kThreads = 1 << 18;
  // The total size of these states: open calls, and functions and sites that were seen.
  static constexpr size_t kStateBytes = 512 << 20;
  // Copies of chunks that wait for an older one, and calls that were open when a child may have been forked.
  static constexpr size_t kWaitingBytes = 64 << 20;
  // Functions and sites of a process, by the addresses and ids in its records.
  static constexpr size_t kFunctions = 1 << 20;

  // The limits that tests lower.
  struct Limits {
    size_t threads, state_bytes, waiting_bytes;
  };
  static constexpr Limits kUsual{kThreads, kStateBytes, kWaitingBytes};
  explicit Budget(const Limits& limits = kUsual) : limits_(limits) {}

  size_t threads() const { return threads_; }
  size_t state_bytes() const { return state_bytes_; }
  bool threads_reached() const { return threads_reached_; }
  bool state_reached() const { return state_reached_; }

  // The amount that one object uses, until it is destroyed. Held by each object that uses some of the budget, so
  // nothing leaks when a process ends, in whatever way.
  class Share {
   public:
    // Without a budget, it creates its own: standalone objects, as in tests and imports, are limited too.
    explicit Share(std::shared_ptr<Budget> budget = nullptr)
        : budget_(budget ? std::move(budget) : std::make_shared<Budget>()) {}
    Share(Share&& other) noexcept
        : budget_(std::move(other.budget_)),
          threads_(std::exchange(other.threads_, 0)),
          state_bytes_(std::exchange(other.state_bytes_, 0)),
          waiting_(std::exchange(other.waiting_, 0)) {}
    Share& operator=(Share&&) = delete;
    ~Share() {
      if (!budget_) return;
      budget_->threads_ -= threads_;
      budget_->state_bytes_ -= state_bytes_;
      budget_->waiting_ -= waiting_;
    }

    // The state in `map` of a thread by serial, created on first use; beyond the limit the state of serial 0, shared by
    // all further threads.
    template <typename Map>
    typename Map::iterator state_of(Map& map, uint32_t serial) {
      if (auto found = map.find(serial); found != map.end()) return found;
      if (serial != 0 && !take_thread()) serial = 0;
      return map.try_emplace(serial).first;
    }
    // A state that weighed `weight` now has `bytes`. False: the total would be too large, so the state must be
    // discarded; it then weighs nothing.
    bool weigh(size_t& weight, size_t bytes) {
      // `weight` is part of the sum already; sizes are far below 2^63, so neither sum overflows.
      const size_t others = budget_->state_bytes_ - weight;
      const bool fits = others + bytes <= budget_->limits_.state_bytes;
      if (!fits) {
        budget_->state_reached_ = true;
        bytes = 0;
      }
      budget_->state_bytes_ = others + bytes;
      state_bytes_ += bytes - weight;
      weight = bytes;
      return fits;
    }
    bool take_waiting(size_t bytes) {
      if (budget_->waiting_ + bytes > budget_->limits_.waiting_bytes) return false;
      budget_->waiting_ += bytes;
      waiting_ += bytes;
      return true;
    }
    void give_waiting_back(size_t bytes) {
      budget_->waiting_ -= bytes;
      waiting_ -= bytes;
    }

   private:
    bool take_thread() {
      if (budget_->threads_ >= budget_->limits_.threads) {
        budget_->threads_reached_ = true;
        return false;
      }
      ++budget_->threads_;
      ++threads_;
      return true;
    }

    std::shared_ptr<Budget> budget_;
    size_t threads_ = 0, state_bytes_ = 0, waiting_ = 0;
  };

 private:
  Limits limits_;
  size_t threads_ = 0, state_bytes_ = 0, waiting_ = 0;
  bool threads_reached_ = false, state_reached_ = false;
};

inline uint64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

// The deadline for work on data from targets. Set by one thread, read by another. Relaxed: it is only a hint when to
// give up; no other data depends on it.
class Patience {
 public:
  void begin(uint64_t ms) { until_.store(monotonic_ms() + ms, std::memory_order_relaxed); }
  bool has_begun() const { return until_.load(std::memory_order_relaxed) != UINT64_MAX; }
  bool is_over() const {
    const uint64_t until = until_.load(std::memory_order_relaxed);
    return until != UINT64_MAX && monotonic_ms() >= until;
  }

 private:
  std::atomic<uint64_t> until_{UINT64_MAX};
};

}  // namespace penna
