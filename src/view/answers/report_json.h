// SPDX-License-Identifier: MIT
// Reports for the page: tables with the meaning of their columns (docs/view-protocol.md).
//
// Why not the JSON of `penna report`: that names each cell; the page needs titles, kinds and order, too.
// Invariant: numbers are raw (nanoseconds, bytes), texts as in the report.
#pragma once

#include <string>
#include <vector>

#include "export/text/json_writer.h"
#include "report/table.h"

namespace penna {

std::string report_json(const Report& report);
// A list of lines, if there are any: of a stack's frames, "text" and "where".
void write_details(JsonWriter& json, const char* key, const std::vector<TableDetail>& details);
// The same as fields of an object. `source`: the key for a row's TableRow::source; null: omitted.
void write_report(JsonWriter& json, const Report& report, const char* source = nullptr);

}  // namespace penna
