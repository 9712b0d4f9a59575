// SPDX-License-Identifier: MIT
// The points of a binary, a process or a recording as shown by `penna list`. Invariant: one row or object per point.
#pragma once

#include <vector>

#include "export/text/json_writer.h"
#include "report/table.h"
#include "symbols/points/point_list.h"

namespace penna {

// POINT, KIND, ARGUMENTS, COPIES, SOURCE; in a process ARMED and MODULE; SEMAPHORE if there is any. A row's `source` is
// the index of its point.
Table points_table(const std::vector<ListedPoint>& points, bool in_process);
// The fields of a point in JSON, into an open object.
void write_point(const ListedPoint& point, bool in_process, JsonWriter& json);

}  // namespace penna
