// SPDX-License-Identifier: MIT
// penna export callgrind: what each function cost itself and in its callees, in the profile format of valgrind's
// callgrind: for KCachegrind, QCachegrind and callgrind_annotate.
//
// Source: valgrind's manual, "Callgrind Format Specification", version 1. The cost is FoldedOptions::weight.
// Invariant: the self costs add up to the line "totals:".
#pragma once

#include "export/calls/function_sums.h"

namespace penna {

FoldedReport export_callgrind(const Recording& recording, Names& names, const FoldedOptions& options,
                              const TextSink& sink, const std::function<void(uint64_t)>& step);

}  // namespace penna
