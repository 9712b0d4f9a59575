// SPDX-License-Identifier: MIT
// penna export heaptrack: the allocations of one process, for heaptrack_print and heaptrack_gui (version 3 of their
// format, that of heaptrack 1.4).
//
// Lines of hexadecimal numbers: v versions, X command, I page size and pages, s a string, i an address with its frames
// (innermost first), t a node of the tree of stacks, a a size at a node, + and - one such block, c milliseconds since
// the beginning. What a line refers to by number comes before it (there are no R lines: the process's memory size is
// not recorded); numbers count from 1, for a-lines from 0. heaptrack calls a block temporary if nothing at all lies
// between its + and its -, in any thread. So the last allocation of a thread is held back within its millisecond, until
// its free may come, but not across the peak; the free of the block in the last +-line is put before other frees (their
// order changes no sum); and where the two would meet by chance a second a-line with the same meaning separates them.
// HeaptrackReport says how many temporary blocks heaptrack will not recognise as such. https://github.com/KDE/heaptrack
// (the format is described by its reader)
// Invariant: each stack's calls, peak, leaked and temporary bytes, as summed by heaptrack_print, are those of penna's
// own report.
#pragma once

#include "export/heap/heap_changes.h"
#include "export/text/text_sink.h"
#include "model/names/names.h"

namespace penna {

struct HeaptrackReport {
  uint64_t not_temporary = 0;  // temporary blocks that heaptrack will not count as such
};

HeaptrackReport export_heaptrack(const Recording& recording, Names& names, HeapChanges& history, uint32_t process,
                                 const TextSink& sink);

}  // namespace penna
