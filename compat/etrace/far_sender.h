// SPDX-License-Identifier: MIT
// FarSender: sends what is recorded, while it is recorded, to the etrace of another machine, with the names of the
// functions.
//
// Why a separate thread: neither the program nor the collector ever waits for a network.
// Invariant: what is recorded faster than the network takes it is not sent, and counted; memory is bounded. If the
// other side is gone, the rest is counted and nothing else happens.
// Usage: like LiveView.
#pragma once

#include <tsl/robin_set.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "live/live_feed.h"
#include "model/names/names.h"
#include "recording/live_recording.h"
#include "wire.h"

namespace penna {

class FarSender {
 public:
  // `symbols` must outlive it. `on_broken`: called once, on the thread, when the other side can no longer be reached.
  FarSender(Fd socket, const Session& session, const ClockTriplet& start, SymbolSource& symbols,
            std::function<void()> on_broken);
  ~FarSender();
  FarSender(const FarSender&) = delete;
  FarSender& operator=(const FarSender&) = delete;

  Observer& observer() { return feed_; }
  const Recording& recording() const { return live_.recording(); }  // for its own thread
  Result<> start();
  // Returns when all is sent, or the other side has taken nothing for five seconds.
  void finish();

  // After finish().
  bool is_broken() const { return broken_; }
  uint64_t calls_unsent() const { return calls_unsent_; }  // at least: what the network had taken may be lost, too

 private:
  void run();
  void meet(const LiveBatch& batch);
  void send(const LiveBatch& batch);
  void send_names(const LiveRecords& records);
  void send_name(uint32_t process, uint64_t pc, uint64_t ticks);
  bool flush();
  void break_off();
  void count_unsent(const LiveRecords& records);

  Fd socket_;
  SymbolSource& symbols_;
  std::function<void()> on_broken_;
  LiveFeed feed_;
  LiveRecording live_;
  std::optional<Names> names_;                      // recreated when modules are loaded
  std::map<uint32_t, uint32_t> processes_;          // number -> index
  tsl::robin_set<CodePlace, CodePlaceHash> named_;  // functions, since the last module was loaded
  WireBytes out_;                                   // to be sent
  std::atomic<bool> closing_{false};
  bool broken_ = false;
  uint64_t calls_unsent_ = 0;
  std::thread thread_;
};

}  // namespace penna
