// SPDX-License-Identifier: MIT
// penna report chains: for whom threads waited, and for whom those waited meanwhile.
#include <fmt/format.h>

#include <utility>

#include "model/events/sampling.h"
#include "report/columns.h"
#include "report/frames.h"
#include "report/locks/deadlock_rows.h"
#include "report/locks/wait_reports.h"
#include "report/units.h"

namespace penna {
namespace {

// An object of kNoIndex stands for all chains beyond WaitChains::kMostChains: what they waited for is not kept.
penna_sync sync_of(const WaitTexts& texts, const ChainLink& link) {
  return link.object == kNoIndex ? PENNA_SYNC_COUNT : texts.held().objects()[link.object].sync;
}

// Whether what is waited for can be held: locks, and once-initialisers. All other waits (conditions, joins, barriers)
// are for what another thread does, and have a separate table: mostly they are idle time.
bool is_of_lock(const WaitTexts& texts, const ChainLink& link) {
  const penna_sync sync = sync_of(texts, link);
  return is_lock(sync) || sync == PENNA_SYNC_ONCE;
}

std::string object_text(const WaitTexts& texts, const ChainLink& link) {
  if (sync_of(texts, link) == PENNA_SYNC_JOIN && link.holder != kNoIndex)
    return "the end of " + texts.thread(link.holder);
  return texts.object(link.object);
}

std::string holder_text(const WaitTexts& texts, const ChainLink& link) {
  return texts.thread(link.holder) + (link.more_holders ? " and others" : "");
}

// The chain in one line, from the first waiter's object on: "mutex `a` (held by two) <- mutex `b` (held by three)".
// Links are looked up by index, as several chains share their tails.
std::string chain_text(const WaitTexts& texts, const WaitChains& chains, uint32_t index) {
  std::string text;
  for (; index != kNoIndex; index = chains.links()[index].next) {
    const ChainLink& link = chains.links()[index];
    text += (text.empty() ? "" : " <- ") + object_text(texts, link);
    const bool join = sync_of(texts, link) == PENNA_SYNC_JOIN;
    if (link.kind == LinkKind::kFree && !join) text += " (handed over)";
    if (link.kind == LinkKind::kUnknownHolder) text += " (holder unknown)";
    if (link.kind == LinkKind::kTimedOut) text += " (timed out)";
    if (link.kind == LinkKind::kNotWoken) text += " (not woken yet)";
    if (link.kind == LinkKind::kUnknownWaker) text += " (waker unknown)";
    if (link.kind == LinkKind::kWoken) text += fmt::format(" (woken by {})", holder_text(texts, link));
    if ((link.kind == LinkKind::kHeld || link.kind == LinkKind::kReleased) && !join && link.object != kNoIndex)
      text += fmt::format(" (held by {})", holder_text(texts, link));
    if (link.is_cut) text += " <- ...";
  }
  return text;
}

// The joined thread may have ended by now.
std::string join_text(const ChainLink& link, const std::string& joined) {
  if (link.holder == kNoIndex) return "the wait is over when it ends";
  if (link.more_holders) return "each wait is over when the thread ends: " + joined;
  return "the wait is over when " + joined + " ends";
}

// One link in the lines below a row: which thread kept the other waiting, and the stack with which it did.
void describe_link(const WaitTexts& texts, const ChainLink& link, std::vector<TableDetail>& details) {
  const uint32_t process = texts.held().objects()[link.object].process;
  const std::string holder = holder_text(texts, link);
  const char* has = link.more_holders ? " have " : " has ";
  switch (link.kind) {
    case LinkKind::kHeld:
      if (sync_of(texts, link) == PENNA_SYNC_JOIN) {
        details.push_back({join_text(link, holder), ""});
      } else {
        // A lock in shared memory may be held by a thread of another process; the stack is then in that process's
        // table.
        const bool there = link.stack == 0 && link.holder_stack != 0;
        texts.add_stack(details, holder + has + "it, taken in",
                        there ? texts.recording().threads()[link.holder].process : process,
                        there ? link.holder_stack : link.stack);
      }
      break;
    case LinkKind::kReleased: texts.add_stack(details, holder + has + "it, released in", process, link.stack); break;
    case LinkKind::kWoken:
      texts.add_stack(details, holder + (link.more_holders ? " end the wait, in" : " ends the wait, in"), process,
                      link.stack);
      break;
    case LinkKind::kFree:
      details.push_back({sync_of(texts, link) == PENNA_SYNC_JOIN ? "it is not known which thread that is"
                                                                 : "no thread holds it: it is being handed over",
                         ""});
      break;
    case LinkKind::kUnknownHolder:
      details.push_back(
          {"it is not known which thread has it: one of another process, or one that was not recorded", ""});
      break;
    case LinkKind::kTimedOut: details.push_back({"no thread ends the wait: it times out", ""}); break;
    case LinkKind::kNotWoken: details.push_back({"it is not known yet who ends the wait", ""}); break;
    case LinkKind::kUnknownWaker:
      details.push_back({"it is not known who ended the wait: another process, or it was cancelled", ""});
      break;
  }
}

// The whole chain below a row, alternating: who waits where, who holds it and where it was taken, what that thread
// waits for.
void describe_chain(const WaitTexts& texts, const WaitChains& chains, uint32_t index, TableRow& row) {
  if (chains.links()[index].object == kNoIndex) return;
  const ChainLink& first = chains.links()[index];
  const uint32_t process = texts.held().objects()[first.object].process;
  const std::string waiter = texts.thread(first.waiter) + (first.more_waiters ? " and others wait" : " waits");
  texts.add_stack(row.details, fmt::format("{} for {} in", waiter, object_text(texts, first)), process,
                  first.waiter_stack);
  for (;;) {
    const ChainLink& link = chains.links()[index];
    describe_link(texts, link, row.details);
    if (link.is_cut) row.details.push_back({"and waits itself: the chain goes on", ""});
    if (link.next == kNoIndex) return;
    index = link.next;
    const ChainLink& next = chains.links()[index];
    const uint32_t its = next.object == kNoIndex ? process : texts.held().objects()[next.object].process;
    texts.add_stack(row.details, fmt::format("and waits for {} in", object_text(texts, next)), its,
                    link.holder_wait_stack);
  }
}

// `index`: that of the chain's first link.
struct ChainItem {
  WaitTexts texts;
  const WaitChains& chains;
  uint32_t index;
  const ChainLink& link() const { return chains.links()[index]; }
};

Columns<ChainItem> chain_columns() {
  return {
      {{"blocked_ns", "BLOCKED", CellKind::kDuration},
       [](const ChainItem& item) { return ticks_to_ns(item.texts.recording(), item.link().time); }},
      {{"share", "SHARE", CellKind::kPercent},
       [](const ChainItem& item) {
         return 100.0 * static_cast<double>(item.link().time) / static_cast<double>(item.chains.wait_time());
       }},
      {{"times", "TIMES", CellKind::kCount}, [](const ChainItem& item) { return item.link().times; }},
      {{"length", "LENGTH", CellKind::kNumber, false, true}, [](const ChainItem& item) { return item.link().length; }},
      {{"pid", "PID", CellKind::kNumber, false, true},
       [](const ChainItem& item) {
         if (item.link().object == kNoIndex) return Cell{};
         return Cell{item.texts.pid(item.texts.held().objects()[item.link().object].process)};
       }},
      {{"chain", "CHAIN", CellKind::kText, true},
       [](const ChainItem& item) { return chain_text(item.texts, item.chains, item.index); },
       Fill::kWhenShown}};
}

// `locks`: chains that begin with a lock; else the others. `links` is sorted by time, and the table stays so.
Table chains_table(const WaitChains& chains, const WaitTexts& texts, const std::vector<uint32_t>& links, bool locks) {
  std::vector<ChainItem> items;
  for (const uint32_t index : links)
    if (is_of_lock(texts, chains.links()[index]) == locks) items.push_back({texts, chains, index});
  Table table;
  table.key = locks ? "chains" : "other_chains";
  table.title = locks ? "Waits for locks" : "Waits for what other threads do";
  table.details_key = "links";
  chain_columns().fill(table, std::move(items), [](TableRow& row, ChainItem& item) {
    describe_chain(item.texts, item.chains, item.index, row);
  });
  return table;
}

void add_head(const WaitChains& chains, const WaitTexts& texts, const std::vector<uint32_t>& links, Report& report) {
  if (chains.waits() == 0) {
    report.head.push_back("No thread is known to have waited for another.");
    return;
  }
  uint64_t for_locks = 0;
  const ChainLink* worst = nullptr;
  for (const uint32_t index : links) {
    const ChainLink& link = chains.links()[index];
    if (!is_of_lock(texts, link)) continue;
    for_locks += link.time;
    // `links` has the most time first, so the first lock with a known holder is the worst.
    if (worst == nullptr && link.holder != kNoIndex) worst = &link;
  }
  const auto time = [&](uint64_t ticks) { return duration_text(ticks_to_ns(texts.recording(), ticks)); };
  report.head.push_back(fmt::format("{} of {} in all, {} of it for locks",
                                    plural_text(static_cast<int64_t>(chains.waits()), "wait"), time(chains.wait_time()),
                                    time(for_locks)));
  if (worst == nullptr) return;
  std::string text = fmt::format("The most in one chain: {} for {} while {} had it", time(worst->time),
                                 texts.object(worst->object), holder_text(texts, *worst));
  if (worst->next != kNoIndex)
    text += fmt::format(" and waited itself for {}", object_text(texts, chains.links()[worst->next]));
  report.head.push_back(text + ".");
}

}  // namespace

// Hangs come first, then waits that ended, then what makes the numbers incomplete.
Report chains_report(const WaitChains& chains, const Deadlocks& deadlocks, const WaitTexts& texts,
                     std::span<const uint64_t> ends) {
  const std::vector<uint32_t> links = chains.by_time();
  Report report;
  report.head = deadlock_sentences(deadlocks, texts);
  add_head(chains, texts, links, report);
  Table stuck = deadlock_table(deadlocks, texts, ends);
  stuck.is_aside = true;
  report.add(std::move(stuck));
  for (const bool locks : {true, false}) report.add(chains_table(chains, texts, links, locks));
  if (chains.still_waiting() != 0)
    report.tail.push_back(fmt::format("{} not over when the recording ended: {} until then.",
                                      plural_text(static_cast<int64_t>(chains.still_waiting()), "wait"),
                                      chains.still_waiting() == 1 ? "it counts" : "they count"));
  if (lock_sample(texts.recording()) > 1)
    report.tail.push_back(
        "Only a sample of the acquisitions was recorded (record --sample-locks): where holders took their lock is "
        "often not "
        "known.");
  if (chains.impossible() != 0)
    report.tail.push_back(fmt::format("{} that began after they ended: their time is not known.",
                                      plural_text(static_cast<int64_t>(chains.impossible()), "wait")));
  if (chains.held().unfinished() != 0)
    report.tail.push_back(
        fmt::format("{} of which the end was not recorded: they count until their thread's next event.",
                    plural_text(static_cast<int64_t>(chains.held().unfinished()), "wait")));
  return report;
}

}  // namespace penna
