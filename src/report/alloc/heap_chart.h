// SPDX-License-Identifier: MIT
// HeapChart: live bytes over time, drawn with characters: one column per slice of time, as high as the most that was
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
// Invariant: no line exceeds the requested width; a nonzero value is never drawn as nothing.
#pragma once

#include <string>

#include "model/blocks/heap_history.h"
#include "report/print.h"

namespace penna {

struct ChartStyle {
  size_t width = 80;   // columns, at least 40
  size_t height = 12;  // number of rows
  bool ascii = true;   // else eighth blocks
  bool color = false;
};

// False if the sink returned false.
bool print_heap_chart(const Recording& recording, const HeapHistory& history, const ChartStyle& style,
                      const TextSink& sink);

}  // namespace penna
