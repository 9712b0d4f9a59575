// SPDX-License-Identifier: MIT
// See chunk_spans.h.
#include "view/tracks/chunk_spans.h"

#include <algorithm>

namespace penna {

ChunkSpans::ChunkSpans(const Recording& recording, uint32_t thread, uint64_t begin, const CodeMap& map,
                       const std::vector<TrackName>& names)
    : recording_(recording),
      thread_(thread),
      process_(recording.threads()[thread].process),
      begin_(begin),
      known_(names),
      names_(map, process_, names) {}

// As from a ThreadCursor: times never decrease.
template <typename Visit>
void ChunkSpans::each_event(const SpanNode::Chunks& chunks, Visit&& visit) {
  const std::span<const ChunkRef> all = recording_.chunks(thread_);
  Event event;
  event.process = process_;
  event.thread = thread_;
  event.time = chunks.floor;
  for (size_t i = chunks.first; i < chunks.end && i < all.size(); ++i) {
    if (!recording_.read_chunk(all[i], bytes_)) continue;
    RecordCursor records(bytes_);
    while (records.next(event.record)) {
      event.time = std::max(event.time, event.record.time);
      visit(static_cast<const Event&>(event));
    }
  }
}

// The calls that are open where the chunks begin, as if they were entered there.
bool ChunkSpans::enter_open(const SpanNode::Chunks& chunks, Timeline& timeline) {
  const auto nothing = [](const TimelineLine&) { return true; };
  Event event;
  event.process = process_;
  event.thread = thread_;
  event.time = event.record.time = chunks.floor;
  for (const uint32_t number : chunks.open) {
    if (number >= known_.size()) return false;
    const TrackName& name = known_[number];
    const penna_point point{static_cast<uint32_t>(name.value), 0};
    if (name.kind == LineKind::kSpanEnd) {
      event.record.kind = PENNA_KIND_POINT;
      event.record.payload = reinterpret_cast<const uint8_t*>(&point);
      event.record.payload_bytes = sizeof point;
    } else {
      event.record.kind = PENNA_KIND_CALL_ENTRY;
      event.record.pc = name.value;
    }
    (void)timeline.add(event, nothing);
  }
  return true;
}

void ChunkSpans::calls(const SpanNode::Chunks& chunks, const SpanVisitor& visit) {
  Timeline timeline(recording_, process_, thread_, false);
  if (!enter_open(chunks, timeline)) return;
  size_t outer = chunks.open.size();  // number of those still open: their spans belong to other nodes
  const auto take = [&](const TimelineLine& line) {
    if (line.kind != LineKind::kLeave && line.kind != LineKind::kSpanEnd) return true;
    if (line.depth < outer) return outer = line.depth, true;
    if (line.depth >= kMostDepth) return true;
    const int64_t start = ns(line.begin);
    visit({start, ns(line.begin + line.duration) - start, line.depth, names_.number(line, line.kind),
           static_cast<uint8_t>(line.inherited ? Slices::kBeginUnknown : 0)});
    return true;
  };
  each_event(chunks, [&](const Event& event) {
    const uint32_t bit = class_bit(event.record.kind);
    if ((bit & (kCallEvents | kPointEvents)) != 0) (void)timeline.add(event, take);
  });
}

void ChunkSpans::locks(const SpanNode::Chunks& chunks, TrackIndex::Kind kind, const NumberMap<uint32_t>& threads,
                       const SpanVisitor& visit) {
  Timeline timeline(recording_, process_, thread_, false);
  const auto take = [&](const TimelineLine& line) {
    const auto one = span_of_locks(line, threads, names_, [this](uint64_t ticks) { return ns(ticks); });
    if (one && one->first == kind) visit(one->second);
    return true;
  };
  each_event(chunks, [&](const Event& event) {
    if (is_of_locks(event)) (void)timeline.add(event, take);
  });
}

void ChunkSpans::points(const SpanNode::Chunks& chunks,
                        const std::function<void(const Span&, const TimelineLine&)>& visit) {
  each_event(chunks, [&](const Event& event) {
    if (event.record.kind != PENNA_KIND_POINT) return;
    TimelineLine line;
    line.kind = LineKind::kPoint;
    line.process = process_;
    line.thread = thread_;
    line.time = line.begin = event.time;
    line.record = &event.record;
    line.site = event.record.as<penna_point>().site;
    const Site* site = recording_.site(process_, line.site);
    if (site != nullptr && (site->kind == PENNA_SITE_SPAN || site->kind == PENNA_SITE_SPAN_END)) return;
    const uint32_t name = names_.number(line, LineKind::kPoint);
    visit({ns(line.time), 0, name, 0, 0}, line);
  });
}

void LeafSpans::visit(const Leaf& leaf, const std::function<void(const SpanVisitor&)>& read, const SpanVisitor& visit) {
  const auto found = by_leaf_.find(leaf);
  if (found != by_leaf_.end()) {
    known_.splice(known_.begin(), known_, found->second);
  } else {
    known_.push_front({leaf, {}});
    read([this](const Span& span) { known_.front().spans.push_back(span); });
    by_leaf_[leaf] = known_.begin();
    spans_ += known_.front().spans.size();
    while (spans_ > kMostSpans && known_.size() > 1) {
      spans_ -= known_.back().spans.size();
      by_leaf_.erase(known_.back().leaf);
      known_.pop_back();
    }
  }
  for (const Span& span : known_.front().spans) visit(span);
}

}  // namespace penna
