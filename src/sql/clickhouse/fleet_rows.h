// SPDX-License-Identifier: MIT
// The rows of one recording for a fleet: those of scan.h, with fleet-wide ids, in blocks.
//
// Invariant: a recording yields the same blocks in the same order each time, as long as its names are the same.
#pragma once

#include <functional>

#include "base/result.h"
#include "sql/clickhouse/row_block.h"
#include "sql/source.h"

namespace penna {

// Takes a block that is full, or the last of its day; `day`: since 1970.
using TakeBlock = std::function<Result<>(const RowBlock& block, uint16_t day)>;
// For a dictionary: which rows are wanted, by their stack or, in `symbol`, by their hash (low).
using WantsRow = std::function<bool(const FleetId& key)>;

// Passes on a table of tables.h. Rows of dictionaries count for `today`, each key once; others for their own days.
Result<> each_block(SqlSource& source, const FleetIds& ids, const FleetTable& table, uint16_t today,
                    const WantsRow& wants, const TakeBlock& take);

// The day on which a recording began, also used for its rows without a time.
uint16_t day_of(const SqlSource& source);
// Which shard gets the rows of a recording.
uint8_t shard_of(const FleetId& id);

}  // namespace penna
