// SPDX-License-Identifier: MIT
// penna export ctf: Common Trace Format 1.8, which babeltrace2 and Trace Compass read: a directory with a metadata file
// and one stream of all events in time order, the same events as in csv_export.h.
//
// Event names: the kinds of the CSV; for points PROVIDER:NAME, for spans PROVIDER:NAME:begin and PROVIDER:NAME:end.
// Every event has pid and tid in its context. Fields are named like the CSV's columns; a point's arguments are separate
// typed fields, their names made identifiers. Differences: an unknown hold time (unlock) is -1, an unknown holder 0; a
// zero byte in a text is \0; events_discarded of the last packet counts everything that was lost. A point with a
// nonsensical record, or an unknown site, is an event `point` (or `span_begin`) with the CSV's name and arguments.
// babeltrace2 2.0 prints an empty text as the text before it (a bug there: the length that it has is right).
// The environment's first_event_ns is the time 0 of the CSV; the clock is CLOCK_MONOTONIC, with its offset from 1970.
// Invariant: as many events as the CSV has lines, in the same order.
#pragma once

#include <functional>
#include <string>

#include "export/text/text_sink.h"
#include "model/names/names.h"
#include "model/timeline/timeline.h"

namespace penna {

// Calls `step` for each event. `metadata` is the content of the file of that name, once the stream is complete. False
// if the sink returned false.
bool export_ctf(const Recording& recording, Names& names, const TextSink& stream, std::string* metadata,
                const std::function<void()>& step, WalkReport* walk);

}  // namespace penna
