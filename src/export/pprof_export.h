// SPDX-License-Identifier: MIT
// penna export pprof: the allocations of all processes by stack, for `go tool pprof` and what else reads profile.proto.
//
// Four values for each stack, as Go's heap profiles have them: alloc_objects, alloc_space, inuse_objects, inuse_space
// (at the end). Inlined functions are lines of their location. With more than one process each sample has the label
// "pid". https://github.com/google/pprof/blob/main/proto/profile.proto
// Invariant: each value, summed up over the samples, is the total that our report gives. The message is in memory as a
// whole: as large as the stacks and the names, not as the recording. It is not compressed here: profile.proto is
// customarily gzip'd.
#pragma once

#include "export/heap_changes.h"
#include "export/text_sink.h"
#include "model/names/names.h"

namespace penna {

bool export_pprof(const Recording& recording, Names& names, const Allocations& heap, const TextSink& sink);

}  // namespace penna
