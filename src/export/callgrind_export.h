// SPDX-License-Identifier: MIT
// penna export callgrind: what each function cost by itself and in what it called, as the profile of valgrind's tool of
// this name: for KCachegrind, QCachegrind and callgrind_annotate.
//
// Source: valgrind's manual, "Callgrind Format Specification", version 1. The cost is FoldedOptions::weight.
// Invariant: the costs by themselves add up to the line "totals:".
#pragma once

#include "export/function_sums.h"

namespace penna {

FoldedReport export_callgrind(const Recording& recording, Names& names, const FoldedOptions& options,
                              const TextSink& sink, const std::function<void(uint64_t)>& step);

}  // namespace penna
