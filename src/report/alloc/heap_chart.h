// SPDX-License-Identifier: MIT
// HeapChart: live bytes over time, drawn with characters: a column for each piece of time, as high as the most that was
// live in it.
//
//   202 MB |            *
//          |         ####
//          |      ##########
//   101 MB |   #############
//          |  ##############
//      0 B |##################
//          +------------------
//          0 s          190 ms
//
// Invariant: no line is wider than was asked for; what was live at all is never drawn as nothing.
#pragma once

#include <string>

#include "model/blocks/heap_history.h"
#include "report/print.h"

namespace penna {

struct ChartStyle {
  size_t width = 80;   // columns, at least 40
  size_t height = 12;  // rows of columns
  bool ascii = true;   // else eighths of blocks
  bool color = false;
};

// False when the sink did.
bool print_heap_chart(const Recording& recording, const HeapHistory& history, const ChartStyle& style,
                      const TextSink& sink);

}  // namespace penna
