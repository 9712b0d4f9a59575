// SPDX-License-Identifier: MIT
// Prints a report as text: aligned columns, human units, frames indented below their row.
//
// Why a sink: a report can be long and its reader may leave (| head); the output need never be in memory as a whole.
// Invariant: names from the recording reach the sink only as printable() text; no colour sequences but Penna's own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace penna {

// Each returns false if the sink did.
bool print_report(const Report& report, const TextStyle& style, const TextSink& sink);
bool print_table(const Table& table, const TextStyle& style, const TextSink& sink);

// A cell as text, not yet aligned.
std::string cell_text(const Cell& cell, CellKind kind);
// A detail in at most `room` columns, 0: in full. The name is the last to be cut.
std::string detail_text(const TableDetail& detail, size_t room);
// Which columns did not fit on a line, and how to get them.
std::string no_room_text(const std::vector<std::string_view>& titles,
                         std::string_view how_to_choose = "--fields chooses");

// Wraps text in a colour if the style has colours.
enum class Tint { kNone, kBold, kDim, kWarn, kTime, kName };
std::string tinted(std::string_view text, Tint tint, const TextStyle& style);

}  // namespace penna
