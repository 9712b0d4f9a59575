// SPDX-License-Identifier: MIT
// See deadlock_rows.h.
#include "report/locks/deadlock_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/columns.h"
#include "report/units.h"

namespace penna {
namespace {

// `cycle`: indexes into found.waiting; each thread waits for what the next one holds, and the last for the first's.
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

// What a row of the table is about.
struct StuckItem {
  WaitTexts texts;
  const StuckThread& stuck;
  uint32_t deadlock;  // from 1; 0: none
  std::span<const uint64_t> ends;
  const RecordedThread& thread() const { return texts.recording().threads()[stuck.thread]; }
};

// Threads in a deadlock, cycle by cycle, then those that wait for a lock that will never be released.
std::vector<StuckItem> stuck_items(const Deadlocks& found, const WaitTexts& texts, std::span<const uint64_t> ends) {
  std::vector<StuckItem> items;
  for (uint32_t i = 0; i < found.cycles.size(); ++i)
    for (const uint32_t place : found.cycles[i]) items.push_back({texts, found.waiting[place], i + 1, ends});
  for (const StuckThread& stuck : found.waiting)
    if (stuck.why != StuckThread::Why::kInDeadlock && stuck.why != StuckThread::Why::kWaits)
      items.push_back({texts, stuck, 0, ends});
  return items;
}

std::string holder_of(const StuckThread& stuck, const WaitTexts& texts) {
  switch (stuck.why) {
    case StuckThread::Why::kElsewhere:
      return fmt::format("tid {}, of the process that it was forked from", stuck.wait.owner);
    case StuckThread::Why::kHolderEnded: return texts.thread(stuck.holder) + ", which has ended";
    default: return stuck.holder == stuck.thread ? "itself" : texts.thread(stuck.holder);
  }
}

// Below a thread: where it waits, and what it holds meanwhile, as others wait for that.
void describe_stuck(TableRow& row, StuckItem& item) {
  const WaitTexts& texts = item.texts;
  const StuckThread& stuck = item.stuck;
  const uint32_t process = item.thread().process;
  texts.add_stack(row.details, fmt::format("waits for {} in", texts.object(stuck.wait.object)), process,
                  stuck.wait.stack);
  for (const uint32_t object : texts.held().held_by(stuck.thread))
    texts.add_stack(row.details, fmt::format("holds {}, taken in", texts.object(object)), process,
                    texts.held().hold_of(stuck.thread, object).stack);
}

Columns<StuckItem> stuck_columns() {
  return {{{"deadlock", "DEADLOCK", CellKind::kNumber},
           [](const StuckItem& item) { return item.deadlock == 0 ? Cell{} : Cell{int64_t{item.deadlock}}; }},
          {{"waited_ns", "WAITS SINCE", CellKind::kDuration},
           [](const StuckItem& item) {
             const uint64_t begin = item.stuck.wait.begin;
             const uint64_t end = item.ends[item.thread().process];
             return Cell{item.texts.recording().time().duration_ns(begin, std::max(end, begin))};
           }},
          {{"pid", "PID", CellKind::kNumber, false, true},
           [](const StuckItem& item) { return item.texts.pid(item.thread().process); }},
          {{"tid", "TID", CellKind::kNumber, false, true}, [](const StuckItem& item) { return item.thread().tid; }},
          {{"thread", "THREAD", CellKind::kText, true},
           [](const StuckItem& item) { return item.texts.thread(item.stuck.thread); },
           Fill::kWhenShown},
          {{"waits_for", "WAITS FOR", CellKind::kText, true},
           [](const StuckItem& item) { return item.texts.object(item.stuck.wait.object); },
           Fill::kWhenShown},
          {{"held_by", "HELD BY", CellKind::kText, true},
           [](const StuckItem& item) { return holder_of(item.stuck, item.texts); },
           Fill::kWhenShown}};
}

}  // namespace

std::vector<std::string> deadlock_sentences(const Deadlocks& found, const WaitTexts& texts) {
  constexpr size_t kMostSentences = 5;
  std::vector<std::string> sentences;
  // One sentence per deadlock, as long as they are few; the table has all.
  for (size_t i = 0; i < found.cycles.size() && i < kMostSentences; ++i)
    sentences.push_back(cycle_text(found, found.cycles[i], texts));
  if (found.cycles.size() > kMostSentences)
    sentences.push_back(fmt::format("{} deadlocks in all.", count_text(static_cast<int64_t>(found.cycles.size()))));
  add_count(sentences, found, StuckThread::Why::kBehind, "for a deadlocked thread");
  add_count(sentences, found, StuckThread::Why::kHolderEnded, "for a lock that is held by a thread that has ended");
  add_count(sentences, found, StuckThread::Why::kElsewhere,
            "for a lock that was held by another thread when their process was forked");
  return sentences;
}

Table deadlock_table(const Deadlocks& found, const WaitTexts& texts, std::span<const uint64_t> ends) {
  Table table;
  table.key = "deadlocks";
  table.title = "Deadlocks";
  table.details_key = "stacks";
  stuck_columns().fill(table, stuck_items(found, texts, ends), describe_stuck);
  return table;
}

}  // namespace penna
