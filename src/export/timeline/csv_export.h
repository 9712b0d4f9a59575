// SPDX-License-Identifier: MIT
// penna export csv: one line per event, in time order over all threads.
//
// Columns: time_ns, pid, tid, kind, name, address, size, duration_ns, stack, argument values, depth, end.
//   time_ns      nanoseconds since the first event of the recording
//   kind         enter, exit, alloc, free, realloc_failed, map, unmap, pool_alloc, pool_free, lock, lock_request,
//                lock_wait, lock_busy, unlock, condition_wait, wake, lock_made, lock_gone, point, thread_name, lost,
//                blocked
//   name         of the function, lock, condition variable, point or span; for alloc and free the function called
//   address      of the function, block, lock or condition variable, in hexadecimal
//   size         bytes of an allocation, also at its free; events lost; the most threads that a wake is for
//   duration_ns  of a wait, which ended at time_ns; of a hold, at its unlock; or of a block's life, at its free
//   stack        the function names from the outermost to the innermost, joined by ';' ("folded")
//   arguments    name=value of a point or of a span_begin, joined by ';' (\; \\ \n stand for a semicolon, a backslash,
//                a newline, and in a name \= for an equals sign);
//                for a wait what it was for (sync, unless a lock), the holder (holder_tid) and how it ended (end)
//   depth        how many calls and spans are open around it; an exit has its entry's depth
//   end          for the exit of a call or span without its own event: jump (longjmp, setcontext) or unwound
//                (an exception, or an exit that was lost: an outer function was left)
// A free whose allocation was not recorded has neither size nor duration.
// Invariant: a header line, and one line per event and per call that ended without one. Memory: the live blocks.
#pragma once

#include <functional>

#include "export/text/event_words.h"
#include "export/text/text_sink.h"
#include "model/names/names.h"
#include "model/timeline/timeline.h"

namespace penna {

// The last column.
std::string csv_arguments(const TimelineLine& line, EventWords& words);

// Calls `step` for each line. False if the sink returned false.
bool export_csv(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                WalkReport* walk);

}  // namespace penna
