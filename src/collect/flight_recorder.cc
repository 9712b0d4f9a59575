// SPDX-License-Identifier: MIT
// See flight_recorder.h.
#include "collect/flight_recorder.h"

#include <algorithm>
#include <utility>

namespace penna {

void FlightRecorder::keep(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink,
                          std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  const std::span<const uint8_t> content = chunk.first(summary.content_bytes);
  const penna_chunk header = header_of(chunk);
  kept_.push_back({sink, {content.begin(), content.end()}, summary});
  bytes_ += kept_.back().bytes();
  ++shares_[sink.get()].chunks;
  if (!own_files_ && (due_ || wants(header))) store_due(writer);
  // What a file of its own needs waits here until it is written, however late the recorder is.
  const bool waits = own_files_ && due_;
  if (!waits) newest_ = std::max(newest_, header.time_end);
  const uint64_t most_bytes = most_bytes_ + (waits ? kMostLater : 0);
  while (!kept_.empty() && (bytes_ > most_bytes || is_too_old(kept_.front()))) throw_oldest_away(writer);
}

bool FlightRecorder::is_too_old(const Kept& kept) const {
  return most_ticks_ != 0 && newest_ > most_ticks_ && kept.summary.time_end < newest_ - most_ticks_;
}

void FlightRecorder::throw_oldest_away(RecordingWriter& writer) {
  const Kept oldest = take_oldest();
  oldest.sink->discard(oldest.chunk, oldest.summary);
  release(writer, oldest.sink);
}

FlightRecorder::Kept FlightRecorder::take_oldest() {
  Kept oldest = std::move(kept_.front());
  kept_.pop_front();
  bytes_ -= oldest.bytes();
  return oldest;
}

// A sink is needed until the last chunk of its process is stored or discarded: only then are its counts final.
void FlightRecorder::release(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink) {
  const auto share = shares_.find(sink.get());
  if (--share->second.chunks != 0) return;
  if (share->second.ended) end_of_process(writer, *sink);
  shares_.erase(share);
}

void FlightRecorder::end_of_process(RecordingWriter& writer, ChunkSink& sink) {
  sink.finish(writer);
  gone_.push_back(sink.process());
}

void FlightRecorder::ended(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink) {
  if (const auto share = shares_.find(sink.get()); share != shares_.end())
    share->second.ended = true;
  else
    end_of_process(writer, *sink);
}

void FlightRecorder::store_oldest(RecordingWriter& writer) {
  const Kept oldest = take_oldest();
  oldest.sink->write(writer, oldest.chunk, oldest.summary);
  release(writer, oldest.sink);
}

// A thread's chunks are in the file in order: each begins later than the one before.
void FlightRecorder::store_due(RecordingWriter& writer) {
  std::deque<Kept> later;
  while (!kept_.empty()) {
    if (header_of(kept_.front().chunk).time_begin <= due_time_) {
      store_oldest(writer);
    } else {
      later.push_back(std::move(kept_.front()));
      kept_.pop_front();
    }
  }
  kept_ = std::move(later);
}

void FlightRecorder::store_in(RecordingWriter& file, RecordingWriter& elsewhere) {
  due_ = false;
  newest_ = std::max(newest_, cause_.ticks);
  while (!kept_.empty() && is_too_old(kept_.front())) throw_oldest_away(elsewhere);
  while (!kept_.empty()) store_oldest(file);
}

bool FlightRecorder::take_snapshot_if_due(RecordingWriter& writer) {
  if (!std::exchange(due_, false)) return false;
  store_due(writer);
  return true;
}

// Chunks are in order of arrival: one of a thread that slept for long comes after newer ones of other threads.
void FlightRecorder::end(RecordingWriter& writer, uint64_t ticks) {
  newest_ = std::max(newest_, ticks);
  snapshots_ += takes_the_end_ && !own_files_;
  while (!kept_.empty()) {
    if (takes_the_end_ && !own_files_ && !is_too_old(kept_.front()))
      store_oldest(writer);
    else
      throw_oldest_away(writer);
  }
}

void FlightRecorder::ask(SnapshotCause cause) {
  const bool is_soon = snapshots_ != 0 && cause.ticks < cause_.ticks + again_ticks_;
  if (!due_ && is_soon && !cause.is_asked) {
    ++suppressed_;
    return;
  }
  due_time_ = std::max(due_time_, cause.ticks);
  if (!due_) cause_ = std::move(cause);
  snapshots_ += !due_;
  due_ = true;
}

void FlightRecorder::could_not_store() {
  due_ = false;
  --snapshots_;
}

}  // namespace penna
