// SPDX-License-Identifier: MIT
// PointSelection: which points of one process satisfy the --where conditions, during recording or afterwards.
//
// Points that no condition applies to (where.h) are kept, and so are those of unknown sites. The end of a span shares
// the fate of its beginning, which has the arguments.
// Invariant: the same points in the same order of each thread get the same answers, from recorder and readers alike.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "filter/chunk_cut.h"
#include "filter/filter_changes.h"
#include "filter/where.h"
#include "recording/arguments.h"
#include "recording/records.h"

namespace penna {

class PointSelection {
 public:
  // All conditions that apply must hold.
  explicit PointSelection(std::shared_ptr<const std::vector<Where>> conditions) : conditions_(std::move(conditions)) {}
  // Conditions that are set while recording, besides the others; must outlive it.
  void set_changes(std::shared_ptr<const FilterChanges> changes) { changes_ = std::move(changes); }

  // A later site with the same id replaces the earlier one.
  void add(Site site);
  bool knows(uint32_t id) const { return sites_.count(id) != 0; }

  // `record`: a PENNA_KIND_POINT; each thread's in order.
  bool keeps(uint32_t thread, const Record& record);

  // The same for a whole chunk: returns how many of its points are left out.
  uint64_t sift(std::span<const uint8_t> chunk, ChunkCut& cut);

  uint64_t sites_matched() const { return sites_met_; }  // to which a condition applies

  struct OpenSpan {
    uint32_t span;
    bool kept;
  };
  using OpenSpans = std::vector<OpenSpan>;
  // A thread's open spans; for code that looks at a chunk that will come again.
  OpenSpans open_spans(uint32_t thread) const;
  void set_open_spans(uint32_t thread, OpenSpans open);

  // There is no room for what was seen: points are kept until their sites are described again.
  void forget();
  size_t bytes() const;  // of memory, approximately

 private:
  // A condition, and which of the site's arguments its names mean. Worked out once per site, not per point.
  struct Bound {
    const Where* where;
    Where::Places places;
  };
  struct KnownSite {
    Site site;
    std::vector<Bound> conditions;
    uint32_t span = 0;    // for a span and its end: the number of their names
    uint64_t change = 0;  // the number in changes_ for which `changed` was worked out
    std::vector<Bound> changed{};
  };
  static size_t bytes_of(const KnownSite& known);
  void bind_changes(KnownSite& known, uint64_t ticks) const;
  bool meets(const KnownSite& known, const Record& record);
  bool end_span(uint32_t span, uint32_t thread);

  std::shared_ptr<const std::vector<Where>> conditions_;
  std::shared_ptr<const FilterChanges> changes_;
  std::unordered_map<uint32_t, KnownSite> sites_;       // by id
  std::unordered_map<std::string, uint32_t> spans_;     // numbers of span names
  std::unordered_map<uint32_t, OpenSpans> open_spans_;  // by thread
  size_t site_bytes_ = 0, open_count_ = 0;              // of sites_ and spans_; number of open spans
  DecodedPoint decoded_;
  uint64_t sites_met_ = 0;
};

}  // namespace penna
