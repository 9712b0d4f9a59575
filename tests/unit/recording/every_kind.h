// SPDX-License-Identifier: MIT
// A chunk with a record of every kind, each with a distinct payload, and the text that describes its contents.
// Test-only.
//
// Invariant: as in tests/golden/recording-v*-every-kind.penna: what was written there is never changed. A new kind is
// added at the end, and to a new file.
#pragma once

#include <fmt/format.h>

#include "base/kind_words.h"
#include "chunk_builder.h"
#include "recording/layout.h"
#include "recording/records.h"

namespace penna {

class EveryKind {
 public:
  explicit EveryKind(uint32_t version = layout::kVersion) : version_(version) {}
  std::vector<uint8_t> chunk() {
    chunk_.entry(0x5555'0000'1000, time_ += 10);
    add(PENNA_KIND_PAD, uint64_t{0});
    add(PENNA_KIND_CALL_ENTRY, penna_call{0x7fff'0000'2000});
    add(PENNA_KIND_CALL_EXIT, penna_call{0x7fff'0000'2000});
    describe();
    allocate();
    lock();
    add(PENNA_KIND_POINT, penna_point{7, 3}, std::string("\x2a\0\0\0\0\0\0\0", 8));
    add(PENNA_KIND_VALUES, penna_values{8, 2, 1}, std::string(8, '\x11'));
    if (version_ <= layout::kLastVersionOfFourClasses)
      add(PENNA_KIND_LOST, std::array<uint32_t, 4>{1, 2, 3, 4});
    else
      add(PENNA_KIND_LOST, penna_lost{{1, 2, 3, 4, 0, 0, 0, 0}});
    add(PENNA_KIND_BLOCKED, penna_blocked{1234});
    add(PENNA_KIND_JUMP, penna_jump{0x7000'0100, 0x7000'0200, PENNA_JUMP_SWITCH, 0});
    chunk_.exit(0x5555'0000'1000, time_ += 10);
    auto bytes = chunk_.close(time_);
    bytes.resize(chunk_.size());
    return bytes;
  }

 private:
  template <typename Payload>
  void add(uint32_t kind, const Payload& payload, const std::string& after = "") {
    chunk_.full(kind, time_ += 10, payload, after);
  }
  void describe() {
    penna_module module{0x5555'0000'0000, 0x5555'0000'1000, 0x5555'0001'0000, 1, 9, 2, {}};
    module.build_id[0] = 0xab;
    module.build_id[1] = 0xcd;
    add(PENNA_KIND_MODULE, module, "/bin/true");
    penna_site_info site{7, 12, 0x5555'0000'1080, 18, 1, PENNA_SITE_EVENT, {PENNA_ARG_INT}};
    add(PENNA_KIND_SITE, site, std::string("db\0query\0db.c\0row\0", 18));
    add(PENNA_KIND_THREAD, penna_thread{"main"});
    add(PENNA_KIND_THREAD, penna_thread_named{"worker", 2, 4002});
  }
  void allocate() {
    add(PENNA_KIND_ALLOC, penna_alloc{0x6000'0010, 5, 24});
    add(PENNA_KIND_ALLOC_LARGE, penna_alloc_large{0x6100'0000, 5, 0, uint64_t{5} << 30});
    add(PENNA_KIND_FREE, penna_free{0x6000'0010 | uint64_t{PENNA_FAMILY_REALLOC} << 56});
    add(PENNA_KIND_REALLOC_FAILED, penna_free{0x6000'0010 | uint64_t{PENNA_FAMILY_REALLOC} << 56});
    add(PENNA_KIND_FREE_STACK, penna_free_stack{0x6100'0000, 6, 0});
    add(PENNA_KIND_MAP, penna_map{0x7f00'0000'0000, 8192, 6, PENNA_MAP_MMAP, PENNA_MAP_FILE | PENNA_MAP_SHARED});
    add(PENNA_KIND_UNMAP, penna_unmap{0x7f00'0000'1000, 4096, 6, 0});
    add(PENNA_KIND_POOL_ALLOC, penna_pool_alloc{0x6200'0000, 48, 6, 9});
    add(PENNA_KIND_POOL_FREE, penna_pool_free{0x6200'0000, 6, 9});
  }
  void lock() {
    constexpr uint64_t kMutex = 0x7100'0040, kWrite = kMutex | uint64_t{PENNA_SYNC_WRITE} << 56;
    add(PENNA_KIND_LOCK_MADE, penna_lock_at{kMutex, 4, 0});
    add(PENNA_KIND_LOCK, penna_lock{kMutex});
    add(PENNA_KIND_UNLOCK, penna_lock{kMutex});
    add(PENNA_KIND_LOCK_BUSY, penna_lock{kWrite});
    add(PENNA_KIND_LOCK_AT, penna_lock_at{kWrite, 4, 0});
    add(PENNA_KIND_UNLOCK_AT, penna_lock_at{kWrite, 4, 0});
    add(PENNA_KIND_LOCK_REQUEST, penna_lock_at{kMutex, 4, 4002});
    add(PENNA_KIND_LOCK_WAIT, penna_lock_wait{kMutex, 1'000'200, 4, 4002, PENNA_WAIT_GOT, 0});
    add(PENNA_KIND_COND_WAIT, penna_cond_wait{kMutex, 0x7100'0080, 1'000'250, 4, PENNA_WAIT_TIMEOUT});
    add(PENNA_KIND_WAKE, penna_wake{kMutex | uint64_t{PENNA_SYNC_CONDITION} << 56, 4, UINT32_MAX});
    add(PENNA_KIND_LOCK_GONE, penna_lock{kMutex});
  }

  uint32_t version_;
  uint64_t time_ = 1'000'000;
  ChunkBuilder chunk_{time_};
};

// A line a record: number, word and time; of calls their pc, of others the payload's bytes. As read_recording.py --records.
inline std::string text_of_records(std::span<const uint8_t> chunk) {
  std::string text;
  RecordCursor cursor(chunk);
  for (Record record; cursor.next(record);) {
    text += fmt::format("{} {} {}", record.kind, kind_word(record.kind), record.time);
    if (record.is_call())
      text += fmt::format(" {:x}", record.pc);
    else
      for (uint32_t i = 0; i < record.payload_bytes; ++i)
        text += fmt::format("{}{:02x}", i % 8 == 0 ? " " : "", record.payload[i]);
    text += '\n';
  }
  return text;
}

}  // namespace penna
