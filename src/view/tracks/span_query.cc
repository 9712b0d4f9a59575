// SPDX-License-Identifier: MIT
// See span_query.h.
#include "view/tracks/span_query.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace penna {
namespace {

size_t bytes_of(const SpanNode& node) {
  return sizeof node + (node.kept.size() + node.own.size()) * sizeof(Span) + node.sums.size() * sizeof(SpanSum) +
         node.children.size() * sizeof(NodeRef) + (node.names.size() + node.chunks.open.size()) * sizeof(uint32_t);
}

// Limits that no index of ours exceeds. Damage with a valid checksum is intentional, and must not stall us.
constexpr unsigned kMostLevels = 20;
constexpr uint64_t kMostNodes = 1'000'000;

class ViewQuery {
 public:
  ViewQuery(const SpanTree& tree, const PixelView& view) : tree_(tree), view_(view) {}

  void look(const NodeRef& ref, unsigned level = 0) {
    if (level > kMostLevels || ++nodes_ > kMostNodes || ref.bytes == 0 || ref.begin >= view_.t1 ||
        (ref.last_start < first_ && ref.last_end <= view_.t0))
      return;
    const std::shared_ptr<const SpanNode> node = tree_.nodes->read(ref);
    if (!node) return;
    const auto add = [this](const Span& span) { take(span); };
    if (is_fine(ref)) {
      for (const Span& span : node->kept) take(span);
      found_.sums.insert(found_.sums.end(), node->sums.begin(), node->sums.end());
      return;
    }
    for (const Span& span : node->own) take(span);
    for (const NodeRef& child : node->children) look(child, level + 1);
    if (node->chunks) tree_.of_chunks(node->chunks, add);
  }
  ViewedSpans take_found() {
    std::sort(found_.shown.begin(), found_.shown.end(), [](const Span& one, const Span& other) {
      return one.row != other.row ? one.row < other.row : one.start < other.start;
    });
    return std::move(found_);
  }

 private:
  bool is_fine(const NodeRef& ref) const {
    const double pixel = view_.ns_per_pixel();
    return ref.begin >= first_ && ref.last_start < view_.t1 && static_cast<double>(ref.longest_summed) < pixel &&
           static_cast<double>(ref.spread) <= pixel;
  }
  void take(const Span& span) {
    const bool is_long = static_cast<double>(span.duration) >= view_.ns_per_pixel();
    if (span.start >= view_.t1 || (span.start < first_ && (!is_long || span.end() <= view_.t0))) return;
    if (is_long)
      found_.shown.push_back(span);
    else
      add_to_sums(span);
  }
  // Those of one pixel, row and name are merged; there may be a million of them.
  void add_to_sums(const Span& span) {
    constexpr uint32_t kMostOfKey = 1u << 22;  // and pixels have 14 bits (questions.cc)
    const SpanSum one = SpanSum::of(span);
    if (span.row >= kMostOfKey || span.name >= kMostOfKey) return found_.sums.push_back(one);
    // The most varying part goes into the lowest bits, which count most in the hash (hash.h).
    const uint64_t key = uint64_t{span.name} << 36 | uint64_t{span.row} << 14 | view_.pixel_of(span.start);
    const auto [found, is_new] = places_.try_emplace(key, found_.sums.size());
    if (is_new) return found_.sums.push_back(one);
    SpanSum& sum = found_.sums[found->second];
    sum.add(one);
    sum.name_time = add_times(sum.name_time, one.name_time);
  }

  const SpanTree& tree_;
  const PixelView view_;
  // Spans from before the recording are in the view that begins with it.
  const int64_t first_ = view_.t0 > 0 ? view_.t0 : INT64_MIN;
  uint64_t nodes_ = 0;
  ViewedSpans found_;
  NumberMap<size_t> places_;  // for sums of single spans
};

class Finder {
 public:
  Finder(const SpanTree& tree, const std::vector<uint32_t>& names, const InstanceChoice& choice)
      : tree_(tree), names_(names), choice_(choice) {}

  void find(const NodeRef& ref, unsigned level = 0) {
    if (level > kMostLevels || ++nodes_ > kMostNodes || ref.bytes == 0 || cannot_be_better(ref)) return;
    const std::shared_ptr<const SpanNode> node = tree_.nodes->read(ref);
    if (!node || !holds_any(*node)) return;
    for (const Span& span : node->own) take(span);
    // Nearest first, so that the others cannot be better.
    const auto look = [&](const NodeRef& child) { find(child, level + 1); };
    if (choice_.before)
      std::for_each(node->children.rbegin(), node->children.rend(), look);
    else
      std::for_each(node->children.begin(), node->children.end(), look);
    if (node->chunks) tree_.of_chunks(node->chunks, [this](const Span& span) { take(span); });
  }
  const std::optional<Span>& found() const { return found_; }

 private:
  bool cannot_be_better(const NodeRef& ref) const {
    if (choice_.after) return ref.last_start <= *choice_.after || (found_ && ref.begin >= found_->start);
    if (choice_.before) return ref.begin >= *choice_.before || (found_ && ref.last_start <= found_->start);
    return false;
  }
  bool is_wanted(uint32_t name) const { return std::binary_search(names_.begin(), names_.end(), name); }
  bool holds_any(const SpanNode& node) const {
    return std::any_of(node.names.begin(), node.names.end(), [this](uint32_t name) { return is_wanted(name); });
  }
  void take(const Span& span) {
    if (!is_wanted(span.name) || (choice_.after && span.start <= *choice_.after) ||
        (choice_.before && span.start >= *choice_.before))
      return;
    const auto instance = [](const Span& one) { return Instance{one.start, one.duration, one.row}; };
    if (!found_ || is_better(instance(span), instance(*found_), choice_)) found_ = span;
  }

  const SpanTree& tree_;
  const std::vector<uint32_t>& names_;
  const InstanceChoice& choice_;
  uint64_t nodes_ = 0;
  std::optional<Span> found_;
};

}  // namespace

std::shared_ptr<const SpanNode> NodeReader::read(const NodeRef& ref) {
  if (const auto found = by_offset_.find(ref.offset); found != by_offset_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
    return found->second->node;
  }
  std::optional<SpanNode> node;
  if (load_(ref, &bytes_)) node = decode_node(bytes_);
  if (!node) return ++damaged_, nullptr;
  auto shared = std::make_shared<const SpanNode>(std::move(*node));
  kept_.push_front({ref.offset, shared, bytes_of(*shared)});
  by_offset_[ref.offset] = kept_.begin();
  kept_bytes_ += kept_.front().bytes;
  while (kept_bytes_ > kMostBytes && kept_.size() > 1) {
    kept_bytes_ -= kept_.back().bytes;
    by_offset_.erase(kept_.back().offset);
    kept_.pop_back();
  }
  return shared;
}

ViewedSpans look_at(const SpanTree& tree, const PixelView& view) {
  ViewQuery looker(tree, view);
  looker.look(tree.root);
  return looker.take_found();
}

std::optional<Span> find_span(const SpanTree& tree, const std::vector<uint32_t>& names, const InstanceChoice& choice) {
  Finder finder(tree, names, choice);
  finder.find(tree.root);
  return finder.found();
}

}  // namespace penna
