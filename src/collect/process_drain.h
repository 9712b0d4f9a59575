// SPDX-License-Identifier: MIT
// ProcessDrain: moves one process's events from its channel into the recording.
//
// Invariant: a chunk is stored at most once and then returned to the target; everything committed before the target's
// death is in the recording after finish().
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "collect/budget.h"
#include "collect/channel_map.h"
#include "collect/chunk_filter.h"
#include "collect/chunk_sink.h"
#include "collect/event_costs.h"
#include "collect/flight_recorder.h"
#include "collect/observer.h"
#include "collect/quiet_threads.h"
#include "collect/started_programs.h"
#include "recording/records.h"
#include "recording/types.h"
#include "recording/writer.h"

namespace penna {

// As far as /proc says: a later thread may have the same id.
bool thread_exists(uint32_t pid, uint32_t tid);

class ProcessDrain {
 public:
  // `filter`: for this process; null: everything is stored. `sink`: where chunks go; null: it creates its own.
  ProcessDrain(ChannelMap channel, uint32_t number, uint32_t pid, std::unique_ptr<ChunkFilter> filter = nullptr,
               std::shared_ptr<ChunkSink> sink = nullptr, std::shared_ptr<Budget> budget = nullptr);

  // Sets an observer from here on. May be null.
  void set_observer(Observer* observer);
  // Diverts chunks there. Call before the first chunk; may be null.
  void set_flight_recorder(FlightRecorder* recorder) { flight_ = recorder; }

  // What is switched, and filters that are set, while recording: from now on, chunks are filtered by it.
  void set_switches(const std::shared_ptr<const KindSwitches>& switches,
                    const std::shared_ptr<const FilterChanges>& changes);
  // To how many points that it has described so far a condition applies.
  size_t sites_with(const Where& condition);

  // Where programs that the process starts are reported. May be null.
  void set_started_programs(StartedPrograms* programs) { programs_ = programs; }

  // Until when chunks are taken. May be null.
  void set_patience(const Patience* patience) { patience_ = patience; }

  uint32_t number() const { return number_; }
  uint32_t pid() const { return pid_; }
  ChannelMap::FileId file() const { return channel_.file(); }

  // Moves up to `limit` full chunks; returns how many. The writer remembers write errors: chunks are returned to the
  // target even so, and counted as lost.
  size_t drain(RecordingWriter& writer, size_t limit);
  // Moves the chunks that are full now: the target keeps running, and may fill chunks as fast as they are returned.
  void drain_full(RecordingWriter& writer);

  // Writes what was added to open chunks since the last call: if the recorder dies, that much is in the file.
  void write_open_chunks(RecordingWriter& writer);

  // For a snapshot in a file of its own: copies of what is in open chunks, which come again when they are full. Their
  // stacks are complete in the process's tree before.
  void copy_open_chunks(RecordingWriter& file);
  void write_new_stacks(RecordingWriter& writer);
  // What a file says that ends while the process goes on: its health, and that it has not ended.
  void write_state(RecordingWriter& file, uint64_t ticks);
  // ChunkSink::begin_file().
  void begin_file() { sink_->begin_file(); }

  // Notes which threads the process has, recorded or not. Does nothing if it is in another pid namespace, or is our own
  // process.
  void look_at_threads();

  // Passes what was added to open chunks since the last call to the observer.
  void show_open_chunks(RecordingWriter& writer);

  // Takes the chunks of threads that are gone, if few chunks are left for others.
  void reclaim(RecordingWriter& writer);
  void take_unfinished(RecordingWriter& writer);

  // The processor time that the process has used so far; 0: it is gone, and the last value stays.
  void report_cpu_ns(uint64_t ns);
  // Whether all calls so far came from hooks of -finstrument-functions (penna_channel).
  bool calls_at_once() const { return channel_.calls_at_once(); }
  // The recording ends then: chunks that threads begin later are returned to them unread.
  void stop_at(uint64_t ticks) { stops_at_ = ticks; }
  // The clock rate, for the cost of events. Call before finish(); otherwise the recording has no costs.
  void set_clock(double ns_per_tick, const HookCosts& hooks) { ns_per_tick_ = ns_per_tick, hooks_ = hooks; }

  // The process is gone, or the recording ends: takes the remaining chunks, and writes its end and its health. `gone`:
  // none of its threads can write any more.
  void finish(RecordingWriter& writer, bool gone, EndKind how, int code, uint64_t end_ticks);

  const ProcessEnd& end() const { return end_; }  // after finish()
  const StoreCounts& counts() const { return sink_->counts(); }
  const std::array<uint64_t, PENNA_CLASS_COUNT>& lost() const { return lost_; }
  const std::array<uint64_t, PENNA_LOSS_COUNT>& lost_for() const { return lost_for_; }  // included in those
  const ChunkFilter* filter() const { return filter_.get(); }
  // ChunkFilter::end_at().
  void end_at(uint64_t ticks) {
    if (filter_) filter_->end_at(ticks);
  }
  // Only after finish(), with a filter.
  RecentOpenCalls take_open_then() { return filter_->take_open_then(); }
  void inherit(std::vector<uint64_t> pcs, uint64_t ticks) { filter_->inherit(std::move(pcs), ticks); }
  uint64_t max_backlog() const { return max_backlog_; }
  uint64_t abandoned_chunks() const { return left_behind_; }  // chunks that finish() had no time for
  size_t unfinished() const { return unfinished_.size(); }    // chunks that were handed over and wait
  uint64_t start_cost_ticks() const { return channel_.start_cost_ticks(); }
  uint64_t record_cost_ticks() const { return channel_.record_cost_ticks(); }
  uint64_t blocked_ticks() const { return channel_.counters().blocked_ticks; }
  bool restricted_processes() const {
    return channel_.counters().clock_forbidden != 0 || channel_.counters().calls_forbidden != 0;
  }

 private:
  // Where a chunk comes from: the ring; a thread that vanished while others live; a process that is gone. Only in the
  // first case can an unfinished record still be completed.
  enum class Origin { kRing, kVanishedThread, kDeadProcess };
  bool is_over() const { return patience_ != nullptr && patience_->is_over(); }
  bool is_later(const penna_chunk& header) const { return header.time_begin > stops_at_; }
  bool take(RecordingWriter& writer, uint32_t chunk, Origin origin, bool wait_for_open_records);
  void store(RecordingWriter& writer, std::span<const uint8_t> chunk, ChunkSummary summary);
  uint64_t recorded_processor_ns(uint64_t end_ticks) const;
  bool must_wait(const ChunkSummary& summary);
  template <typename Look>
  uint32_t each_taken(Look&& look);
  void learn_descriptions(std::span<const uint8_t> chunk);
  void read_starts(bool gone);
  std::span<const uint8_t> left_of_open(RecordingWriter& writer, std::span<uint8_t> piece);
  std::unordered_map<uint32_t, uint64_t> first_sequences();
  size_t open_end(uint32_t chunk, size_t begin);
  void write_missing_stacks(RecordingWriter& writer);
  void read_losses();
  void write_stacks(RecordingWriter& writer, uint32_t first, std::span<const penna_stack_node> nodes);

  ChannelMap channel_;
  uint32_t number_;
  uint32_t pid_;
  QuietThreads quiet_;
  std::vector<uint8_t> buffer_;          // one chunk
  std::vector<uint32_t> written_bytes_;  // by chunk: how much of it write_open_chunks() has written
  std::vector<uint32_t>
      stuck_at_;  // by chunk: where the last write_open_chunks() stopped; 0: it did not stop at an unfinished record
  std::vector<uint32_t> shown_bytes_;  // the same for show_open_chunks()
  std::vector<bool> is_unfinished_;    // by chunk: it is in unfinished_
  // A full chunk with an unfinished record, or one that follows such a chunk.
  struct Unfinished {
    uint32_t chunk, serial, tid;
    uint32_t tries = 0, turns = 0;  // turns: calls of drain() until it is checked again
  };
  std::vector<Unfinished> unfinished_;
  std::unordered_set<uint32_t> waiting_threads_;  // by serial: their threads, if a filter needs chunks in order
  bool ring_is_empty_ = true;                     // at the last drain()
  std::shared_ptr<Budget> budget_;
  std::shared_ptr<ChunkSink> sink_;
  std::unique_ptr<ChunkFilter> filter_;
  uint32_t descriptions_ = 0;  // number of channel descriptions that the filter has learnt
  Observer* observer_ = nullptr;
  FlightRecorder* flight_ = nullptr;
  StartedPrograms* programs_ = nullptr;
  const Patience* patience_ = nullptr;
  uint64_t stops_at_ = UINT64_MAX;
  uint64_t left_behind_ = 0;
  std::optional<FreshRecords> fresh_;  // for the observer
  uint32_t nodes_written_ = 0;
  std::vector<uint32_t> nodes_missing_;  // ids below nodes_written_ that were not complete yet
  std::array<uint64_t, PENNA_CLASS_COUNT> lost_{};
  std::array<uint64_t, PENNA_LOSS_COUNT> lost_for_{};
  uint64_t max_backlog_ = 0;
  EventCosts costs_;
  uint64_t processor_ns_ = 0, processor_ticks_ = 0;  // used at that time
  double ns_per_tick_ = 0;
  HookCosts hooks_;
  ProcessEnd end_;
};

}  // namespace penna
