// SPDX-License-Identifier: MIT
// layout.h: the on-disk layout of a recording. docs/format.md specifies it for authors of other readers.
//
// Why blocks: each one can be read alone, so that a crash, a full disk or a damaged sector costs only what it hit.
// Invariant: a block is either valid or not: a checksum covers every byte of it, and nothing outside it is needed to
// decode it. Little-endian; nothing is aligned; all offsets count bytes from the start of the file.
//
//   0     +--------------------------+
//         | FileHeader               |  written once
//   128   | InPlace                  |  rewritten in place, also when the disk is full
//   256   +--------------------------+
//         | block | block | ...      |  BlockHeader, then a ChunkHead for chunks, then `stored_bytes` of payload
//         +--------------------------+
//         | index blocks             |  an IndexEntry for each block above; only when finished cleanly
//         | Trailer                  |
//         +--------------------------+
//
// Bump kVersion when a reader of the old version would misread a new file. New block types and new fields at the end of
// a payload need no bump: readers skip unknown types, and ignore bytes after the fields they know.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penna/event.h"

namespace penna::layout {

inline constexpr uint32_t kVersion = 3;
// Up to this version, per-class counts in ChunkHead, InPlace and penna_counters had four slots.
inline constexpr uint32_t kLastVersionOfFourClasses = 2;
inline constexpr uint32_t kFourClasses = 4;
// The oldest version that is read. A new version keeps the reader for the old ones and their goldens (tests/golden).
inline constexpr uint32_t kOldestVersion = 1;

// The first byte is neither text nor UTF-8; the line ends reveal a text-mode copy.
inline constexpr uint64_t kFileMagic = 0x0a0d616e6e6550ab;     // AB "Penna" 0D 0A
inline constexpr uint64_t kBlockMagic = 0x31426e50a5c3961e;    // 1E 96 C3 A5 "PnB1": searched for after damage
inline constexpr uint64_t kTrailerMagic = 0x31546e50a5c3961e;  // 1E 96 C3 A5 "PnT1"

inline constexpr uint32_t kMaxRawBytes = 1 << 20;  // of a block's payload: bounds the memory of every reader

// Limit on a payload's expansion (except a chunk's): raw <= stored * kMaxExpansion + kFreeExpansion. Writers store it
// plain otherwise. Metadata stays in memory, so this bounds a reader's memory by the size of the file.
inline constexpr uint32_t kMaxExpansion = 32;
inline constexpr uint32_t kFreeExpansion = 4096;

//   0   +----------------------+
//       | magic                |
//   8   | version | size       |  size = 256: where the blocks begin
//   16  | created              |  CLOCK_REALTIME, ns
//   24  | identity, 16 bytes   |  random: two recordings are never taken for one
//   40  | reserved             |
//   120 | checksum             |  XXH3-64 of bytes 0..119
//   128 +----------------------+
struct FileHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t size;
  uint64_t created;
  uint8_t identity[16];
  uint8_t reserved[80];
  uint64_t checksum;
};
static_assert(sizeof(FileHeader) == 128 && offsetof(FileHeader, version) == 8 && offsetof(FileHeader, size) == 12);
static_assert(offsetof(FileHeader, created) == 16 && offsetof(FileHeader, identity) == 24);
static_assert(offsetof(FileHeader, reserved) == 40 && offsetof(FileHeader, checksum) == 120);

//   128 +----------------------+
//       | lost[8]              |  events of each class that could not be written to this file
//   192 | lost_blocks          |
//   200 | lost_bytes           |  of raw payload
//   208 | index_at             |  offset of the first index block; 0 = there is none
//   216 | end                  |  size of the finished file; 0 before
//   224 | finished | error     |  1 = cleanly; errno of the first write that failed, 0 = none
//   232 | reserved             |
//   248 | checksum             |  XXH3-64 of bytes 128..247
//   256 +----------------------+
struct InPlace {
  uint64_t lost[PENNA_CLASS_SLOTS];
  uint64_t lost_blocks;
  uint64_t lost_bytes;
  uint64_t index_at;
  uint64_t end;
  uint32_t finished;
  uint32_t error;
  uint8_t reserved[16];
  uint64_t checksum;
};
static_assert(sizeof(InPlace) == 128 && offsetof(InPlace, lost_blocks) == 64 && offsetof(InPlace, lost_bytes) == 72);
static_assert(offsetof(InPlace, index_at) == 80 && offsetof(InPlace, end) == 88 && offsetof(InPlace, finished) == 96);
static_assert(offsetof(InPlace, error) == 100 && offsetof(InPlace, reserved) == 104 &&
              offsetof(InPlace, checksum) == 120);

// Of versions 1 and 2.
struct InPlaceOfFour {
  uint64_t lost[kFourClasses];
  uint64_t lost_blocks;
  uint64_t lost_bytes;
  uint64_t index_at;
  uint64_t end;
  uint32_t finished;
  uint32_t error;
  uint8_t reserved[48];
  uint64_t checksum;
};
static_assert(sizeof(InPlaceOfFour) == sizeof(InPlace) && offsetof(InPlaceOfFour, index_at) == 48);
static_assert(offsetof(InPlaceOfFour, error) == 68 && offsetof(InPlaceOfFour, checksum) == offsetof(InPlace, checksum));

inline constexpr uint64_t kInPlaceAt = sizeof(FileHeader);
inline constexpr uint64_t kBlocksAt = sizeof(FileHeader) + sizeof(InPlace);
static_assert(kBlocksAt == 256);

// Payloads: docs/format.md, and encode_*/decode_* in metadata.h.
enum class BlockType : uint8_t {
  kSession = 1,     // once, the first block
  kClock = 2,       // one ClockTriplet: ticks, monotonic ns, realtime ns
  kProcess = 3,     // a process began
  kProcessEnd = 4,  // a process ended
  kThread = 5,      // entries: threads and their names
  kModule = 6,      // entries: mapped code
  kSite = 7,        // entries: static points
  kStacks = 8,      // first node id, then penna_stack_node[]
  kChunk = 9,       // a penna_chunk and its records; has a ChunkHead
  kHealth = 10,     // entries: what was stored, lost, torn, for a process or a thread of it
  kCollector = 11,  // the same of the recorder itself
  kIndex = 12,      // IndexEntry[]
  kOpen =
      // pieces of chunks still being filled: each a penna_chunk and the records added since the last piece
  13,
  kNames = 14,  // for places in one file
};

enum class Codec : uint8_t {
  kNone = 0,
  kZstd = 1,          // one zstd frame
  kColumns = 2,       // chunks only: records turned into columns (columns.h), then one zstd frame, and maybe low bits
  kStackColumns = 3,  // stacks only: nodes turned into columns (stack_columns.h), then one zstd frame
};

//   0   +------------------------------------------------+
//       | magic                                          |
//   8   | type u8 | codec u8 | head_bytes u16 | process  |  head_bytes: of the ChunkHead, 0 for other types
//   16  | raw_bytes u32         | stored_bytes u32       |  of the payload; stored <= raw <= kMaxRawBytes
//   24  | sequence                                       |  of the block in this file, from 0
//   32  | payload_sum                                    |  XXH3-64 of the stored payload
//   40  | head_sum                                       |  XXH3-64 of bytes 0..39 and the head
//   48  +------------------------------------------------+
struct BlockHeader {
  uint64_t magic;
  uint8_t type;
  uint8_t codec;
  uint16_t head_bytes;
  uint32_t process;  // the process's number in this recording; 0 if it has no meaning
  uint32_t raw_bytes;
  uint32_t stored_bytes;
  uint64_t sequence;  // a gap means that blocks are missing
  uint64_t payload_sum;
  uint64_t head_sum;
};
static_assert(sizeof(BlockHeader) == 48 && offsetof(BlockHeader, type) == 8 && offsetof(BlockHeader, codec) == 9);
static_assert(offsetof(BlockHeader, head_bytes) == 10 && offsetof(BlockHeader, process) == 12);
static_assert(offsetof(BlockHeader, raw_bytes) == 16 && offsetof(BlockHeader, stored_bytes) == 20);
static_assert(offsetof(BlockHeader, sequence) == 24 && offsetof(BlockHeader, payload_sum) == 32);
static_assert(offsetof(BlockHeader, head_sum) == 40);

// What a reader must know about a chunk before it decides to read it. Stored plain, so that a scan needs no
// decompression. The same thread and chunk_sequence again means the same chunk, more complete: the later block wins.
struct ChunkHead {
  uint32_t thread_serial;
  uint32_t tid;
  uint64_t chunk_sequence;             // penna_chunk.sequence
  uint64_t time_begin;                 // the lowest time of a record in it; penna_chunk.time_begin if it has none
  uint64_t time_end;                   // the highest
  uint32_t events[PENNA_CLASS_SLOTS];  // records of each class in it
  uint32_t torn;                       // records that were never finished
  uint32_t damaged;                    // 1: the records after some point could not be decoded
};
static_assert(sizeof(ChunkHead) == 72 && offsetof(ChunkHead, tid) == 4 && offsetof(ChunkHead, chunk_sequence) == 8);
static_assert(offsetof(ChunkHead, time_begin) == 16 && offsetof(ChunkHead, time_end) == 24);
static_assert(offsetof(ChunkHead, events) == 32 && offsetof(ChunkHead, torn) == 64 &&
              offsetof(ChunkHead, damaged) == 68);

// Of versions 1 and 2.
struct ChunkHeadOfFour {
  uint32_t thread_serial;
  uint32_t tid;
  uint64_t chunk_sequence;
  uint64_t time_begin;
  uint64_t time_end;
  uint32_t events[kFourClasses];
  uint32_t torn;
  uint32_t damaged;
};
static_assert(sizeof(ChunkHeadOfFour) == 56 && offsetof(ChunkHeadOfFour, events) == 32);
static_assert(offsetof(ChunkHeadOfFour, torn) == 48 && offsetof(ChunkHeadOfFour, damaged) == 52);

// penna_counters of versions 1 and 2, at the end of a process. Later versions append new ones.
struct CountersOfFour {
  uint64_t lost[kFourClasses];
  uint64_t blocked_ticks, threads, stacks_truncated[4];
  uint64_t from_stack_tree_full_to_unfollowed[11];
  uint64_t lost_for[5];
  uint64_t allocators_refused, ended_at_once;
};
static_assert(sizeof(CountersOfFour) == 224);

// In an index block. `head` is zero for types other than kChunk. Head: ChunkHead, in versions 1 and 2 ChunkHeadOfFour.
template <typename Head>
struct IndexEntryWith {
  uint64_t offset;
  uint8_t type;
  uint8_t codec;
  uint16_t head_bytes;
  uint32_t process;
  uint32_t raw_bytes;
  uint32_t stored_bytes;
  Head head;
};
using IndexEntry = IndexEntryWith<ChunkHead>;
static_assert(sizeof(IndexEntryWith<ChunkHeadOfFour>) == 80);
static_assert(sizeof(IndexEntry) == 96 && offsetof(IndexEntry, type) == 8 && offsetof(IndexEntry, process) == 12);
static_assert(offsetof(IndexEntry, raw_bytes) == 16 && offsetof(IndexEntry, stored_bytes) == 20);
static_assert(offsetof(IndexEntry, head) == 24);

// The last bytes of a finished file.
struct Trailer {
  uint64_t magic;
  uint64_t index_at;  // as in InPlace
  uint64_t blocks;    // before the index
  uint64_t checksum;  // XXH3-64 of the 24 bytes above
};
static_assert(sizeof(Trailer) == 32 && offsetof(Trailer, index_at) == 8 && offsetof(Trailer, blocks) == 16);
static_assert(offsetof(Trailer, checksum) == 24);

}  // namespace penna::layout
