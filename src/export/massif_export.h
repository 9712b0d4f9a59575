// SPDX-License-Identifier: MIT
// penna export massif: live bytes of one process over time, with the stacks that hold them, for ms_print and
// massif-visualizer.
//
// Snapshots at equal distances, one at the peak and one at the end. Those two and every tenth have a tree: the
// innermost frames first, their callers below them; what holds less than 1 % is summed up, as massif does. Time is
// milliseconds; of a process that lasted less than a second it is bytes allocated and freed (massif's --time-unit=B),
// for its clock would hardly move. https://valgrind.org/docs/manual/ms-manual.html
// Invariant: the peak snapshot holds the bytes, and the bytes of each stack, that our report gives for the peak;
// children of a node never sum to more than it.
#pragma once

#include "export/heap_changes.h"
#include "export/text_sink.h"
#include "model/names/names.h"

namespace penna {

void export_massif(const Recording& recording, Names& names, HeapChanges& history, uint32_t process,
                   const TextSink& sink);

}  // namespace penna
