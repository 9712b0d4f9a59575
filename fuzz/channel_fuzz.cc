// SPDX-License-Identifier: MIT
// A target that writes anything to its channel: the input is a list of writes into the shared memory, made between the
// collector's steps. The collector must survive, and what it has written must open as a recording.
//
// Input: records of {u8 what, u24 offset, u64 value}; `what` even: store the value at the offset in that region of the
// channel (header, bitmap, ring, nodes, chunks); odd: let the collector work. Bit 1 of the first byte: with a
// condition.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../tests/unit/collect/fake_channel.h"
#include "collect/process_drain.h"
#include "must_be_readable.h"

using namespace penna;

namespace {

// What the target may have written before it hands the memory over, and what it may do afterwards.
void store(const FakeChannel& fake, uint8_t what, uint32_t offset, uint64_t value) {
  constexpr size_t kRegions[] = {0, 4096, 8192, 16384 + 2048 * 4, 65536, 65536 + PENNA_CHUNK_BYTES};
  size_t region = kRegions[(what >> 1) % std::size(kRegions)];
  size_t at = region + offset % 8192 / 8 * 8;
  if (at + 8 <= fake.size()) std::memcpy(fake.bytes() + at, &value, 8);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = "/dev/shm/penna-channel-fuzz-" + std::to_string(::getpid());
  auto writer = RecordingWriter::create(path, {.overwrite = true});
  if (!writer) std::abort();
  FakeChannel fake;
  fake.write_chunk(0, 1, 0, {0x1234'5678'0000'1001});
  fake.write_chunk(1, 1, 1, {0x1234'5678'0000'1002});
  fake.hand_over(0, 1);
  if (size > 0 && (data[0] & 0x80) != 0)  // corrupt the geometry itself
    for (size_t at = 1; at + 12 <= size; at += 12) {
      uint64_t value;
      std::memcpy(&value, data + at + 4, 8);
      store(fake, 0, data[at] * 8u, value);
    }
  fake.seal();
  auto map = ChannelMap::map(fake.memory());
  if (map) {
    // Two functions out of three, and only calls that take a while.
    CallRules rules;
    rules.min_ticks = 3;
    rules.depth = 4;
    rules.rough = true;
    rules.ask = [](uint32_t, uint64_t pc, uint64_t) {
      FunctionTraits traits{};
      traits.chosen = pc % 3 != 0;
      return traits;
    };
    std::unique_ptr<ChunkFilter> filter;
    if (size > 0 && (data[0] & 2) != 0)
      filter = std::make_unique<ChunkFilter>(
          0, std::make_shared<const std::vector<Where>>(1, *Where::parse("arg1 > 5 || arg2 ~ 'x*'")),
          (data[0] & 4) != 0 ? &rules : nullptr);
    ProcessDrain drain(std::move(*map), 0, 1, std::move(filter));
    for (size_t at = 1; at + 12 <= size; at += 12) {
      uint32_t head;
      uint64_t value;
      std::memcpy(&head, data + at, 4);
      std::memcpy(&value, data + at + 4, 8);
      if ((head & 1) == 0) {
        store(fake, static_cast<uint8_t>(head), head >> 8, value);
      } else if ((head & 2) == 0) {
        drain.drain(*writer, 64);
      } else if ((head & 4) == 0) {
        drain.reclaim(*writer);
      } else {
        drain.write_open_chunks(*writer);
      }
    }
    drain.finish(*writer, size > 0 && (data[0] & 1) != 0, EndKind::kUnknown, 0, 0);
  }
  (void)writer->finish();
  must_be_readable(path);
  return 0;
}
