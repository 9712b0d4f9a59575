// SPDX-License-Identifier: MIT
// penna export graphviz: functions and who calls whom as a graph in the DOT language, for dot, xdot and every viewer of
// Graphviz: a box per function with its total and self share, an arrow per caller.
//
// Source: Graphviz' "DOT Language". The shares are of FoldedOptions::weight.
// Invariant: what is too small for a picture is left out and counted: functions below half a percent of the total,
// arrows below a tenth of a percent.
#pragma once

#include "export/calls/function_sums.h"

namespace penna {

struct GraphReport {
  FoldedReport folded;
  uint64_t functions = 0, drawn = 0;  // how many there are, and how many of them are drawn
};

GraphReport export_graphviz(const Recording& recording, Names& names, const FoldedOptions& options,
                            const TextSink& sink, const std::function<void(uint64_t)>& step);

}  // namespace penna
