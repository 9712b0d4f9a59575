// SPDX-License-Identifier: MIT
// The files that Feather-Trace's own mutex_trace wrote, mutex-PID.ft: records of 40 bytes, one after the other, without
// a header, in the machine's byte order.
//
//   0        8       16        24        28    32     40
//   +--------+-------+---------+---------+-----+------+
//   | event  | lock  | thread  | nesting | pad | time |    event: 1000 taken, 1001 released; thread: pthread_self()
//   +--------+-------+---------+---------+-----+------+    nesting: never written; time: us since 1970, or cycles
//
// Invariant: everything in the file is untrusted; nothing is read after the first record that cannot be one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "critical_sections.h"

namespace penna {

enum FtEvent : uint64_t { kFtTaken = 1000, kFtReleased = 1001 };

struct FtRecord {
  uint64_t event;
  uint64_t lock;
  uint64_t thread;
  uint32_t nesting;
  uint32_t pad;
  uint64_t time;
};
static_assert(sizeof(FtRecord) == 40, "a record has 40 bytes");

// Fills its argument as far as it can and returns how many bytes, 0 at the end; the error is a sentence.
using ReadBytes = std::function<Result<size_t>(std::span<uint8_t>)>;

// Adds all records up to the end. The error says where they end before it, and why; the records before that are in
// `sections`.
Result<> read_ft(const ReadBytes& read, CriticalSections& sections);

}  // namespace penna
