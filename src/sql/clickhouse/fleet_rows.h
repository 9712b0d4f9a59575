// SPDX-License-Identifier: MIT
// The rows of one recording for a fleet: those of scan.h, with the ids that all recordings share, in blocks.
//
// Invariant: one recording gives the same blocks in the same order each time, as long as its names are the same.
#pragma once

#include <functional>

#include "base/result.h"
#include "sql/clickhouse/row_block.h"
#include "sql/source.h"

namespace penna {

// Takes a block that is full, or the last of its day; `day`: since 1970.
using TakeBlock = std::function<Result<>(const RowBlock& block, uint16_t day)>;
// Of a dictionary: which rows are wanted, by their stack, or, in `symbol`, by a hash of theirs (low).
using WantsRow = std::function<bool(const FleetId& key)>;

// A table of tables.h. Dictionaries count for `today`, a row of each key once; the others for the days of their rows.
Result<> each_block(SqlSource& source, const FleetIds& ids, const FleetTable& table, uint16_t today,
                    const WantsRow& wants, const TakeBlock& take);

// The day on which a recording began, and by which its rows without a time go.
uint16_t day_of(const SqlSource& source);
// Which shard gets the rows of a recording.
uint8_t shard_of(const FleetId& id);

}  // namespace penna
