// SPDX-License-Identifier: MIT
// See point_filter.h.
#include "collect/point_filter.h"

#include <cstring>
#include <utility>

namespace penna {
namespace {

constexpr size_t kMaxOpenSpans = 4096;  // of a thread: what is opened deeper is kept with its end

// The header lies in front of the payload.
void make_pad(std::span<uint8_t> chunk, const Record& record) {
  const size_t at = static_cast<size_t>(record.payload - chunk.data());
  uint64_t header = load_word(record.payload - sizeof header);
  header = penna_full_header(PENNA_KIND_PAD, 1 + record.payload_bytes / 8, header >> 16);
  std::memcpy(chunk.data() + at - sizeof header, &header, sizeof header);
  std::memset(chunk.data() + at, 0, record.payload_bytes);
}

}  // namespace

void PointFilter::learn(std::span<const uint8_t> chunk) {
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind != PENNA_KIND_SITE) continue;
    if (auto site = decode_site(record)) learn(std::move(*site));
  }
}

void PointFilter::learn(Site site) {
  KnownSite known{std::move(site), {}, 0};
  const std::string name = known.site.provider + ":" + known.site.name;
  for (const Where& where : *conditions_)
    if (auto places = where.places_in(known.site)) known.conditions.push_back({&where, std::move(*places)});
  if (known.site.kind == PENNA_SITE_SPAN && !known.conditions.empty())
    known.span = spans_.try_emplace(name, static_cast<uint32_t>(spans_.size() + 1)).first->second;
  const uint32_t id = known.site.id;
  const bool applies = !known.conditions.empty();
  if (sites_.insert_or_assign(id, std::move(known)).second && applies) ++sites_met_;
}

const PointFilter::KnownSite* PointFilter::find(uint32_t id, const std::function<void()>& look_elsewhere) {
  auto found = sites_.find(id);
  if (found == sites_.end() && nowhere_.count(id) == 0) {
    look_elsewhere();
    found = sites_.find(id);
    if (found == sites_.end()) nowhere_.insert(id);
  }
  return found != sites_.end() ? &found->second : nullptr;
}

bool PointFilter::meets(const KnownSite& known, const Record& record) {
  if (known.conditions.empty()) return true;
  decode_arguments(&known.site, record, decoded_);
  if (decoded_.malformed) return true;
  for (const Bound& bound : known.conditions)
    if (!bound.where->holds(bound.places, decoded_)) return false;
  return true;
}

bool PointFilter::end_span(uint32_t span, uint32_t thread) {
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

bool PointFilter::keeps(const KnownSite& known, uint32_t thread, const Record& record) {
  if (known.site.kind == PENNA_SITE_SPAN_END) {
    const auto span = spans_.find(known.site.provider + ":" + known.site.name);
    return span == spans_.end() || end_span(span->second, thread);
  }
  const bool kept = meets(known, record);
  if (known.span == 0) return kept;
  std::vector<OpenSpan>& open = open_spans_[thread];
  if (open.size() >= kMaxOpenSpans) return true;
  open.push_back({known.span, kept});
  return kept;
}

void PointFilter::apply(std::span<uint8_t> chunk, const std::function<void()>& look_elsewhere) {
  learn(chunk);
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind != PENNA_KIND_POINT || record.payload_bytes < sizeof(penna_point)) continue;
    const KnownSite* known = find(record.as<penna_point>().site, look_elsewhere);
    if (known == nullptr || keeps(*known, in.header().thread_serial, record)) continue;
    make_pad(chunk, record);
    ++left_out_;
  }
}

}  // namespace penna
