// SPDX-License-Identifier: MIT
// Collector: one thread that drains the channels of all processes of a recording.
//
// Why a thread: targets must never wait for the recorder's other work (accepting processes, waiting for children).
// Invariant: only this thread uses the writer between start() and stop(). It sleeps on the doorbell, and once a second
// writes the content of open chunks: a recorder that is killed loses no more than that. With an observer, it also
// checks open chunks every kLookMs.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/fd.h"
#include "collect/clocks.h"
#include "collect/doorbell.h"
#include "collect/process_drain.h"
#include "collect/started_programs.h"
#include "penna/clock.h"
#include "recording/description_store.h"
#include "recording/writer.h"

namespace penna {

// Sums over all processes, for the summary at the end of a recording.
struct CollectorTotals {
  std::array<uint64_t, PENNA_CLASS_COUNT> stored{}, lost{};
  uint64_t call_entries = 0;                          // among the `stored` calls
  std::array<uint64_t, PENNA_LOSS_COUNT> lost_for{};  // included in `lost`
  uint64_t processes = 0, threads_blocked_ticks = 0, torn = 0, raw_bytes = 0;
  uint64_t start_cost_ticks = 0;  // of the first process
  uint64_t points_left_out = 0;   // did not meet a condition
  uint64_t sites_with_condition = 0;
  uint64_t calls_left_out = 0, events_left_out = 0;  // by rules about calls, and about time
  uint64_t others_left_out = 0, late_threads = 0;    // by --tid and --thread (types.h)
  uint64_t switched_out = 0;                         // began while their kind was off
  bool finished = false;                             // by -T FUNC@finish
  bool full = false;                                 // its file has reached its limit
  uint64_t restricted_processes = 0;          // processes that forbade themselves a system call that recording needs
  penna_counters target{};                    // add_counters() of all
  std::vector<UnrecordedProgram> unrecorded;  // programs started by recorded ones, and forked children of recorded ones
  uint64_t unrecorded_unreported = 0;         // further ones, of which only the number is known
  uint64_t abandoned_chunks = 0;              // chunks that were abandoned at a stop request
  std::vector<std::string> limits;            // those of its budget that were reached
  uint64_t snapshots = 0, snapshots_suppressed = 0;
  std::array<uint64_t, PENNA_CLASS_COUNT> thrown_away{};  // before and between them
  uint32_t costliest_pid = 0;
  ProcessEnd costliest;  // the process with the highest share of time spent on recording
};

class Collector {
 public:
  // `conditions`: which points are stored; none: all. `rules`: which calls, and which time range; rough, with a range
  // relative to the start of the first process; `snapshots`: what is stored only if a function is entered. The
  // functions in both are called on the collector's thread. With SnapshotRules::files, nothing goes to `writer`.
  Collector(RecordingWriter writer, Doorbell& doorbell, std::vector<Where> conditions = {}, CallRules rules = {},
            SnapshotRules snapshots = {});
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Writes what comes after everything else, such as the recording's names: called on the collector's thread once
  // everything is drained, but not at a hurried stop. Call before start().
  void set_last_words(std::function<void(RecordingWriter&)> last_words) { last_words_ = std::move(last_words); }

  // Sets an observer until the collector has stopped. Call before start().
  void set_observer(Observer& observer) { observer_ = &observer; }

  // The recording ends when such a function is entered (FunctionTraits::finish): the caller must then stop() it. Call
  // before start().
  Result<> set_finish(CallRules functions);
  // Likewise when its file has reached this size; what is written at the end makes it larger. Call before start().
  Result<> set_most_bytes(uint64_t bytes);
  // An observer that calls ask_for() on the collector's thread. Call before start().
  void add_watch(std::unique_ptr<ForwardingObserver> watch) { watches_.push_back(std::move(watch)); }
  // A snapshot for this cause; for watches. There is a flight recorder.
  void ask_for(SnapshotCause cause) { flight_->ask(std::move(cause)); }
  int finished_fd() const { return finished_.get(); }  // readable from then on; -1: nothing was set

  // Selects the threads whose events are stored, besides events that those are paired with. Call before start().
  void set_threads(ThreadChoice wanted) { wanted_ = std::make_shared<const ThreadChoice>(std::move(wanted)); }

  // Programs started by processes that are not recorded are not reported as missing. Call before start().
  void leave_others() { leaves_others_ = true; }

  // The longest time between writes of what is in open chunks; for a recording that is viewed meanwhile it is shorter
  // than kOpenMs. Call before start().
  void write_open_chunks_every(int ms) { open_ms_ = ms; }

  // See Session::time_shift. Call before start().
  void set_time_shift(uint32_t shift) { time_shift_ = shift; }

  // `on_thread` is the first call on the new thread.
  Result<> start(void (*on_thread)() = [] {});
  // A process has handed over its channel. Its number must be new.
  void add(Process process, ChannelMap channel);
  // A process has ended, or exec'd another program. `processor_ns`: what it used; 0: no longer known.
  void end(uint32_t number, EndKind how, int code, uint64_t processor_ns = 0, uint64_t ticks = penna_now());
  // A process had exited or given up before it was answered. If it is recorded, this concerns the program that it
  // exec'd, if any.
  void left_unanswered(uint32_t pid, bool is_recorded);
  // Adds a sentence to the recording's health. `refused`: it concerns a refused process. `missed`: which events are
  // missing because of it, as bits like CollectorHealth::missed_by_notes.
  void note(std::string sentence, bool refused, uint32_t missed = 0);
  // Kinds of event, as bits: what begins from now on is left out, or kept again; a note says when. Returns once that
  // holds, or after a second if the collector is busy. Any thread.
  void switch_kinds(uint32_t classes, bool on);
  uint32_t kinds_off() const { return kinds_off_.load(std::memory_order_relaxed); }  // any thread
  // Filters that are set from now on, instead of those before; a note says so, and of which events (as bits) some are
  // missing from now on. Returns like switch_kinds().
  struct FilterChange {
    FilterChanges::Conditions conditions;
    ChosenFunctions functions;
    std::string what, effect;  // for the note: before and after the time
    uint32_t missed = 0;
    const Where* counted = nullptr;  // one of `conditions`
  };
  // To how many points that were described so far `counted` applies; none: that is not known.
  std::optional<size_t> change_filters(FilterChange change);
  // What a flight recorder keeps is stored soon. False: there is none, all events are. Any thread.
  bool ask_for_snapshot();
  // Drains everything, ends processes that are still alive as kStopped, and closes the recording. Returns errors of the
  // file; totals() is valid in any case. `hurried`: what is not drained within Budget::kStopMs is abandoned, and
  // counted.
  Result<> stop(bool hurried = false);

  // Whether it still works on this channel. Any thread.
  bool holds(const ChannelMap& channel);
  // The number of channels that it still works on. Any thread.
  size_t channels() const { return channels_.load(std::memory_order_relaxed); }

  const CollectorTotals& totals() const { return totals_; }  // after stop()
  const RecordingWriter& writer() const { return writer_; }  // after stop()

 private:
  static constexpr int kOpenMs = 500;  // between checks of open chunks: what is older than a second is in the file
  // What other threads say to the collector's.
  struct Added {
    Process process;
    std::unique_ptr<ProcessDrain> drain;
  };
  struct Ended {
    uint32_t number;
    EndKind how;
    int code;
    uint64_t processor_ns, ticks;
  };
  struct LeftUnanswered {
    uint32_t pid;
    bool is_recorded;
  };
  struct Note {
    std::string sentence;
    bool refused;
    uint32_t missed;
  };
  struct KindSwitch {
    uint32_t classes;
    bool on;
  };
  using News = std::variant<Added, Ended, LeftUnanswered, Note, KindSwitch, FilterChange>;

  std::unique_ptr<ChunkFilter> make_filter(const Process& process);
  void post(News news);
  void run();
  bool take_news();
  void apply(Added news);
  void apply(const Ended& news);
  void apply(const LeftUnanswered& news) { programs_.left_unanswered(news.pid, news.is_recorded); }
  void apply(Note news);
  void apply(const KindSwitch& news);
  void apply(FilterChange news);
  bool drain_all();
  ProcessDrain* drained_parent(const Process& child);
  void begin_for_observer(const Process& process, ProcessDrain* parent);
  void inherit(const Process& child, ProcessDrain& drain, const ProcessDrain* parent);
  void end_process(ProcessDrain& drain, const Ended& end, bool gone);
  void add_note(std::string sentence, uint32_t missed);
  bool wait_for_switch();
  double seconds_at(const ClockTriplet& now) const;  // since the start, for notes
  void filter_from_now();
  void note_unrecorded();
  void note_limits();
  void take_snapshot_if_due();
  void write_snapshot();
  void forget_gone();
  CollectorHealth health_so_far() const;
  Result<> make_finished_fd();
  void finish_if_due();
  void finish_if_full();
  uint64_t end_ticks() const { return std::min(stop_ticks_, full_ticks_); }
  void write_clock_sometimes();
  void write_open_chunks_sometimes();
  int until_open_chunks_ms() const;
  bool is_eager() const;
  int look_ms() const;
  void look_at_open_chunks();

  std::unique_ptr<DescriptionStore> store_;  // if snapshots are files of their own: where writer_ writes
  SnapshotFiles files_;
  RecordingWriter writer_;
  std::shared_ptr<const std::vector<Where>> conditions_;
  CallRules rules_;
  bool rules_have_start_ = false;
  Doorbell& doorbell_;
  uint32_t time_shift_ = 0;
  std::function<void(RecordingWriter&)> last_words_;
  Observer* observer_ = nullptr;
  // Each that is set forwards to the one before it; the last is the observer.
  std::unique_ptr<FlightRecorder> flight_;
  std::vector<std::unique_ptr<ForwardingObserver>> watches_;  // conditions of snapshots
  std::unique_ptr<FinishWatch> finish_;
  Fd finished_;
  uint64_t most_bytes_ = UINT64_MAX;  // of the file
  uint64_t full_ticks_ = UINT64_MAX;  // when it had reached that size
  std::shared_ptr<const ThreadChoice> wanted_;
  std::shared_ptr<KindSwitches> switches_ = std::make_shared<KindSwitches>();   // of the collector's thread
  std::shared_ptr<FilterChanges> changes_ = std::make_shared<FilterChanges>();  // likewise
  std::atomic<uint32_t> kinds_off_{0};
  uint64_t switches_posted_ = 0, switches_done_ = 0;  // the first is of the thread that serves requests
  size_t sites_counted_ = 0;                          // by the last change of filters
  std::condition_variable switched_;
  std::shared_ptr<StoreCounts> counts_ = std::make_shared<StoreCounts>();
  std::mutex mutex_;  // guards news_, stop_requested_, held_, switches_done_ and sites_counted_
  // Other threads only append here and never wait for the collector's work: mutex_ is held only for a push or a swap.
  std::vector<News> news_;
  uint64_t stop_requested_ = UINT64_MAX;  // when
  std::set<ChannelMap::FileId> held_;     // of the channels that it still works on
  std::shared_ptr<Budget> budget_ = std::make_shared<Budget>();
  std::vector<std::unique_ptr<ProcessDrain>> drains_;
  uint64_t stop_ticks_ = UINT64_MAX;  // stop_requested_ at the last take_news()
  std::set<uint32_t> drained_;        // by number: parents drained for their children since then
  static constexpr size_t kMostLeft = 64;
  std::map<uint32_t, RecentOpenCalls> left_open_;  // by pid: for processes that have ended
  StartedPrograms programs_;
  bool leaves_others_ = false;
  std::set<uint32_t> pids_;  // of the processes that connected, with leave_others()
  CollectorHealth health_;
  ClockTriplet began_ = read_clocks();
  Patience patience_;
  std::atomic<size_t> channels_{0};
  std::atomic<bool> asked_for_snapshot_{false};
  uint64_t record_cost_ticks_ = 0;  // of the first process
  HookCosts hook_costs_;
  CollectorTotals totals_;
  ClockTriplet start_;
  int open_ms_ = kOpenMs;
  uint64_t last_clock_ns_ = 0, last_open_ns_ = 0, last_look_ns_ = 0;
  Result<> outcome_ = ok();
  std::thread thread_;
};

}  // namespace penna
