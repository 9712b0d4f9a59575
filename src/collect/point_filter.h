// SPDX-License-Identifier: MIT
// PointFilter: takes the points of one process that do not meet the conditions of `penna record --where` out of its chunks.
//
// Why here and not in the target: a condition costs nothing there, and may be as long as it likes. Points that a condition does
// not apply to (where.h) are kept; the end of a span goes with its beginning, which has the arguments.
// Invariant: what is taken out becomes a PAD of the same size, and is counted; every other byte stays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "recording/arguments.h"
#include "recording/records.h"
#include "recording/where.h"

namespace penna {

class PointFilter {
 public:
  // All conditions must be met, as far as they apply.
  explicit PointFilter(std::shared_ptr<const std::vector<Where>> conditions) : conditions_(std::move(conditions)) {}

  // Learns the sites that a chunk describes.
  void learn(std::span<const uint8_t> chunk);
  // `chunk`: copied, and not to be seen again. `look_elsewhere` shall learn() what else there is: called when a point's site is
  // unknown, because the thread that has described it still holds that chunk.
  void apply(std::span<uint8_t> chunk, const std::function<void()>& look_elsewhere);

  uint64_t left_out() const { return left_out_; }
  uint64_t sites_met() const { return sites_met_; }  // to which a condition applies

 private:
  struct Bound {
    const Where* where;
    Where::Places places;
  };
  struct KnownSite {
    Site site;
    std::vector<Bound> conditions;
    uint32_t span = 0;  // of a span and its end: the number of their names; 0 = of no span with conditions
  };
  struct OpenSpan {
    uint32_t span;
    bool kept;
  };
  void learn(Site site);
  const KnownSite* find(uint32_t id, const std::function<void()>& look_elsewhere);
  bool keeps(const KnownSite& known, uint32_t thread, const Record& record);
  bool meets(const KnownSite& known, const Record& record);
  bool end_span(uint32_t span, uint32_t thread);

  std::shared_ptr<const std::vector<Where>> conditions_;
  std::unordered_map<uint32_t, KnownSite> sites_;                   // by id
  std::unordered_set<uint32_t> nowhere_;                            // ids that were looked for in vain
  std::unordered_map<std::string, uint32_t> spans_;                 // numbers of names of spans with conditions
  std::unordered_map<uint32_t, std::vector<OpenSpan>> open_spans_;  // by thread serial
  DecodedPoint decoded_;
  uint64_t left_out_ = 0, sites_met_ = 0;
};

}  // namespace penna
