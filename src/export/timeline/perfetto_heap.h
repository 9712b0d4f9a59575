// SPDX-License-Identifier: MIT
// The heap profiles of a Perfetto trace: one dump per process that allocated, of all stacks at its end.
//
// For each stack: bytes and blocks that were allocated, and how many of them were freed. Perfetto draws what is left,
// what was allocated, and their numbers. A dump is split into packets of some stacks each, which say that more follow.
// https://perfetto.dev/docs/data-sources/native-heap-profiler, ProfilePacket and InternedData of its trace packets
// Invariant: what a packet refers to by number is defined in it or in an earlier one; over all stacks, allocated minus
// freed is live.
#pragma once

#include <functional>
#include <string>

#include "model/blocks/allocations.h"
#include "model/events/summary.h"
#include "model/names/names.h"

namespace penna {

// Takes the contents of a packet, at `time` (ticks): an InternedData and a ProfilePacket. False: stop.
using HeapPacket = std::function<bool(uint64_t time, const std::string& interned, const std::string& profile)>;

void write_perfetto_heaps(const Recording& recording, const Summary& summary, Names& names, const Allocations& heap,
                          const HeapPacket& write);

}  // namespace penna
