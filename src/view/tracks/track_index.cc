// SPDX-License-Identifier: MIT
// See track_index.h.
#include "view/tracks/track_index.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "export/text/event_words.h"
#include "view/tracks/name_numbers.h"

namespace penna {
namespace {

constexpr size_t kMostOfLeaf = 4096;  // if a leaf has no chunks
constexpr size_t kKeptCalls = 48, kKeptLocks = 16;
constexpr uint64_t kEventsAtOnce = 1u << 16;  // between checks whether to stop

class ThreadIndexer {
 public:
  ThreadIndexer(const IndexingTask& task, uint32_t thread, const CodeMap& map, Counters* counters)
      : task_(task),
        recording_(task.recording),
        thread_(thread),
        process_(recording_.threads()[thread].process),
        begin_ns_(recording_.time().monotonic_ns(task.begin)),
        is_filtered_(call_rules(recording_) != nullptr || point_conditions(recording_) != nullptr),
        holds_back_(!recording_.processes()[process_].with_arguments.empty()),
        timeline_(recording_, process_, thread, false),
        names_(map, process_),
        counters_(counters),
        trees_{SpanTreeWriter({kKeptCalls, true}, task.store), SpanTreeWriter({kKeptLocks, false}, task.store),
               SpanTreeWriter({kKeptLocks, false}, task.store), SpanTreeWriter({0, false}, task.store)} {
    leaf_.calls_ok = leaf_.points_ok = !is_filtered_;
  }

  TrackIndex run(bool ahead, WalkReport* walk) {
    EventFilter filter{.classes = kAllRecords};
    filter.thread = thread_;
    if (!filter.wants_thread(recording_, thread_)) return {};
    ThreadCursor cursor(recording_, thread_, filter, ahead ? std::make_shared<Unpackers>() : nullptr);
    uint64_t events = 0;
    while (cursor.next()) {
      const Event& event = cursor.event();
      if (!is_filtered_ && cursor.chunk() != chunk_) begin_chunk(event, cursor.chunk());
      add(event);
      if (++events % kEventsAtOnce == 0) {
        task_.events += kEventsAtOnce;
        if (task_.stop) return {};
      }
    }
    task_.events += events % kEventsAtOnce;
    walk->events += events;
    walk->add(cursor);
    // Before spans that never ended are emitted: their end is in no chunk.
    end_leaf(true);
    (void)timeline_.finish(true, [this](const TimelineLine& line) { return take(line); });
    return finish();
  }

 private:
  struct Open {
    uint64_t begin, what;  // ticks; pc or site
    int64_t start;
    uint32_t row, name;
    uint64_t leaf;
  };
  // The open leaf, begun where the last chunk ended one.
  struct Leaf {
    bool calls_ok = true, points_ok = true;  // can be read from its chunks
    bool is_aligned = true;                  // begins at the start of a chunk
    uint32_t first_chunk = 0;
    uint64_t floor = 0;
    std::vector<uint32_t> open;
  };

  int64_t ns(uint64_t ticks) const { return recording_.time().monotonic_ns(ticks) - begin_ns_; }

  void add(const Event& event) {
    last_time_ = event.time;
    if (event.record.kind == PENNA_KIND_JUMP) {
      const uint32_t what = event.record.as<penna_jump>().what;
      has_stacks_ |= what == PENNA_JUMP_MAKE || what == PENNA_JUMP_SWITCH;
      leaf_.calls_ok = false;
    }
    if (event.inherited) leaf_.calls_ok = false;
    (void)timeline_.add(event, [this](const TimelineLine& line) { return take(line); });
    if (is_of_locks(event)) add_again(event);
    const auto is_full = [](const SpanTreeWriter& tree) { return tree.spans_in_leaf() >= kMostOfLeaf; };
    if (!leaf_.calls_ok && std::any_of(trees_.begin(), trees_.end(), is_full)) end_leaf(false);
  }
  // Reads waits and holds again without knowledge of events before the leaf.
  void add_again(const Event& event) {
    if (!again_) again_ = std::make_unique<Timeline>(recording_, process_, thread_, false);
    Event unseen = event;
    unseen.after_loss = false;
    (void)again_->add(unseen, [this](const TimelineLine& line) {
      if (const auto one = lock_span(line)) again_spans_[one->first].push_back(one->second);
      return true;
    });
  }
  // `event` is its first.
  void begin_chunk(const Event& event, size_t chunk) {
    // An entry that waits for its values belongs to the chunk after it, unless the values are in the next.
    const uint32_t kind = event.record.kind;
    const bool is_late = holds_back_ && (kind == PENNA_KIND_VALUES || kind == PENNA_KIND_THREAD ||
                                         kind == PENNA_KIND_LOST || kind == PENNA_KIND_BLOCKED);
    if (holds_back_ && !is_late) (void)timeline_.catch_up([this](const TimelineLine& line) { return take(line); });
    size_t spans = std::max<size_t>(begun_, trees_[TrackIndex::kCalls].spans_in_leaf());
    for (const TrackIndex::Kind one : {TrackIndex::kWaits, TrackIndex::kHolds, TrackIndex::kPoints})
      spans += trees_[one].spans_in_leaf();
    end_chunk_ = static_cast<uint32_t>(chunk);
    if (is_late || !leaf_.is_aligned || spans >= task_.spans_of_leaf) end_leaf(true);
    if (is_late) leaf_.calls_ok = false;
    chunk_ = chunk;
    end_chunk_ = static_cast<uint32_t>(chunk) + 1;
  }
  // `at_end`: at the end of a chunk.
  void end_leaf(bool at_end) {
    const bool whole = leaf_.is_aligned && at_end;
    const SpanNode::Chunks plain{leaf_.first_chunk, end_chunk_, leaf_.floor, {}};
    const int64_t next = ns(last_time_);
    for (const TrackIndex::Kind kind : {TrackIndex::kWaits, TrackIndex::kHolds}) {
      const std::span<const Span> seen = trees_[kind].in_leaf();
      std::vector<Span>& again = again_spans_[kind];
      const bool same = std::equal(seen.begin(), seen.end(), again.begin(), again.end());
      trees_[kind].end_leaf(next, whole && !is_filtered_ && same ? plain : SpanNode::Chunks{});
      again.clear();
    }
    again_.reset();
    trees_[TrackIndex::kPoints].end_leaf(next, whole && leaf_.points_ok ? plain : SpanNode::Chunks{});
    SpanNode::Chunks chunks = plain;
    chunks.open = std::move(leaf_.open);
    trees_[TrackIndex::kCalls].end_leaf(next, whole && leaf_.calls_ok ? std::move(chunks) : SpanNode::Chunks{});
    leaf_ = {};
    leaf_.first_chunk = end_chunk_;
    leaf_.floor = last_time_;
    leaf_.is_aligned = at_end;
    leaf_.points_ok = !is_filtered_;
    leaf_.calls_ok = !is_filtered_ && !has_stacks_ && depth_ <= kMostDepth;
    begun_ = 0;
    if (!leaf_.calls_ok) return;
    for (size_t depth = 0; depth < depth_; ++depth) {
      if (open_[depth].size() != 1) return void(leaf_.calls_ok = false);
      leaf_.open.push_back(open_[depth].back().name);
    }
  }

  bool take(const TimelineLine& line) {
    switch (line.kind) {
      case LineKind::kEnter:
      case LineKind::kSpanBegin: enter(line); break;
      case LineKind::kLeave:
      case LineKind::kSpanEnd: leave(line); break;
      case LineKind::kPoint: point(line); break;
      default: lock(line); break;
    }
    return true;
  }
  void enter(const TimelineLine& line) {
    const bool is_span = line.kind == LineKind::kSpanBegin;
    if (open_.size() <= line.depth) open_.resize(line.depth + 1);
    uint32_t row = line.depth;
    while (row < kMostDepth && row < busy_.size() && busy_[row]) ++row;
    if (row < kMostDepth) {
      if (busy_.size() <= row) busy_.resize(row + 1);
      busy_[row] = true;
    }
    open_[line.depth].push_back({line.begin, is_span ? line.site : line.pc, ns(line.begin), row,
                                 names_.number(line, is_span ? LineKind::kSpanEnd : LineKind::kLeave),
                                 trees_[TrackIndex::kCalls].leaf()});
    depth_ = line.depth + 1;
    ++begun_;
  }
  void leave(const TimelineLine& line) {
    const uint64_t what = line.kind == LineKind::kSpanEnd ? line.site : line.pc;
    if (line.depth >= open_.size()) return;
    std::vector<Open>& at_depth = open_[line.depth];
    const auto found = std::find_if(at_depth.rbegin(), at_depth.rend(),
                                    [&](const Open& one) { return one.begin == line.begin && one.what == what; });
    if (found == at_depth.rend()) return;
    const Open call = *found;
    at_depth.erase(std::next(found).base());
    depth_ = line.depth;
    counters_->count(Counters::kCalls, call.start);
    if (call.row >= kMostDepth) {
      ++made_.calls_left_out;
      return;
    }
    busy_[call.row] = false;
    made_.rows = std::max(made_.rows, call.row + 1);
    const Span span{call.start, ns(line.begin + line.duration) - call.start, call.row, call.name,
                    static_cast<uint8_t>((line.inherited ? Slices::kBeginUnknown : 0) |
                                         (line.end == CallEnd::kOpen ? Slices::kEndUnknown : 0))};
    count(TrackIndex::kCalls, call.name, span);
    trees_[TrackIndex::kCalls].add(span, call.leaf);
  }
  std::optional<std::pair<TrackIndex::Kind, Span>> lock_span(const TimelineLine& line) {
    return span_of_locks(line, task_.threads, names_, [this](uint64_t ticks) { return ns(ticks); });
  }
  void lock(const TimelineLine& line) {
    const auto one = lock_span(line);
    if (!one) return;
    if (one->first == TrackIndex::kWaits) counters_->count(Counters::kWaits, one->second.start);
    count(one->first, one->second.row, one->second);
    trees_[one->first].add(one->second);
  }
  void point(const TimelineLine& line) {
    if (line.record->kind != PENNA_KIND_POINT) leaf_.points_ok = false;
    const uint32_t name = names_.number(line, LineKind::kPoint);
    const Span span{ns(line.time), 0, name, 0, 0};
    counters_->count(Counters::kPoints, span.start);
    count(TrackIndex::kPoints, name, span);
    trees_[TrackIndex::kPoints].add(span, trees_[TrackIndex::kPoints].leaf());
  }
  void count(TrackIndex::Kind kind, uint32_t number, const Span& span) {
    ++made_.counts[kind];
    TrackName& name = names_[number];
    ++name.count;
    name.total = add_times(name.total, span.duration);
    if (span.duration > name.longest.duration) name.longest = {span.start, span.duration, span.row};
  }
  TrackIndex finish() {
    for (size_t kind = 0; kind < TrackIndex::kKinds; ++kind) made_.roots[kind] = trees_[kind].finish();
    made_.names = names_.take();
    return std::move(made_);
  }

  const IndexingTask& task_;
  const Recording& recording_;
  const uint32_t thread_, process_;
  const int64_t begin_ns_;
  const bool is_filtered_;
  const bool holds_back_;  // entries, until their values arrive
  Timeline timeline_;
  std::unique_ptr<Timeline> again_;  // of the leaf's waits and holds
  std::array<std::vector<Span>, TrackIndex::kKinds> again_spans_;
  NameNumbers names_;
  Counters* counters_;
  std::array<SpanTreeWriter, TrackIndex::kKinds> trees_;
  std::vector<std::vector<Open>> open_;  // by depth; several only if a thread has several stacks
  size_t depth_ = 0;                     // on the running stack
  std::vector<bool> busy_;               // rows in use
  bool has_stacks_ = false;
  Leaf leaf_;
  size_t chunk_ = SIZE_MAX;
  uint32_t end_chunk_ = 0;
  uint64_t begun_ = 0;  // calls begun in the leaf
  uint64_t last_time_ = 0;
  TrackIndex made_;
};

bool is_name_kind(uint64_t kind) {
  switch (static_cast<LineKind>(kind)) {
    case LineKind::kLeave:
    case LineKind::kSpanEnd:
    case LineKind::kLockWait:
    case LineKind::kConditionWait:
    case LineKind::kBlocked:
    case LineKind::kUnlock:
    case LineKind::kPoint: return kind <= UINT8_MAX;
    default: return false;
  }
}

}  // namespace

TimelineLine TrackName::line(uint32_t process) const {
  TimelineLine line;
  line.kind = kind;
  line.process = process;
  line.time = time;
  line.pc = kind == LineKind::kLeave ? value : 0;
  line.site = kind == LineKind::kSpanEnd || kind == LineKind::kPoint ? static_cast<uint32_t>(value) : 0;
  line.address = line.pc == 0 && line.site == 0 ? value : 0;
  line.sync = sync;
  line.owner = owner;
  return line;
}

TrackWait::Kind TrackName::wait_kind() const {
  if (kind == LineKind::kBlocked) return TrackWait::kOther;
  if (kind == LineKind::kConditionWait) return TrackWait::kCondition;
  if (sync == PENNA_SYNC_JOIN) return TrackWait::kJoin;
  return is_lock(sync) ? TrackWait::kLock : TrackWait::kOther;
}

void TrackIndex::write(NumberWriter& out) const {
  for (const NodeRef& root : roots) write_ref(out, root);
  for (const uint64_t count : counts) out.number(count);
  out.number(rows);
  out.number(calls_left_out);
  out.number(names.size());
  for (const TrackName& name : names) {
    out.number(static_cast<uint64_t>(name.kind));
    out.number(name.value);
    out.number(name.time);
    out.number(name.sync);
    out.number(name.owner);
    out.number(static_cast<uint64_t>(int64_t{name.holder} + 1));
    out.number(name.count);
    out.number(static_cast<uint64_t>(name.total));
    out.difference(name.longest.start);
    out.difference(name.longest.duration);
    out.number(name.longest.depth);
  }
}

std::optional<TrackIndex> TrackIndex::read(NumberReader& in, size_t threads) {
  TrackIndex track;
  for (NodeRef& root : track.roots) root = read_ref(in);
  for (uint64_t& count : track.counts) count = in.number();
  track.rows = in.small();
  track.calls_left_out = in.number();
  track.names.resize(in.count(11));
  for (TrackName& name : track.names) {
    const uint64_t kind = in.number();
    name.kind = static_cast<LineKind>(kind);
    name.value = in.number();
    name.time = in.number();
    name.sync = static_cast<penna_sync>(in.number());
    name.owner = in.small();
    const uint64_t holder = in.number();
    name.holder = static_cast<int32_t>(holder) - 1;
    name.count = in.number();
    name.total = in.length();
    name.longest.start = in.time(0, in.difference());
    name.longest.duration = in.time(0, in.difference());
    name.longest.depth = in.small();
    if (!is_name_kind(kind) || holder > threads) return {};
  }
  if (!in.ok()) return {};
  return track;
}

TrackIndex index_thread(const IndexingTask& task, uint32_t thread, const CodeMap& map, bool ahead, Counters* counters,
                        WalkReport* walk) {
  return ThreadIndexer(task, thread, map, counters).run(ahead, walk);
}

}  // namespace penna
