// SPDX-License-Identifier: MIT
// What stands out in a run, one sentence each, with a link to the place: the function with the largest self time, the
// peak of memory, the largest leak, the longest wait for a lock.
//
// Why: users should not need to know which table to open first.
// Invariant: numbers are those of the reports; event kinds that were not recorded have no sentence.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/events/summary.h"
#include "report/table.h"
#include "view/answers/part_questions.h"

namespace penna {

struct Highlight {
  std::string text{};
  std::string tab{}, sort{};         // a tab of the page; for a table: its sort order
  std::optional<int64_t> instant{};  // nanoseconds since the first event
  // A span of time in a thread.
  std::optional<uint32_t> thread{};
  int64_t start = 0, duration = 0;
};

// `report`: returns a table, sorted as given, with its first row. What cannot be read is left out: the tables say why.
std::vector<Highlight> highlights(
    const Summary& all, const std::function<Result<Report>(const std::string& table, const std::string& sort)>& report,
    const PartReader& read);

std::string highlights_json(const std::vector<Highlight>& list);

}  // namespace penna
