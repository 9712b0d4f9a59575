// SPDX-License-Identifier: MIT
// penna export libleaks: the blocks of one process that are live at the end, as the pair of files that libleaks wrote.
//
//   .map     the process's memory, as in /proc/PID/maps: what is known of it, one line per file
//   .trace   information about 2 allocations
//            0. block at 0x804b008 with size 123
//               main [0x804868c]
// Newest block first; frames innermost first, preceded by the function's name if known.
// Invariant: as many blocks as the first line says, and their sizes sum up to what penna's own report says is live.
#pragma once

#include "export/heap/heap_changes.h"
#include "export/text/text_sink.h"
#include "model/names/names.h"

namespace penna {

bool export_libleaks_map(const Recording& recording, uint32_t process, const TextSink& sink);
struct LibleaksReport {
  uint64_t blocks = 0;
  uint64_t left_out = 0;  // allocations, by HeapPick::most
};
LibleaksReport export_libleaks_trace(const Recording& recording, Names& names, HeapChanges& history, uint32_t process,
                                     const TextSink& sink, const HeapPick& pick = {});

}  // namespace penna
