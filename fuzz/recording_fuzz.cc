// SPDX-License-Identifier: MIT
// Any bytes as a recording, as a chunk and as columns: nothing may crash, hang, or take excessive memory.
//
// Input: a selector byte, then the data. 0: a file as it is. 1: a file whose checksums are corrected first, because no
// mutation gets past them by luck. 2: a chunk. 3: {u16 raw size / 8, columns}. 4: {u16 nodes, columns of stacks}. 5: a
// payload of stacks.
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "recording/block.h"
#include "recording/columns/codec.h"
#include "recording/columns/columns.h"
#include "recording/columns/stack_columns.h"
#include "recording/reader.h"

using namespace penna;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename T>
void seal(std::vector<uint8_t>& file, size_t at) {
  if (at + sizeof(T) > file.size()) return;
  uint64_t sum = XXH3_64bits(file.data() + at, offsetof(T, checksum));
  std::memcpy(file.data() + at + offsetof(T, checksum), &sum, sizeof sum);
}

// Corrects the checksums of everything that looks like a block.
void seal_blocks(std::vector<uint8_t>& file) {
  seal<layout::FileHeader>(file, 0);
  seal<layout::InPlace>(file, layout::kInPlaceAt);
  if (file.size() >= sizeof(layout::Trailer)) seal<layout::Trailer>(file, file.size() - sizeof(layout::Trailer));
  for (size_t at = layout::kBlocksAt; at + sizeof(layout::BlockHeader) <= file.size();) {
    BlockRef block;
    std::memcpy(&block.header, file.data() + at, sizeof block.header);
    size_t left = file.size() - at;
    if (block.header.magic != layout::kBlockMagic || block.header.head_bytes > sizeof block.head ||
        block.frame_bytes() + block.header.stored_bytes > left) {
      ++at;
      continue;
    }
    std::memcpy(&block.head, file.data() + at + sizeof block.header, block.header.head_bytes);
    block.header.payload_sum = payload_sum({file.data() + at + block.frame_bytes(), block.header.stored_bytes});
    block.header.head_sum = head_sum(block.header, {file.data() + at + sizeof block.header, block.header.head_bytes});
    std::memcpy(file.data() + at, &block.header, sizeof block.header);
    at += block.frame_bytes() + block.header.stored_bytes;
  }
}

uint64_t read_everything(const Recording& recording) {
  uint64_t sum = recording.damage().text().size();
  std::vector<uint8_t> bytes;
  for (uint32_t i = 0; i < recording.processes().size(); ++i) {
    for (const Module& module : recording.processes()[i].modules)
      sum += recording.module_map(i).find(module.start, module.ticks);
    for (uint32_t start = 1; start < 8; ++start) {
      int depth = 0;
      for (uint32_t id = start; id != 0;) {
        auto node = recording.stack_node(i, id);
        if (!node) break;
        id = node->parent;
        require(++depth <= 65536);
      }
    }
  }
  for (uint32_t i = 0; i < recording.threads().size(); ++i)
    for (const ChunkRef& chunk : recording.chunks(i)) {
      require(chunk.thread == i && chunk.process == recording.threads()[i].process);
      sum += static_cast<uint64_t>(recording.time().duration_ns(chunk.time_begin, chunk.time_end));
      sum += static_cast<uint64_t>(recording.time().realtime_ns(chunk.time_end));
      if (recording.read_chunk(chunk, bytes)) sum += scan_chunk(bytes).records;
    }
  return sum;
}

void as_file(std::vector<uint8_t> file, bool sealed) {
  if (sealed) seal_blocks(file);
  int fd = ::memfd_create("recording", MFD_CLOEXEC);
  require(fd >= 0 && ::write(fd, file.data(), file.size()) == static_cast<ssize_t>(file.size()));
  auto recording = Recording::open("/proc/self/fd/" + std::to_string(fd));
  ::close(fd);
  if (recording)
    read_everything(*recording);
  else
    require(!recording.error().text.empty());
}

void as_chunk(std::span<const uint8_t> chunk) {
  auto summary = scan_chunk(chunk, [](uint32_t, auto&& record) {
    (void)decode_module(record());
    (void)decode_site(record());
    (void)decode_thread_name(record());
  });
  require(summary.content_bytes <= chunk.size());
  ColumnEncoder encoder;
  std::vector<uint8_t> columns, back;
  if (!encoder.encode(chunk, columns)) return;
  require(from_columns(columns, chunk.size(), back));
  require(std::equal(chunk.begin(), chunk.end(), back.begin(), back.end()));
}

void as_columns(std::span<const uint8_t> bytes) {
  uint16_t words = 0;
  if (bytes.size() < sizeof words) return;
  std::memcpy(&words, bytes.data(), sizeof words);
  std::vector<uint8_t> chunk;
  from_columns(bytes.subspan(sizeof words), size_t{words} * 8, chunk);
}

void as_stack_columns(std::span<const uint8_t> bytes) {
  uint16_t nodes = 0;
  if (bytes.size() < sizeof nodes) return;
  std::memcpy(&nodes, bytes.data(), sizeof nodes);
  std::vector<uint8_t> payload;
  from_stack_columns(bytes.subspan(sizeof nodes), 8 + size_t{nodes} * sizeof(penna_stack_node), payload);
}

void as_stacks(std::span<const uint8_t> payload) {
  StackColumnEncoder encoder;
  std::vector<uint8_t> columns, back;
  if (!encoder.encode(payload, columns)) return;
  require(columns.size() <= max_stack_column_bytes(payload.size()));
  require(from_stack_columns(columns, payload.size(), back));
  require(std::equal(payload.begin(), payload.end(), back.begin(), back.end()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::span<const uint8_t> bytes(data + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
    case 1: as_file({bytes.begin(), bytes.end()}, data[0] % 6 == 1); break;
    case 2: as_chunk(bytes); break;
    case 3: as_columns(bytes); break;
    case 4: as_stack_columns(bytes); break;
    case 5: as_stacks(bytes); break;
  }
  return 0;
}
