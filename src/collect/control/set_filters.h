// SPDX-License-Identifier: MIT
// SetFilters: the filters that a user has set while a recording is made, as penna ctl asks for them.
//
// Why besides the options of penna record: who looks on wants less of something now, without starting again.
// Invariant: a change that is refused changes nothing. Used by the thread that serves requests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/collector.h"
#include "filter/filter_changes.h"

namespace penna {

// "where": a condition on points; "function", "no-function": patterns of functions, as for -F and -N.
enum class FilterKind : uint8_t { kWhere, kOnly, kNever };
Result<FilterKind> filter_kind_of(std::string_view word);
const char* word_of(FilterKind kind);
const char* option_of(FilterKind kind);  // "--where"

class SetFilters {
 public:
  static constexpr size_t kMostFilters = 16, kMostText = 1000;
  // Chooses functions by patterns: only those of the first list, if it has any, and none of the second.
  using Chooser = std::function<ChosenFunctions(const std::vector<std::string>&, const std::vector<std::string>&)>;

  // `chooser`: empty if functions have no names here.
  SetFilters(Collector& collector, Chooser chooser) : collector_(&collector), chooser_(std::move(chooser)) {}

  // `recorded`: kinds of event, as bits. Returns to how many points that are known so far a new condition applies;
  // kUnknown: that is not known.
  static constexpr uint32_t kUnknown = UINT32_MAX;
  Result<uint32_t> change(bool on, FilterKind kind, const std::string& text, uint32_t recorded);

  // In one line: a tab, its word, a space, and its text, of each.
  std::string list() const;

 private:
  struct Filter {
    FilterKind kind;
    std::string text;
    bool operator==(const Filter&) const = default;
  };
  Result<> check(const Filter& filter, bool on, uint32_t recorded) const;
  std::vector<std::string> texts(FilterKind kind) const;
  Collector::FilterChange describe(const Filter& changed, bool on);

  Collector* collector_;
  Chooser chooser_;
  std::vector<Filter> filters_;
  ChosenFunctions functions_;  // by those in filters_
};

}  // namespace penna
