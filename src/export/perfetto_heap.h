// SPDX-License-Identifier: MIT
// The heap profiles of a Perfetto trace: a dump for each process that has allocated, of all stacks at its end.
//
// Of each stack: bytes and blocks that were allocated, and of these those that were freed. Perfetto draws what is left,
// what was allocated, and their numbers. A dump goes in packets of some stacks each, which say that more come.
// https://perfetto.dev/docs/data-sources/native-heap-profiler, ProfilePacket and InternedData of its trace packets
// Invariant: what a packet refers to by number is said in it or in one before; over all stacks, allocated less freed is
// live.
#pragma once

#include <functional>
#include <string>

#include "model/blocks/allocations.h"
#include "model/events/summary.h"
#include "model/names/names.h"

namespace penna {

// Takes the contents of a packet, at `time` (ticks): an InternedData and a ProfilePacket. False: no more.
using HeapPacket = std::function<bool(uint64_t time, const std::string& interned, const std::string& profile)>;

void write_perfetto_heaps(const Recording& recording, const Summary& summary, Names& names, const Allocations& heap,
                          const HeapPacket& write);

}  // namespace penna
