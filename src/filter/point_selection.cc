// SPDX-License-Identifier: MIT
// See point_selection.h.
#include "filter/point_selection.h"

#include <algorithm>
#include <utility>

#include "base/free_memory.h"

namespace penna {
namespace {

// The recorder holds one of these for each process, and a process may describe anything: hence the limits. Beyond them
// points are kept: a filter may fail to leave out, but must not lose.
constexpr size_t kMaxSites = 1 << 20;
constexpr size_t kMaxThreads = 1 << 16;  // with open spans; points of further ones are kept
constexpr size_t kMaxOpenSpans = 4096;   // per thread: spans nested deeper are kept along with their ends

std::string names_of(const Site& site) { return site.provider + ":" + site.name; }

}  // namespace

void PointSelection::add(Site site) {
  if (sites_.size() >= kMaxSites && !knows(site.id)) return;  // its points are kept
  KnownSite known{std::move(site), {}};
  for (const Where& where : *conditions_)
    if (auto places = where.places_in(known.site)) known.conditions.push_back({&where, std::move(*places)});
  const bool applies = !known.conditions.empty();
  if (known.site.kind == PENNA_SITE_SPAN || known.site.kind == PENNA_SITE_SPAN_END)
    known.span = spans_.try_emplace(names_of(known.site), static_cast<uint32_t>(spans_.size() + 1)).first->second;
  const uint32_t id = known.site.id;
  site_bytes_ += bytes_of(known);
  const auto [at, is_new] = sites_.try_emplace(id);
  if (!is_new) site_bytes_ -= bytes_of(at->second);
  at->second = std::move(known);
  if (is_new && applies) ++sites_met_;
}

// Approximate cost of a site, including its share of the tables and its span's name.
size_t PointSelection::bytes_of(const KnownSite& known) {
  const Site& site = known.site;
  size_t bytes = sizeof(KnownSite) + 64 + 2 * (site.provider.size() + site.name.size()) + site.file.size();
  for (const SiteArgument& argument : site.arguments)
    bytes += sizeof argument + argument.name.size() + argument.format.size();
  for (const Bound& bound : known.conditions) bytes += sizeof bound + bound.places.size();
  return bytes;
}

size_t PointSelection::bytes() const {
  return site_bytes_ + spans_.size() * 128 + open_spans_.size() * 96 + open_count_ * 2 * sizeof(OpenSpan);
}

void PointSelection::forget() {
  free_memory(sites_);
  free_memory(spans_);
  free_memory(open_spans_);
  site_bytes_ = open_count_ = 0;
}

PointSelection::OpenSpans PointSelection::open_spans(uint32_t thread) const {
  const auto found = open_spans_.find(thread);
  return found != open_spans_.end() ? found->second : OpenSpans{};
}

void PointSelection::set_open_spans(uint32_t thread, OpenSpans open) {
  if (const auto old = open_spans_.find(thread); old != open_spans_.end()) {
    open_count_ -= old->second.size();
    open_spans_.erase(old);
  }
  open_count_ += open.size();
  if (!open.empty()) open_spans_[thread] = std::move(open);
}

// The conditions that were set when the point was passed.
void PointSelection::bind_changes(KnownSite& known, uint64_t ticks) const {
  if (!changes_ || changes_->number(ticks) == known.change) return;
  known.change = changes_->number(ticks);
  known.changed.clear();
  const std::vector<Where>* const conditions = changes_->conditions(ticks);
  if (conditions == nullptr) return;
  for (const Where& where : *conditions)
    if (auto places = where.places_in(known.site)) known.changed.push_back({&where, std::move(*places)});
}

bool PointSelection::meets(const KnownSite& known, const Record& record) {
  if (known.conditions.empty() && known.changed.empty()) return true;
  decode_arguments(&known.site, record, decoded_);
  // It cannot be judged, so it is shown, as malformed.
  if (decoded_.malformed) return true;
  const auto holds = [&](const Bound& bound) { return bound.where->holds(bound.places, decoded_); };
  return std::all_of(known.conditions.begin(), known.conditions.end(), holds) &&
         std::all_of(known.changed.begin(), known.changed.end(), holds);
}

// An end shares the fate of the innermost open span of its name; without one it is kept.
bool PointSelection::end_span(uint32_t span, uint32_t thread) {
  auto of_thread = open_spans_.find(thread);
  if (of_thread == open_spans_.end()) return true;
  OpenSpans& open = of_thread->second;
  for (size_t i = open.size(); i-- > 0;) {
    if (open[i].span != span) continue;
    const bool kept = open[i].kept;
    --open_count_;
    open.erase(open.begin() + static_cast<ptrdiff_t>(i));
    if (open.empty()) open_spans_.erase(of_thread);
    return kept;
  }
  return true;
}

uint64_t PointSelection::sift(std::span<const uint8_t> chunk, ChunkCut& cut) {
  uint64_t left_out = 0;
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind != PENNA_KIND_POINT || keeps(in.header().thread_serial, record)) continue;
    cut.leave_out(static_cast<size_t>(record.payload - chunk.data()) - sizeof(uint64_t));
    ++left_out;
  }
  return left_out;
}

bool PointSelection::keeps(uint32_t thread, const Record& record) {
  const auto found = sites_.find(record.as<penna_point>().site);
  if (found == sites_.end()) return true;
  KnownSite& known = found->second;
  if (known.site.kind == PENNA_SITE_SPAN_END) return end_span(known.span, thread);
  bind_changes(known, record.time);
  const bool kept = meets(known, record);
  // Once any was set, all spans are noted: one that began while it was may enclose one of its name that begins later.
  if (known.span == 0 || (known.conditions.empty() && !(changes_ && changes_->has_conditions()))) return kept;
  // Thread numbers come from the process, which may send any.
  if (open_spans_.size() >= kMaxThreads && open_spans_.count(thread) == 0) return true;
  OpenSpans& open = open_spans_[thread];
  if (open.size() >= kMaxOpenSpans) return true;
  ++open_count_;
  open.push_back({known.span, kept});
  return kept;
}

}  // namespace penna
