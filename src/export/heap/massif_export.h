// SPDX-License-Identifier: MIT
// penna export massif: live bytes of one process over time, with the stacks that hold them, for ms_print and
// massif-visualizer.
//
// Snapshots at equal intervals, one at the peak and one at the end. Those two and every tenth have a tree: the
// innermost frames first, their callers below them; what holds less than 1 % is summed up, as massif does. Time is
// milliseconds; for a process that lasted less than a second it is bytes allocated and freed (massif's --time-unit=B),
// because its clock would hardly move. https://valgrind.org/docs/manual/ms-manual.html
// Invariant: the peak snapshot has the bytes, in total and by stack, that penna's own report gives for the peak; a
// node's children never sum to more than it.
#pragma once

#include "export/heap/heap_changes.h"
#include "export/text/text_sink.h"
#include "model/names/names.h"

namespace penna {

void export_massif(const Recording& recording, Names& names, HeapChanges& history, uint32_t process,
                   const TextSink& sink);

}  // namespace penna
