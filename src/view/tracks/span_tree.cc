// SPDX-License-Identifier: MIT
// See span_tree.h.
#include "view/tracks/span_tree.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hash.h"

namespace penna {

void SpanSum::add(const SpanSum& other) {
  first = std::min(first, other.first);
  last = std::max(last, other.last);
  last_end = std::max(last_end, other.last_end);
  count += other.count;
  time = add_times(time, other.time);
}

namespace {

void sort_by_start(std::vector<Span>& spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span& one, const Span& other) {
    return one.start != other.start ? one.start < other.start : one.row < other.row;
  });
}

// Moves the longest to the front; returns how many.
size_t longest_first(std::vector<Span>& spans, size_t most) {
  if (spans.size() <= most) return spans.size();
  std::nth_element(spans.begin(), spans.begin() + static_cast<ptrdiff_t>(most), spans.end(),
                   [](const Span& one, const Span& other) { return one.duration > other.duration; });
  return most;
}

std::vector<uint32_t> sorted_once(std::vector<uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace

// By cell of time and row. The time of each name is summed before the one with most is chosen.
std::vector<SpanSum> SpanTreeWriter::sums_of(const std::vector<SpanSum>& all) const {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const SpanSum& one : all) begin = std::min(begin, one.first), end = std::max(end, one.first);
  const int64_t width = all.empty() ? 1 : (end / 2 - begin / 2) / static_cast<int64_t>(kCells / 2) + 1;
  struct NameTime {
    size_t sum;
    uint32_t name;
    int64_t time;
  };
  std::vector<SpanSum> sums;
  std::vector<NameTime> times;
  NumberMap<size_t> by_cell, by_name;
  for (const SpanSum& one : all) {
    const uint64_t cell = static_cast<uint64_t>((one.first - begin) / width) << 32 | one.row;
    const auto [found, is_new] = by_cell.try_emplace(cell, sums.size());
    if (is_new)
      sums.push_back(one);
    else
      sums[found->second].add(one);
    if (!shape_.has_names) continue;
    const auto [name, is_first] = by_name.try_emplace(uint64_t{found->second} << 32 | one.name, times.size());
    if (is_first) times.push_back({found->second, one.name, 0});
    times[name->second].time = add_times(times[name->second].time, one.name_time);
  }
  for (SpanSum& sum : sums) sum.name = 0, sum.name_time = -1;
  for (const NameTime& one : times)
    if (one.time > sums[one.sum].name_time) sums[one.sum].name = one.name, sums[one.sum].name_time = one.time;
  for (SpanSum& sum : sums) {
    sum.name_time = std::max<int64_t>(sum.name_time, 0);
    if (shape_.has_names) sum.last_end = sum.first;
  }
  std::sort(sums.begin(), sums.end(), [](const SpanSum& one, const SpanSum& other) {
    return one.row != other.row ? one.row < other.row : one.first < other.first;
  });
  return sums;
}

void SpanTreeWriter::summarize(Level& level, SpanNode* node, NodeRef* ref) const {
  std::vector<Span> spans = level.own;
  std::vector<SpanSum> rest;
  ref->begin = INT64_MAX, ref->last_start = ref->last_end = INT64_MIN;
  for (const Span& span : level.own) {
    ref->begin = std::min(ref->begin, span.start);
    ref->last_start = std::max(ref->last_start, span.start);
    ref->last_end = std::max(ref->last_end, span.end());
    if (shape_.has_names) node->names.push_back(span.name);
  }
  for (const Summary& child : level.children) {
    spans.insert(spans.end(), child.kept.begin(), child.kept.end());
    rest.insert(rest.end(), child.sums.begin(), child.sums.end());
    node->names.insert(node->names.end(), child.names.begin(), child.names.end());
    ref->begin = std::min(ref->begin, child.ref.begin);
    ref->last_start = std::max(ref->last_start, child.ref.last_start);
    ref->last_end = std::max(ref->last_end, child.ref.last_end);
    ref->longest_summed = std::max(ref->longest_summed, child.ref.longest_summed);
  }
  const size_t kept = longest_first(spans, shape_.kept);
  for (size_t i = kept; i < spans.size(); ++i) {
    rest.push_back(SpanSum::of(spans[i]));
    ref->longest_summed = std::max(ref->longest_summed, spans[i].duration);
  }
  spans.resize(kept);
  sort_by_start(spans);
  node->kept = std::move(spans);
  node->sums = sums_of(rest);
  for (const SpanSum& sum : node->sums) ref->spread = std::max(ref->spread, sum.last - sum.first);
  node->names = sorted_once(std::move(node->names));
}

void SpanTreeWriter::put(size_t level, const Span& span) {
  while (levels_.size() <= level) levels_.emplace_back();
  levels_[level].own.push_back(span);
}

void SpanTreeWriter::add(const Span& span, uint64_t begun_in) {
  size_t level = 0;
  while (begun_in >> (kFanoutBits * level) != leaf_ >> (kFanoutBits * level)) ++level;
  put(level, span);
}

void SpanTreeWriter::add(const Span& span) {
  size_t level = 0;
  while (level < levels_.size() && span.start < levels_[level].begin) ++level;
  put(level, span);
}

void SpanTreeWriter::close(size_t at, int64_t begin, SpanNode::Chunks chunks) {
  while (levels_.size() <= at + 1) levels_.emplace_back();
  Level level = std::exchange(levels_[at], {});
  levels_[at].begin = begin;
  if (level.own.empty() && level.children.empty()) return;
  SpanNode node;
  Summary made;
  summarize(level, &node, &made.ref);
  for (const Summary& child : level.children) node.children.push_back(child.ref);
  if (!chunks) {
    node.own = std::move(level.own);
    sort_by_start(node.own);
  }
  node.chunks = std::move(chunks);
  const std::vector<uint8_t> bytes = encode_node(node);
  made.ref.offset = store_(bytes);
  made.ref.bytes = static_cast<uint32_t>(bytes.size());
  made.kept = std::move(node.kept);
  made.sums = std::move(node.sums);
  made.names = std::move(node.names);
  levels_[at + 1].children.push_back(std::move(made));
}

void SpanTreeWriter::end_leaf(int64_t begin, SpanNode::Chunks chunks) {
  close(0, begin, std::move(chunks));
  ++leaf_;
  for (size_t level = 1; (leaf_ & ((uint64_t{1} << (kFanoutBits * level)) - 1)) == 0 && level < levels_.size(); ++level)
    close(level, begin, {});
}

// Up to the single node that contains everything.
NodeRef SpanTreeWriter::finish() {
  if (spans_in_leaf() != 0) close(0, INT64_MAX, {});
  for (size_t level = 1; level < levels_.size(); ++level) {
    bool is_above = false;
    for (size_t higher = level + 1; higher < levels_.size(); ++higher)
      is_above |= !levels_[higher].own.empty() || !levels_[higher].children.empty();
    const Level& one = levels_[level];
    if (!is_above && one.own.empty() && one.children.size() <= 1)
      return one.children.empty() ? NodeRef{} : one.children[0].ref;
    close(level, INT64_MAX, {});
  }
  return {};
}

}  // namespace penna
