// SPDX-License-Identifier: MIT
// See point_selection.h.
#include "recording/point_selection.h"

#include <utility>

namespace penna {
namespace {

constexpr size_t kMaxSites = 1 << 20;
constexpr size_t kMaxThreads = 1 << 16;  // that are inside of spans; those of more are kept
constexpr size_t kMaxOpenSpans = 4096;   // of a thread: what is opened deeper is kept with its end

std::string names_of(const Site& site) { return site.provider + ":" + site.name; }

}  // namespace

void PointSelection::add(Site site) {
  if (sites_.size() >= kMaxSites && !knows(site.id)) return;  // its points are kept
  KnownSite known{std::move(site), {}, 0};
  for (const Where& where : *conditions_)
    if (auto places = where.places_in(known.site)) known.conditions.push_back({&where, std::move(*places)});
  const bool applies = !known.conditions.empty();
  if (known.site.kind == PENNA_SITE_SPAN || known.site.kind == PENNA_SITE_SPAN_END)
    known.span = spans_.try_emplace(names_of(known.site), static_cast<uint32_t>(spans_.size() + 1)).first->second;
  const uint32_t id = known.site.id;
  if (sites_.insert_or_assign(id, std::move(known)).second && applies) ++sites_met_;
}

bool PointSelection::meets(const KnownSite& known, const Record& record) {
  if (known.conditions.empty()) return true;
  decode_arguments(&known.site, record, decoded_);
  if (decoded_.malformed) return true;
  for (const Bound& bound : known.conditions)
    if (!bound.where->holds(bound.places, decoded_)) return false;
  return true;
}

bool PointSelection::end_span(uint32_t span, uint32_t thread) {
  auto of_thread = open_spans_.find(thread);
  if (of_thread == open_spans_.end()) return true;
  std::vector<OpenSpan>& open = of_thread->second;
  for (size_t i = open.size(); i-- > 0;) {
    if (open[i].span != span) continue;
    const bool kept = open[i].kept;
    open.erase(open.begin() + static_cast<ptrdiff_t>(i));
    if (open.empty()) open_spans_.erase(of_thread);
    return kept;
  }
  return true;
}

bool PointSelection::keeps(uint32_t thread, const Record& record) {
  const auto found = sites_.find(record.as<penna_point>().site);
  if (found == sites_.end()) return true;
  const KnownSite& known = found->second;
  if (known.site.kind == PENNA_SITE_SPAN_END) return end_span(known.span, thread);
  const bool kept = meets(known, record);
  if (known.span == 0 || known.conditions.empty()) return kept;
  // A process tells the numbers of its threads, and may tell any.
  if (open_spans_.size() >= kMaxThreads && open_spans_.count(thread) == 0) return true;
  std::vector<OpenSpan>& open = open_spans_[thread];
  if (open.size() >= kMaxOpenSpans) return true;
  open.push_back({known.span, kept});
  return kept;
}

}  // namespace penna
