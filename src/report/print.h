// SPDX-License-Identifier: MIT
// Prints a report as text: aligned columns, human units, frames indented below their row.
//
// Why a sink: a report can be long and its reader may leave (| head); what is printed need never be in memory at once.
// Invariant: names from the recording reach the sink only as printable() text; colour sequences are ours alone.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace penna {

// Each gives false when the sink did.
bool print_report(const Report& report, const TextStyle& style, const TextSink& sink);
bool print_table(const Table& table, const TextStyle& style, const TextSink& sink);

// A cell as text, not yet aligned.
std::string cell_text(const Cell& cell, CellKind kind);
// A detail in at most `room` columns, 0: all of it. The name goes last.
std::string detail_text(const TableDetail& detail, size_t room);
// Which columns a line has no room for, and how to get them.
std::string no_room_text(const std::vector<std::string_view>& titles,
                         std::string_view how_to_choose = "--fields chooses");

// Wraps text in a colour when the style has colours.
enum class Tint { kNone, kBold, kDim, kWarn, kTime, kName };
std::string tinted(std::string_view text, Tint tint, const TextStyle& style);

}  // namespace penna
