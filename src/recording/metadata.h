// SPDX-License-Identifier: MIT
// Payloads of metadata blocks: values (types.h) to bytes and back. docs/format.md lists the fields.
//
// Why by hand: a dozen structs need no schema compiler, and each list of fields serves both directions.
// Invariant: decoding accepts any bytes, and returns an empty result or a value no larger than they are; encoding cuts
// what would not fit a block.
//
// Entries (threads, modules, sites, health) are stored as {u32 bytes, fields}, one after the other, to the end of the
// payload: new fields are appended to an entry.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "recording/layout.h"
#include "recording/types.h"

namespace penna {

using Bytes = std::vector<uint8_t>;
using ByteSpan = std::span<const uint8_t>;

inline constexpr size_t kMaxTextBytes = 32 << 10;   // of one string
inline constexpr size_t kMaxListBytes = 256 << 10;  // of a list of strings
// The longest payload is a session's (two lists, six strings); the longest entry a site's.
static_assert(2 * kMaxListBytes + 6 * kMaxTextBytes < layout::kMaxRawBytes - 4096);
static_assert((3 + PENNA_MAX_ARGS) * kMaxTextBytes < layout::kMaxRawBytes - 4096);

Bytes encode_session(const Session& session);
Bytes encode_clock(const ClockTriplet& clock);
Bytes encode_process(const Process& process);
Bytes encode_process_end(const ProcessEnd& end);
Bytes encode_collector(const CollectorHealth& health);
Bytes encode_names(const FileNames& names);  // of any length: the caller divides it into blocks
// One entry, preceded by its length.
Bytes encode_entry(const Thread& thread);
Bytes encode_entry(const Module& module);
Bytes encode_entry(const Site& site);
Bytes encode_entry(const Health& health);

// `number` comes from the block's header, `version` from the file's.
std::optional<Session> decode_session(ByteSpan payload);
std::optional<ClockTriplet> decode_clock(ByteSpan payload);
std::optional<Process> decode_process(ByteSpan payload, uint32_t number);
std::optional<ProcessEnd> decode_process_end(ByteSpan payload, uint32_t number, uint32_t version = layout::kVersion);
std::optional<CollectorHealth> decode_collector(ByteSpan payload, uint32_t version = layout::kVersion);
// Frames never refer to a missing text.
std::optional<FileNames> decode_names(ByteSpan payload);
// Stack nodes with consecutive ids.
struct StackRun {
  uint32_t first = 0;  // id of the first node
  std::vector<penna_stack_node> nodes;
};
std::optional<StackRun> decode_stacks(ByteSpan payload);
// Appends the entries; false if one of them is inconsistent (those before it are kept).
bool decode_entries(ByteSpan payload, std::vector<Thread>& threads);
bool decode_entries(ByteSpan payload, std::vector<Module>& modules);
bool decode_entries(ByteSpan payload, std::vector<Site>& sites);
bool decode_entries(ByteSpan payload, std::vector<Health>& health);

}  // namespace penna
