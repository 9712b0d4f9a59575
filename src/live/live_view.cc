// SPDX-License-Identifier: MIT
// See live_view.h.
#include "live/live_view.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/printable.h"
#include "base/say.h"
#include "collect/clocks.h"
#include "model/events/summary.h"
#include "penna/clock.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr size_t kBehind = 4 << 20;  // bytes of records that may wait before lines are left out: half a second's work
constexpr size_t kMaxHeldLines = 4096;     // per tree
constexpr int kNice = 10;                  // the program and the collector come first
constexpr std::chrono::seconds kEager(1);  // except for the first lines, which a user waits for
constexpr int kLastPatienceMs = 2000;      // at the end, if there is a reader

}  // namespace

// A thread being shown, with its own timeline and, in tree forms, its own tree.
struct LiveView::Shown {
  uint32_t index = 0;  // of the thread in the recording
  Key key;
  std::unique_ptr<Timeline> timeline;
  std::unique_ptr<TreeLines> tree;
  uint64_t last_time = 0;
  bool titled = false;
  bool missed = false;       // lines of it were left out: the tree is behind
  bool gap = false;          // records of it were dropped: exits may come for calls that were not seen
  bool was_holding = false;  // the tree has held lines back since the last batch
};

// The records of one thread in one batch, in order. `slices` point into the batch.
struct LiveView::Stream {
  Shown* thread = nullptr;
  std::vector<const LiveRecords*> slices;
  size_t next = 0;
  RecordCursor cursor{{}};
  Event event;
};

// The calls that were open in the parent's thread when a child was forked. Parent and child arrive through different
// channels, in any order: the calls are passed on when the parent reports something later than the fork, or at the
// child's first event, whichever comes first.
struct LiveView::Fork {
  Key parent;
  uint64_t ticks = 0;
  bool handed_on = false;
  std::vector<uint64_t> pcs;  // outermost first
};

LiveView::LiveView(LiveForm form, bool color, const Session& session, const ClockTriplet& start, SymbolSource& symbols,
                   int fd, NameStyle style, std::unique_ptr<LiveFilter> filter)
    : form_(form),
      symbols_(symbols),
      style_(std::move(style)),
      filter_(std::move(filter)),
      output_(fd),
      live_(session, start) {
  names_.emplace(live_.recording(), symbols_, style_);
  const auto put = [this](std::string_view text) {
    output_.put(text);
    return true;
  };
  printer_.emplace(live_.recording(), *names_, ReplayStyle{{color, 0}, false}, put);
  printer_->set_begin(start.ticks);
}

LiveView::~LiveView() {
  if (thread_.joinable()) finish();
}

Result<> LiveView::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return Error{fmt::format("cannot start a thread: {}", errno_text(error.code().value()))};
  }
  return ok();
}

// The collector must have stopped: nothing more is added to the feed.
void LiveView::finish() {
  feed_.close();
  if (thread_.joinable()) thread_.join();
}

void LiveView::run() {
  if (form_ == LiveForm::kLines) printer_->titles();
  const auto began = std::chrono::steady_clock::now();
  bool is_nice = false;
  // One batch behind: what another thread described before its use has come with the next batch at the latest.
  LiveBatch batch, next;
  for (bool more = true; more;) {
    more = feed_.take(next);
    // Taken before the next batch is shown: everything that happened until then is in it or before it.
    const uint64_t now = penna_now();
    learn(next);
    show(batch);
    if (!is_nice && std::chrono::steady_clock::now() - began > kEager) {
      // Only for this thread: on Linux a nice value belongs to a thread, see setpriority(2).
      ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
      is_nice = true;
    }
    batch = std::exchange(next, {});
    if (!more) show(batch);
    complete_until_ = now;
    (void)output_.flush(0);
    // No reader: the feed drops everything from here on, and the recording goes on.
    if (output_.is_over()) feed_.turn_off();
  }
  (void)output_.flush(kLastPatienceMs);  // now there is time
  report_missing();
  (void)output_.flush(kLastPatienceMs);
  if (output_.error() != 0)
    say(fmt::format("events are missing on standard output: {}; the recording has them", errno_text(output_.error())));
}

// Takes the descriptions from a batch: processes, stacks, modules, sites and names, which records of other threads in
// the same batch may use.
void LiveView::learn(const LiveBatch& batch) {
  if (output_.is_over()) return;
  if (!batch.records.empty()) live_.set_clock(read_clocks());
  for (const Process& process : batch.began) {
    processes_[process.number] = live_.add_process(process);
    if (!process.after_exec && process.forked_by != 0) fork(process);
    if (filter_) filter_->began(process);
  }
  for (const LiveStacks& stacks : batch.stacks)
    if (auto found = processes_.find(stacks.process); found != processes_.end())
      live_.add_stacks(found->second, stacks.first, stacks.nodes);
  for (const LiveRecords& records : batch.records) {
    describe(records);
    if (filter_) filter_->learn(records);
  }
  // Names caches look-ups: with new modules it starts over.
  if (live_.prepare()) names_.emplace(live_.recording(), symbols_, style_);
}

// Reduces the batch to what the filter keeps.
void LiveView::sift(LiveBatch& batch) {
  std::vector<LiveRecords> kept;
  for (LiveRecords& records : batch.records) filter_->add(std::move(records), kept);
  filter_->wait_until(complete_until_, kept);
  for (const ProcessEnd& ended : batch.ended) filter_->end(ended.number, kept);
  batch.records.swap(kept);
  batch.bytes = 0;
  for (const LiveRecords& records : batch.records) batch.bytes += records.chunk.size();
}

void LiveView::show(LiveBatch& batch) {
  if (output_.is_over()) return;
  if (filter_) sift(batch);
  bytes_ahead_ = batch.bytes;
  std::vector<Stream> streams = streams_of(batch);
  if (!forks_.empty())  // parents first
    std::stable_sort(streams.begin(), streams.end(),
                     [](const Stream& a, const Stream& b) { return a.thread->index < b.thread->index; });
  form_ == LiveForm::kLines ? by_time(streams) : one_after_the_other(streams);
  bytes_ahead_ = 0;
  catch_up();
  for (const ProcessEnd& ended : batch.ended) end(ended);
}

// ---- Descriptions

// A thread becomes known with its first records: nothing else announces it.
LiveView::Shown& LiveView::thread_of(const LiveRecords& records) {
  const penna_chunk header = RecordCursor(records.chunk).header();
  const auto found = threads_.find({records.process, header.thread_serial});
  if (found != threads_.end()) return found->second;
  const uint32_t process = processes_.at(records.process);
  const uint32_t index = live_.add_thread(process, header.thread_serial, header.tid);
  Shown& added = threads_[{records.process, header.thread_serial}];
  added.index = index;
  added.key = {records.process, header.thread_serial};
  begin(added);
  return added;
}

// This looks at every record of the batch an extra time; events are only skipped.
void LiveView::describe(const LiveRecords& records) {
  if (processes_.count(records.process) == 0) return;
  const Shown& thread = thread_of(records);
  const uint32_t process = processes_.at(records.process);
  RecordCursor in(records.chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind == PENNA_KIND_MODULE) {
      if (auto module = decode_module(record)) {
        module->ticks = record.time;
        live_.add_module(process, std::move(*module));
      }
    } else if (record.kind == PENNA_KIND_SITE) {
      if (auto site = decode_site(record)) live_.add_site(process, std::move(*site));
    } else if (record.kind == PENNA_KIND_THREAD) {
      const uint32_t other = decode_named_thread(record).serial;
      const auto named = threads_.find({records.process, other});
      if (other == 0 || named != threads_.end())
        live_.name_thread(other == 0 ? thread.index : named->second.index, decode_thread_name(record));
    }
  }
}

// ---- Records

// One stream per thread of the batch, in the order in which the threads first appear.
std::vector<LiveView::Stream> LiveView::streams_of(const LiveBatch& batch) {
  std::vector<Stream> streams;
  std::map<const Shown*, size_t> of_thread;
  for (const LiveRecords& records : batch.records) {
    if (processes_.count(records.process) == 0) continue;
    Shown& thread = thread_of(records);
    const auto [found, added] = of_thread.try_emplace(&thread, streams.size());
    if (added) streams.emplace_back().thread = &thread;
    streams[found->second].slices.push_back(&records);
  }
  return streams;
}

// The stream's next record as its event; false at its end. Times that go backwards (a clock that differs between
// processors) are held at the last one: the merge relies on rising times.
bool LiveView::advance(Stream& stream) {
  Shown& thread = *stream.thread;
  while (!stream.cursor.next(stream.event.record)) {
    if (stream.next != 0) bytes_ahead_ -= std::min(bytes_ahead_, stream.slices[stream.next - 1]->chunk.size());
    if (stream.next == stream.slices.size()) return false;
    const LiveRecords& records = *stream.slices[stream.next++];
    stream.cursor = RecordCursor(records.chunk);
    if (records.calls_dropped + records.others_dropped == 0) continue;
    if (records.calls_dropped != 0) lose_track(thread);
    calls_missing_ += records.calls_dropped;
    others_missing_ += records.others_dropped;
  }
  thread.last_time = std::max(thread.last_time, stream.event.record.time);
  stream.event.time = thread.last_time;
  stream.event.thread = thread.index;
  stream.event.process = live_.recording().threads()[thread.index].process;
  return true;
}

void LiveView::show_next(Stream& stream) {
  Shown& thread = *stream.thread;
  if (!forks_.empty()) {
    hand_on_calls(thread, stream.event);
    inherit(thread, stream.event);
  }
  thread.timeline->add(stream.event, [&](const TimelineLine& next) { return line(thread, next); });
}

// Several processes may have used a pid: the newest with that pid is the parent.
void LiveView::fork(const Process& child) {
  for (auto parent = processes_.rbegin(); parent != processes_.rend(); ++parent) {
    if (live_.recording().processes()[parent->second].process.pid != child.parent_pid) continue;
    const uint32_t index = processes_[child.number];
    const Key thread{parent->first, child.forked_by};
    forks_[index] = {thread, child.fork_ticks, false, {}};
    children_[thread].push_back(index);
    return;
  }
}

void LiveView::hand_on(Fork& fork) {
  fork.handed_on = true;
  if (const auto parent = threads_.find(fork.parent); parent != threads_.end())
    parent->second.timeline->for_each_open(SIZE_MAX, [&](const TimelineLine& open) { fork.pcs.push_back(open.pc); });
}

// Before the event is processed, while the calls that were open at the fork are still open. Programs may fork thousands
// of children that never report anything: only this thread's children are looked at.
void LiveView::hand_on_calls(const Shown& thread, const Event& event) {
  if (thread.key.second == 1)
    if (const auto own = forks_.find(event.process); own != forks_.end() && !own->second.handed_on)
      hand_on(own->second);
  const auto children = children_.find(thread.key);
  if (children == children_.end()) return;
  std::erase_if(children->second, [&](uint32_t child) {
    const auto fork = forks_.find(child);
    if (fork == forks_.end() || fork->second.handed_on) return true;
    if (event.time <= fork->second.ticks) return false;
    hand_on(fork->second);
    return true;
  });
  if (children->second.empty()) children_.erase(children);
}

// The child's first thread (serial 1) begins inside the calls that it inherited: entries are made up for them, at the
// time of the fork.
void LiveView::inherit(Shown& thread, const Event& event) {
  const auto found = forks_.find(event.process);
  if (found == forks_.end() || live_.recording().threads()[event.thread].serial != 1) return;
  Event entry = event;
  entry.time = std::min(found->second.ticks, event.time);
  entry.inherited = true;
  entry.record = {};
  entry.record.kind = PENNA_KIND_CALL_ENTRY;
  entry.record.time = entry.time;
  for (uint64_t pc : found->second.pcs) {
    entry.record.pc = pc;
    thread.timeline->add(entry, [&](const TimelineLine& next) { return line(thread, next); });
  }
  forks_.erase(found);
}

// Trees are per thread: within a batch, each thread's part stays together.
void LiveView::one_after_the_other(std::vector<Stream>& streams) {
  for (Stream& stream : streams)
    while (advance(stream)) show_next(stream);
}

// A k-way merge, as each thread's records are in order: O(n log threads).
void LiveView::by_time(std::vector<Stream>& streams) {
  std::vector<Stream*> heap;  // earliest on top
  for (Stream& stream : streams)
    if (advance(stream)) heap.push_back(&stream);
  const auto later = [](const Stream* a, const Stream* b) { return a->event.time > b->event.time; };
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    show_next(*heap.back());
    if (advance(*heap.back())) {
      std::push_heap(heap.begin(), heap.end(), later);
    } else {
      heap.pop_back();
    }
  }
}

// ---- Lines

// Whether a line can be shown, or must be left out: the view is too far behind, or the reader is.
bool LiveView::may_show() const { return bytes_ahead_ <= kBehind && output_.has_room(); }

bool LiveView::line(Shown& thread, const TimelineLine& line) {
  const bool begins_call = line.kind == LineKind::kEnter || line.kind == LineKind::kLeaf;
  // The timeline still sees every event, so that depths stay right: only lines are left out, and counted.
  if (!may_show()) {
    if (!thread.missed && thread.tree) (void)thread.tree->finish();
    thread.missed = true;
    calls_missing_ += begins_call;
    others_missing_ += !begins_call && line.kind != LineKind::kLeave && line.kind != LineKind::kSpanEnd;
    return true;
  }
  report_missing();
  if (form_ == LiveForm::kLines) {
    thread.missed = false;
    if (line.kind == LineKind::kStrayExit && thread.gap) return true;
    title(thread);
    return printer_->line(line);
  }
  if (thread.missed) {  // what is open has its place in the tree, but no line
    thread.missed = false;
    start_tree(thread);
    thread.timeline->for_each_open(line.depth, [&](const TimelineLine& open) { thread.tree->is_open(open); });
    TimelineLine left = line;
    left.kind = LineKind::kEnter;
    if (line.kind == LineKind::kLeave) thread.tree->is_open(left);
  }
  (void)thread.tree->line(line);
  if (thread.tree->held() > kMaxHeldLines) (void)thread.tree->catch_up();
  return true;
}

// The tree's own sink inserts the title before a line, as only it knows when a line is really printed.
void LiveView::start_tree(Shown& thread) {
  if (form_ == LiveForm::kLines) return;
  thread.tree = std::make_unique<TreeLines>(*printer_, tree_names_, form_ == LiveForm::kAll,
                                            [this, index = &thread](std::string_view text) {
                                              title(*index);
                                              output_.put(text);
                                              return true;
                                            });
}

// Records of this thread are missing, and with them which calls are open: it restarts at depth 0.
void LiveView::lose_track(Shown& thread) {
  thread.timeline->catch_up([&](const TimelineLine& next) { return line(thread, next); });
  if (thread.tree) (void)thread.tree->finish();
  thread.gap = true;
  thread.missed = false;
  lost_track_ = true;
  begin(thread);
}

// Leaves are folded into one line if lines are shown; a tree does its own folding.
void LiveView::begin(Shown& thread) {
  const Recording& recording = live_.recording();
  thread.timeline = std::make_unique<Timeline>(recording, recording.threads()[thread.index].process, thread.index,
                                               form_ == LiveForm::kLines);
  start_tree(thread);
}

// Before the next line shown, so that the gap appears where it occurred.
void LiveView::report_missing() {
  if (calls_missing_ + others_missing_ == 0) return;
  std::string what = plural_text(static_cast<int64_t>(calls_missing_), "call");
  if (calls_missing_ == 0) what.clear();
  if (others_missing_ != 0)
    what +=
        fmt::format("{}{}", what.empty() ? "" : " and ",
                    plural_text(static_cast<int64_t>(others_missing_), calls_missing_ != 0 ? "other event" : "event"));
  output_.put(fmt::format("... {} not shown: faster than they can be written{}\n", what,
                          lost_track_ ? "; the open calls are unknown" : ""));
  calls_missing_ = others_missing_ = 0;
  lost_track_ = false;
}

// Lines have a column for the thread, so each thread has its title once. Trees have one wherever another thread
// continues; except the first, which may be the only one.
void LiveView::title(Shown& thread) {
  if (last_shown_ == thread.index) return;
  const bool wanted = form_ == LiveForm::kLines ? !thread.titled : last_shown_ != kNoIndex;
  last_shown_ = thread.index;
  thread.titled = true;
  if (wanted) printer_->thread_title(thread.index);
}

// Folding and leaves hold lines back. What was held back for a whole batch is shown, so that a waiting program is
// visibly waiting in the call that it is in.
void LiveView::catch_up() {
  for (auto& [key, thread] : threads_) {
    if (!thread.tree) {
      thread.timeline->catch_up([&, shown = &thread](const TimelineLine& next) { return line(*shown, next); });
      continue;
    }
    if (thread.was_holding && thread.tree->held() > 1) (void)thread.tree->catch_up();
    thread.was_holding = thread.tree->held() > 1;
  }
}

// The process will record nothing more: what is open is closed, and all state kept for it is dropped.
void LiveView::end(const ProcessEnd& end) {
  const auto found = processes_.find(end.number);
  if (found == processes_.end()) return;
  const auto first = threads_.lower_bound({end.number, 0});
  auto last = first;
  for (; last != threads_.end() && last->first.first == end.number; ++last) {
    Shown& thread = last->second;
    std::string open;
    thread.timeline->finish(true, [&](const TimelineLine& next) {
      if (next.kind == LineKind::kLeave) open = printer_->function_name(next) + (open.empty() ? "" : " > " + open);
      return line(thread, next);
    });
    if (thread.tree) {
      (void)thread.tree->finish();
    } else if (!open.empty()) {
      output_.put("not left at the end: " + open + "\n");
    }
  }
  threads_.erase(first, last);
  children_.erase(children_.lower_bound({end.number, 0}), children_.upper_bound({end.number, UINT32_MAX}));
  if (end.how == EndKind::kSignaled) {
    const Process& process = live_.recording().processes()[found->second].process;
    output_.put(printable(fmt::format("# {}, pid {}, {}", process_name(process), process.pid, end_text(end))) + "\n");
  }
  forks_.erase(found->second);
  processes_.erase(found);
}

}  // namespace penna
