// SPDX-License-Identifier: MIT
// See recording_copy.h.
#include "collect/recording_copy.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/count_text.h"
#include "base/file.h"
#include "recording/records.h"

namespace penna {

std::string why_incomplete(const Recording& recording) {
  if (recording.damage().cut) return "is cut off";
  if (!recording.is_finished()) return "is unfinished";
  return recording.damage().any() ? "is damaged" : "";
}

void RecordingCopy::note_missing(CollectorHealth& health) const {
  health.missed_by_notes.resize(health.notes.size());
  for (const std::string& sentence : missing_) {
    health.notes.push_back(sentence);
    health.missed_by_notes.push_back(kNoteOfAllClasses);
  }
}

uint32_t RecordingCopy::number_of(const Recording& from, uint32_t process) const {
  return first_number_ + from.processes()[process].process.number;
}

Result<> RecordingCopy::add(const Recording& from, const CopiedTime& time) {
  if (const std::string why = why_incomplete(from); !why.empty())
    missing_.push_back(fmt::format("{} {}: what is missing there is missing here", from.path(), why));
  if (const auto failures = from.write_failures())
    writer_.add_lost(std::span(failures->lost).first<PENNA_CLASS_COUNT>(), failures->error);
  for (const ClockTriplet& clock : from.clocks()) PENNA_TRY(writer_.write_clock(clock));
  const auto processes = static_cast<uint32_t>(from.processes().size());
  Sinks sinks;
  for (uint32_t process = 0; process < processes; ++process) {
    PENNA_TRY(describe(from, process));
    sinks.push_back(std::make_unique<ChunkSink>(number_of(from, process), nullptr, time.any()));
  }
  PENNA_TRY(copy_chunks(from, time, sinks));
  for (uint32_t process = 0; process < processes; ++process) PENNA_TRY(end_process(from, process, *sinks[process]));
  for (const FileNames& names : from.names()) PENNA_TRY(writer_.write_names(names));
  if (processes != 0) first_number_ = number_of(from, processes - 1) + 1;
  return ok();
}

Result<> RecordingCopy::describe(const Recording& from, uint32_t process) {
  const RecordedProcess& recorded = from.processes()[process];
  const uint32_t number = number_of(from, process);
  if (recorded.announced) {
    Process copy = recorded.process;
    copy.number = number;
    PENNA_TRY(writer_.write_process(copy));
  }
  PENNA_TRY(writer_.write_modules(number, recorded.modules));
  PENNA_TRY(writer_.write_sites(number, recorded.sites));
  for (const uint32_t thread : recorded.threads) PENNA_TRY(writer_.write_threads(number, from.threads()[thread].names));
  return copy_stacks(from, process);
}

// Ids without a node are not written: nothing refers to them. A node whose parent is missing gets a parent id that has
// no node.
Result<> RecordingCopy::copy_stacks(const Recording& from, uint32_t process) {
  constexpr size_t kRun = 4096;
  std::vector<penna_stack_node> run;
  uint32_t first = 0;
  const auto flush = [&]() -> Result<> {
    if (!run.empty()) PENNA_TRY(writer_.write_stacks(number_of(from, process), first, run));
    run.clear();
    return ok();
  };
  for (auto id = from.next_stack_node(process, 1); id; id = from.next_stack_node(process, *id + 1)) {
    if (run.size() == kRun || *id != first + run.size()) PENNA_TRY(flush());
    if (run.empty()) first = *id;
    const StackNode node = *from.stack_node(process, *id);
    run.push_back({node.pc | uint64_t{node.generation} << 48, node.cut ? UINT32_MAX : node.parent,
                   node.depth | uint32_t{node.end} << 16});
    if (*id == UINT32_MAX) break;
  }
  return flush();
}

// In file order, which is time order. What they describe has been written already.
Result<> RecordingCopy::copy_chunks(const Recording& from, const CopiedTime& time, const Sinks& sinks) {
  std::vector<const ChunkRef*> chunks;
  for (const ChunkRef& chunk : from.chunks()) chunks.push_back(&chunk);
  std::stable_sort(chunks.begin(), chunks.end(),
                   [](const ChunkRef* a, const ChunkRef* b) { return a->offset < b->offset; });
  std::vector<uint8_t> bytes;
  int64_t unreadable = 0;
  for (const ChunkRef* chunk : chunks) {
    if (!from.read_chunk(*chunk, bytes)) {
      ++unreadable;
      continue;
    }
    ChunkSink& sink = *sinks[chunk->process];
    if (chunk->piece_bytes != 0) {
      if (time.holds(*chunk)) PENNA_TRY(writer_.write_open_pieces(sink.process(), bytes));
      continue;
    }
    const ChunkSummary summary = sink.scan(bytes);
    sink.forget();
    if (time.holds(*chunk))
      sink.write(writer_, bytes, summary);
    else
      sink.discard(bytes, summary);
    if (const int error = writer_.error(); error != 0)
      return Error{fmt::format("cannot write {}: {}", writer_.path(), errno_text(error))};
  }
  if (unreadable != 0)
    missing_.push_back(fmt::format("{} of {} could not be read, and are missing",
                                   plural_text(unreadable, "block of events", "blocks of events"), from.path()));
  return ok();
}

// The sink's counts are those of the copied chunks; everything else stays as it was.
Result<> RecordingCopy::end_process(const Recording& from, uint32_t process, ChunkSink& sink) {
  const RecordedProcess& recorded = from.processes()[process];
  const auto take_over = [&sink](const Health& was, uint32_t serial) {
    Health& health = sink.health(serial);
    health.lost = was.lost;
    health.blocked_ticks = was.blocked_ticks;
    health.abandoned = was.abandoned;
    health.skipped = add_counts(health.skipped, was.skipped);
  };
  take_over(recorded.health, 0);
  for (const uint32_t thread : recorded.threads)
    if (from.threads()[thread].has_health) take_over(from.threads()[thread].health, from.threads()[thread].serial);
  sink.finish(writer_);
  if (!recorded.end) return ok();
  ProcessEnd end = *recorded.end;
  end.number = number_of(from, process);
  return writer_.write_process_end(end);
}

}  // namespace penna
