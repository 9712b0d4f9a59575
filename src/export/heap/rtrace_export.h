// SPDX-License-Identifier: MIT
// penna export rtrace: the allocations and frees of one process as text, for the tools of functracer and sp-rtrace.
//
// The format is described in collect/import/rtrace_import.h, which reads it back. Times are those of CLOCK_MONOTONIC,
// modulo a day. If the process had more than one thread, each event has the argument "tid". A realloc is its free and
// its allocation; a failed one, and a free of what was not allocated in the recording, is left out. Frames have the
// name of the innermost function at their address.
// Invariant: events are in time order, each free after the allocation of its block.
#pragma once

#include "export/heap/heap_changes.h"
#include "export/text/text_sink.h"
#include "model/names/names.h"

namespace penna {

bool export_rtrace(const Recording& recording, Names& names, HeapChanges& history, uint32_t process,
                   const TextSink& sink, const HeapPick& pick = {});

// The recorded calls of functions instead of allocations, each with the stack of its call site, if there is one.
bool export_rtrace_calls(const Recording& recording, Names& names, uint32_t process, const TextSink& sink,
                         const HeapPick& pick = {});

}  // namespace penna
