// SPDX-License-Identifier: MIT
// The lives of single blocks: allocated where, moved by realloc where, freed where, and by which threads.
//
// Why separate from the report, which has sums by stack: a sum says that something leaks, one block's life says how.
// Invariant: rows and `rows_left_out` add up to the blocks of the heap that meet the request; a block moved by
// realloc is one block. A free that the recording lacks is shown as such.
// Memory: that of Allocations and a few times the requested rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/names/names.h"
#include "report/table.h"
#include "view/answers/view_selection.h"

namespace penna {

struct BlockRowsRequest {
  ViewSelection of{};                // when, and by which threads, they were allocated first
  std::optional<int64_t> instant{};  // ns; those that were live then, whenever they were allocated
  bool leaked = false;               // only those that were never freed
  std::string function{}, stack{};   // of one of their allocations: its function; its stack's id (stack_id())
  std::string sort{};                // COLUMN[:asc|desc]; empty: by size
  size_t rows = 100;                 // at least one
  uint64_t begin = 0;                // ticks: origin of times
};

// Equal for stacks that a report shows alike.
std::string stack_id(const std::vector<TableDetail>& frames);

// JSON of a table (report_json.h), each row with the number of its life in "lives". `recording`: all of it.
// `thread_name`: by index.
Result<std::string> block_rows(const Recording& recording, Names& names, const BlockRowsRequest& request,
                               const std::function<std::string(uint32_t)>& thread_name);

}  // namespace penna
