// SPDX-License-Identifier: MIT
// LiveView: shows what is recorded while it is recorded, as penna replay would show it afterwards.
//
// Why a separate thread: neither the program nor the collector ever waits for a terminal or a pipe.
// Invariant: what comes faster than it can be shown is not shown, and counted in a line; memory is bounded regardless.
// A line appears 100 ms after its event, unless the view is behind, or a filter must first see how long a call is.
// Usage: collector.set_observer(view.observer()); view.start(); ... collector.stop(); view.finish();
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "live/live_feed.h"
#include "live/live_filter.h"
#include "live/live_output.h"
#include "model/names/names.h"
#include "model/timeline/timeline.h"
#include "recording/live_recording.h"
#include "report/calls/replay.h"
#include "report/calls/tree_lines.h"

namespace penna {

// Like penna replay --merge, --tree, --tree --all.
enum class LiveForm { kLines, kTree, kAll };

class LiveView {
 public:
  // `symbols` must outlive it. `style`: of names. `filter`: only what it keeps is shown; null: everything.
  LiveView(LiveForm form, bool color, const Session& session, const ClockTriplet& start, SymbolSource& symbols, int fd,
           NameStyle style = {}, std::unique_ptr<LiveFilter> filter = nullptr);
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  Observer& observer() { return feed_; }
  // Like LiveFeed::left_out(): for callers that forward to the observer what they received.
  void left_out(uint32_t process, uint32_t thread_serial, uint64_t calls, uint64_t others) {
    feed_.left_out(process, thread_serial, calls, others);
  }
  const Recording& recording() const { return live_.recording(); }  // for its own thread
  Result<> start();
  void finish();

 private:
  struct Shown;   // a thread
  struct Stream;  // the records of a thread in a batch
  struct Fork;    // a fork whose child has reported nothing yet
  using Key = std::pair<uint32_t, uint32_t>;

  void run();
  void learn(const LiveBatch& batch);
  void show(LiveBatch& batch);
  void sift(LiveBatch& batch);
  void describe(const LiveRecords& records);
  void fork(const Process& child);
  void hand_on(Fork& fork);
  void hand_on_calls(const Shown& thread, const Event& event);
  void inherit(Shown& thread, const Event& event);
  Shown& thread_of(const LiveRecords& records);
  std::vector<Stream> streams_of(const LiveBatch& batch);
  void one_after_the_other(std::vector<Stream>& streams);
  void by_time(std::vector<Stream>& streams);
  bool advance(Stream& stream);
  void show_next(Stream& stream);
  bool line(Shown& thread, const TimelineLine& line);
  bool may_show() const;
  void report_missing();
  void title(Shown& thread);
  void begin(Shown& thread);
  void start_tree(Shown& thread);
  void lose_track(Shown& thread);
  void end(const ProcessEnd& end);
  void catch_up();

  // Everything from here on is used only by the view's own thread; only `feed_` is shared.
  const LiveForm form_;
  SymbolSource& symbols_;
  const NameStyle style_;
  std::unique_ptr<LiveFilter> filter_;
  LiveFeed feed_;
  LiveOutput output_;
  LiveRecording live_;
  std::optional<Names> names_;  // recreated when modules come
  std::optional<ReplayPrinter> printer_;
  TreeNames tree_names_;
  std::map<uint32_t, uint32_t> processes_;         // number -> index
  std::map<Key, Shown> threads_;                   // by process number and serial
  std::map<uint32_t, Fork> forks_;                 // by index of the child
  std::map<Key, std::vector<uint32_t>> children_;  // of a thread, by index: children still waiting for its calls
  uint32_t last_shown_ = kNoIndex;                 // the thread whose lines came last
  uint64_t complete_until_ = 0;                    // ticks: what happened before has been shown, or is about to be
  size_t bytes_ahead_ = 0;                         // of records that have come and not been processed
  uint64_t calls_missing_ = 0, others_missing_ = 0;
  bool lost_track_ = false;  // which calls were open when records were dropped
  std::thread thread_;
};

}  // namespace penna
