// SPDX-License-Identifier: MIT
// OpenTimes: what threads are in, since when: waits, spans, calls; and which of these take longer than a limit.
//
// Why while they are open, too: what never ends (a deadlock, a hang) is what one waits for most.
// Invariant: each is reported at most once; threads in nothing take no memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace penna {

class OpenTimes {
 public:
  static constexpr size_t kMostThreads = 1 << 16, kMostOfOne = 4096;  // further ones are not watched

  struct Thread {
    uint32_t process = 0;  // by its number
    uint32_t serial = 0, tid = 0;
  };
  struct Long {
    Thread thread;
    uint64_t key = 0, ticks = 0;  // how long, so far
  };

  explicit OpenTimes(uint64_t most_ticks) : most_ticks_(most_ticks) {}

  void begin(const Thread& thread, uint64_t key, uint64_t ticks);
  // The innermost of that key, and all in it. Returns it if it took too long, and was not reported yet.
  std::optional<Long> end(const Thread& thread, uint64_t key, uint64_t ticks);
  // An end may be missing from here on.
  void lose(uint32_t process, uint32_t serial);
  void forget(uint32_t process);
  // Those that take too long already; threads that do not live any more are forgotten.
  std::vector<Long> take_overdue(uint64_t now, const std::function<bool(const Thread&)>& lives);

  size_t threads() const { return threads_.size(); }

 private:
  struct Open {
    uint64_t key, begin;
    bool is_reported;
  };
  struct State {
    uint32_t tid = 0;
    std::vector<Open> open;
  };
  uint64_t most_ticks_;
  std::map<uint64_t, State> threads_;  // by process and serial
};

}  // namespace penna
