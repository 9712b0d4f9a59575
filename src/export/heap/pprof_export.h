// SPDX-License-Identifier: MIT
// penna export pprof: the allocations of all processes by stack, for `go tool pprof` and other readers of
// profile.proto.
//
// Four values per stack, as in Go's heap profiles: alloc_objects, alloc_space, inuse_objects, inuse_space (at the end).
// Inlined functions are lines of their location. With more than one process each sample has the label "pid".
// https://github.com/google/pprof/blob/main/proto/profile.proto
// Invariant: each value, summed up over the samples, is the total of penna's own report. The whole message is in
// memory: its size depends on the stacks and the names, not on the recording. It is not compressed here: profile.proto
// is customarily gzip'd.
#pragma once

#include "export/heap/heap_changes.h"
#include "export/text/text_sink.h"
#include "model/names/names.h"

namespace penna {

bool export_pprof(const Recording& recording, Names& names, const Allocations& heap, const TextSink& sink);

}  // namespace penna
