// SPDX-License-Identifier: MIT
// Reading a table of a recording: in parts that are independent, each pulled a batch at a time.
//
// Why pulled: an engine asks when it has room, so that memory stays bounded, and stops when it has seen enough.
// Usage:  std::vector<ScanPart> parts = scan_table(source, SqlTable::kCall, request);
//         while (parts[i]->fill(batch)) {...; batch.clear();}
// Invariant: what rows a table has does not depend on which columns are wanted, nor on the order of the parts.
// Each part may be read by a different thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/names/function_pattern.h"
#include "sql/row_batch.h"
#include "sql/source.h"
#include "sql/tables.h"

namespace penna {

// As many rows as an engine takes at a time; a batch may contain a few more.
inline constexpr size_t kBatchRows = 2048;

struct ScanRequest {
  std::vector<uint32_t> wanted;   // columns, each once
  std::optional<int64_t> thread;  // an id: only rows of it
  int64_t since = std::numeric_limits<int64_t>::min(),
          until = std::numeric_limits<int64_t>::max();  // ns: [since, until)
  std::optional<FunctionPattern> function;

  bool in_time(int64_t ns) const { return ns >= since && ns < until; }
  bool wants(size_t column) const;
};

class Scan {
 public:
  virtual ~Scan() = default;
  // Adds rows, kBatchRows or a few more, to an empty batch. False: no more rows, and none were added.
  virtual bool fill(RowBatch& out) = 0;
};
// Opens nothing before its first fill().
using ScanPart = std::unique_ptr<Scan>;

// `source` and `request` must outlive the parts.
std::vector<ScanPart> scan_table(SqlSource& source, SqlTable table, const ScanRequest& request);
// An estimate of the number of rows, for query planning; reads nothing.
uint64_t estimated_rows(const SqlSource& source, SqlTable table);

}  // namespace penna
