// SPDX-License-Identifier: MIT
// See flight_recorder.h.
#include "collect/flight_recorder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/free_memory.h"
#include "recording/records.h"

namespace penna {

void FlightRecorder::keep(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink,
                          std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  const std::span<const uint8_t> content = chunk.first(summary.content_bytes);
  const penna_chunk header = header_of(chunk);
  kept_.push_back({sink, {content.begin(), content.end()}, summary});
  bytes_ += kept_.back().bytes();
  ++shares_[sink.get()].chunks;
  if (due_ || wants(header)) return store_kept(writer);
  while (bytes_ > rules_.bytes) {
    const Kept oldest = take_oldest();
    oldest.sink->throw_away(oldest.chunk, oldest.summary);
    release(writer, oldest.sink);
  }
}

FlightRecorder::Kept FlightRecorder::take_oldest() {
  Kept oldest = std::move(kept_.front());
  kept_.pop_front();
  bytes_ -= oldest.bytes();
  return oldest;
}

void FlightRecorder::release(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink) {
  const auto share = shares_.find(sink.get());
  if (--share->second.chunks != 0) return;
  if (share->second.ended) sink->finish(writer);
  shares_.erase(share);
}

void FlightRecorder::ended(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink) {
  if (const auto share = shares_.find(sink.get()); share != shares_.end())
    share->second.ended = true;
  else
    sink->finish(writer);
}

void FlightRecorder::store_kept(RecordingWriter& writer) {
  while (!kept_.empty()) {
    const Kept oldest = take_oldest();
    oldest.sink->write(writer, oldest.chunk, oldest.summary);
    release(writer, oldest.sink);
  }
}

bool FlightRecorder::take_snapshot_if_due(RecordingWriter& writer) {
  if (!std::exchange(due_, false)) return false;
  store_kept(writer);
  return true;
}

void FlightRecorder::throw_all_away(RecordingWriter& writer) {
  while (!kept_.empty()) {
    const Kept oldest = take_oldest();
    oldest.sink->throw_away(oldest.chunk, oldest.summary);
    release(writer, oldest.sink);
  }
}

void FlightRecorder::entered(uint32_t process, Watched& watched, uint64_t pc, uint64_t ticks) {
  uint64_t& other = watched.others[pc / 16 % watched.others.size()];
  if (other == pc) return;
  const auto known = watched.functions.find(pc);
  bool wanted;
  if (known != watched.functions.end()) {
    wanted = known->second;
  } else {
    const FunctionTraits traits = rules_.functions.ask(process, pc, ticks);
    wanted = traits.snapshot;
    if (traits.placed && traits.lasting) {
      remember(watched, pc, wanted);
      if (!wanted) other = pc;
    }
    if (!traits.placed && watched.unplaced.size() < kMaxUnplaced) watched.unplaced.push_back(pc);
  }
  if (!wanted) return;
  due_time_ = std::max(due_time_, ticks);
  snapshots_ += !due_;
  due_ = true;
}

// Processes tell them, and may tell any.
void FlightRecorder::remember(Watched& watched, uint64_t pc, bool wanted) {
  if (functions_ >= most_functions_)
    for (auto& [process, one] : watched_) forget(one);
  functions_ += watched.functions.insert_or_assign(pc, wanted).second;
}

void FlightRecorder::forget(Watched& watched) {
  functions_ -= watched.functions.size();
  free_memory(watched.functions);
}

// Which module a function is in may be told by another thread, later than that it was entered.
void FlightRecorder::learn(uint32_t process, Watched& watched, const Record& record) {
  const auto module = decode_module(record);
  if (!module || !rules_.functions.learn(process, *module)) return;
  forget(watched);
  watched.others = {};
  for (const uint64_t pc : std::exchange(watched.unplaced, {})) entered(process, watched, pc, record.time);
}

void FlightRecorder::records(uint32_t process, std::span<const uint8_t> chunk) {
  Watched& watched = watched_[process];
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind == PENNA_KIND_CALL_ENTRY)
      entered(process, watched, record.pc, record.time);
    else if (record.kind == PENNA_KIND_MODULE)
      learn(process, watched, record);
  }
  PassingOnlooker::records(process, chunk);
}

void FlightRecorder::ended(const ProcessEnd& end) {
  if (const auto found = watched_.find(end.number); found != watched_.end()) {
    forget(found->second);
    watched_.erase(found);
  }
  PassingOnlooker::ended(end);
}

}  // namespace penna
