// SPDX-License-Identifier: MIT
// Reports as the page gets them: tables with what their columns mean (docs/view-protocol.md).
//
// Why not the JSON of `penna report`: that has a name for each cell; the page wants titles, kinds and order, too.
// Invariant: numbers are raw (nanoseconds, bytes), texts as the report has them.
#pragma once

#include <string>

#include "export/json_writer.h"
#include "report/table.h"

namespace penna {

std::string report_json(const Report& report);
// The same as fields of an object. `source`: what a row's TableRow::source is called; null: it is not told.
void write_report(JsonWriter& json, const Report& report, const char* source = nullptr);

}  // namespace penna
