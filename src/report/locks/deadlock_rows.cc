// SPDX-License-Identifier: MIT
// See deadlock_rows.h.
#include "report/locks/deadlock_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/units.h"

namespace penna {
namespace {

std::string cycle_text(const Deadlocks& found, const std::vector<uint32_t>& cycle, const WaitTexts& texts) {
  const auto member = [&](size_t i) -> const StuckThread& { return found.waiting[cycle[i]]; };
  const auto wanted = [&](size_t i) { return texts.object(member(i).wait.object); };
  if (cycle.size() == 1)
    return fmt::format("Deadlock: {} waits for {}, which it holds itself.", texts.thread(member(0).thread), wanted(0));
  constexpr size_t kMostShown = 4;
  std::string text = fmt::format("Deadlock of {}:", plural_text(static_cast<int64_t>(cycle.size()), "thread"));
  for (size_t i = 0; i < cycle.size() && i < kMostShown; ++i)
    text += fmt::format("{} {} waits for {}", i == 0 ? "" : ",", texts.thread(member(i).thread), wanted(i));
  return text + (cycle.size() > kMostShown ? ", ..." : ".");
}

void add_count(std::vector<std::string>& sentences, const Deadlocks& found, StuckThread::Why why, const char* what) {
  const uint64_t count = found.count(why);
  if (count != 0)
    sentences.push_back(fmt::format("{} {} {}.", plural_text(static_cast<int64_t>(count), "thread"),
                                    count == 1 ? "waits" : "wait", what));
}

// Who is told in a row of the table: in a deadlock, cycle by cycle, then those who wait in vain.
struct StuckRow {
  uint32_t place;
  uint32_t deadlock;  // from 1; 0: none
};
std::vector<StuckRow> stuck_rows(const Deadlocks& found) {
  std::vector<StuckRow> rows;
  for (uint32_t i = 0; i < found.cycles.size(); ++i)
    for (const uint32_t place : found.cycles[i]) rows.push_back({place, i + 1});
  for (uint32_t i = 0; i < found.waiting.size(); ++i)
    if (found.waiting[i].why != StuckThread::Why::kInDeadlock && found.waiting[i].why != StuckThread::Why::kWaits)
      rows.push_back({i, 0});
  return rows;
}

std::string holder_of(const StuckThread& stuck, const WaitTexts& texts) {
  switch (stuck.why) {
    case StuckThread::Why::kElsewhere:
      return fmt::format("tid {}, of the process that it was forked from", stuck.wait.owner);
    case StuckThread::Why::kHolderEnded: return texts.thread(stuck.holder) + ", which has ended";
    default: return stuck.holder == stuck.thread ? "itself" : texts.thread(stuck.holder);
  }
}

void describe_stuck(TableRow& row, const StuckThread& stuck, const WaitTexts& texts) {
  const uint32_t process = texts.recording().threads()[stuck.thread].process;
  texts.add_stack(row.details, fmt::format("waits for {} in", texts.object(stuck.wait.object)), process,
                  stuck.wait.stack);
  for (const uint32_t object : texts.held().held_by(stuck.thread))
    texts.add_stack(row.details, fmt::format("holds {}, taken in", texts.object(object)), process,
                    texts.held().hold_of(stuck.thread, object).stack);
}

}  // namespace

std::vector<std::string> deadlock_sentences(const Deadlocks& found, const WaitTexts& texts) {
  constexpr size_t kMostSentences = 5;
  std::vector<std::string> sentences;
  for (size_t i = 0; i < found.cycles.size() && i < kMostSentences; ++i)
    sentences.push_back(cycle_text(found, found.cycles[i], texts));
  if (found.cycles.size() > kMostSentences)
    sentences.push_back(fmt::format("{} deadlocks in all.", count_text(static_cast<int64_t>(found.cycles.size()))));
  add_count(sentences, found, StuckThread::Why::kBehind, "behind a deadlock");
  add_count(sentences, found, StuckThread::Why::kHolderEnded, "for a lock that is held by a thread that has ended");
  add_count(sentences, found, StuckThread::Why::kElsewhere,
            "for a lock that was held by another thread when their process was forked");
  return sentences;
}

Table deadlock_table(const Deadlocks& found, const WaitTexts& texts, uint64_t end) {
  Table table;
  table.key = "deadlocks";
  table.title = "Deadlocks";
  table.details_key = "stacks";
  table.columns = {{"deadlock", "DEADLOCK", CellKind::kNumber},    {"waited_ns", "WAITS SINCE", CellKind::kDuration},
                   {"pid", "PID", CellKind::kNumber, false, true}, {"tid", "TID", CellKind::kNumber, false, true},
                   {"thread", "THREAD", CellKind::kText, true},    {"waits_for", "WAITS FOR", CellKind::kText, true},
                   {"held_by", "HELD BY", CellKind::kText, true}};
  const std::vector<StuckRow> rows = stuck_rows(found);
  const Recording& recording = texts.recording();
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const StuckThread& stuck = found.waiting[rows[i].place];
    const RecordedThread& thread = recording.threads()[stuck.thread];
    const uint64_t last = std::max(end, stuck.wait.begin);
    table.add({rows[i].deadlock == 0 ? Cell{} : Cell{int64_t{rows[i].deadlock}},
               recording.time().duration_ns(stuck.wait.begin, last),
               int64_t{recording.processes()[thread.process].process.pid}, int64_t{thread.tid}, std::string(),
               std::string(), std::string()},
              i);
  }
  table.complete = [&found, texts, rows](TableRow& row) {
    const StuckThread& stuck = found.waiting[rows[row.source].place];
    row.cells[4] = texts.thread(stuck.thread);
    row.cells[5] = texts.object(stuck.wait.object);
    row.cells[6] = holder_of(stuck, texts);
    describe_stuck(row, stuck, texts);
  };
  return table;
}

}  // namespace penna
