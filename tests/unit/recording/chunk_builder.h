// SPDX-License-Identifier: MIT
// ChunkBuilder: chunks as a target would leave them, and as none ever should. Test-only.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "penna/channel.h"
#include "penna/event.h"

namespace penna {

class ChunkBuilder {
 public:
  explicit ChunkBuilder(uint64_t time_begin = 1'000'000, uint32_t serial = 1, uint64_t sequence = 0) {
    header_.ctf_magic = PENNA_CTF_MAGIC;
    header_.time_begin = time_begin;
    header_.packet_bits = uint64_t{PENNA_CHUNK_BYTES} * 8;
    header_.tid = 4000 + serial;
    header_.thread_serial = serial;
    header_.sequence = sequence;
    header_.pc_high = 0x5555;
    bytes_.resize(sizeof header_);
  }

  penna_chunk& header() { return header_; }
  ChunkBuilder& word(uint64_t value) {
    bytes_.insert(bytes_.end(), reinterpret_cast<uint8_t*>(&value), reinterpret_cast<uint8_t*>(&value) + 8);
    return *this;
  }
  ChunkBuilder& entry(uint64_t pc, uint64_t time) { return word(penna_call_header(PENNA_TAG_ENTRY, pc, time)); }
  ChunkBuilder& exit(uint64_t pc, uint64_t time) { return word(penna_call_header(PENNA_TAG_EXIT, pc, time)); }

  template <typename Payload>
  ChunkBuilder& full(uint32_t kind, uint64_t time, const Payload& payload, const std::string& after = "",
                     uint32_t tag = PENNA_TAG_FULL) {
    std::vector<uint8_t> body(sizeof payload);
    std::memcpy(body.data(), &payload, sizeof payload);
    body.insert(body.end(), after.begin(), after.end());
    body.resize((body.size() + 7) / 8 * 8);
    word(penna_full_header(kind, static_cast<uint32_t>(1 + body.size() / 8), time) | tag);
    bytes_.insert(bytes_.end(), body.begin(), body.end());
    return *this;
  }
  ChunkBuilder& alloc(uint64_t address, uint32_t size, uint32_t stack, uint64_t time) {
    return full(PENNA_KIND_ALLOC, time, penna_alloc{address, stack, size});
  }
  ChunkBuilder& free(uint64_t address, uint64_t time) { return full(PENNA_KIND_FREE, time, penna_free{address}); }

  // As a thread gives it away: the header says where the content ends.
  std::vector<uint8_t> close(uint64_t time_end = 0) {
    header_.time_end = time_end;
    header_.content_bits = bytes_.size() * 8;
    return leave();
  }
  // As a thread that died leaves it; zeros to the end of the chunk.
  std::vector<uint8_t> leave() {
    std::memcpy(bytes_.data(), &header_, sizeof header_);
    auto chunk = bytes_;
    chunk.resize(PENNA_CHUNK_BYTES);
    return chunk;
  }
  size_t size() const { return bytes_.size(); }
  bool has_room(size_t bytes) const { return bytes_.size() + bytes <= PENNA_CHUNK_BYTES; }

 private:
  penna_chunk header_{};
  std::vector<uint8_t> bytes_;
};

}  // namespace penna
