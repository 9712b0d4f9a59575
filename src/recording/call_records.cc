// SPDX-License-Identifier: MIT
// See call_records.h.
#include "recording/call_records.h"

#include <cstring>

#include "penna/event.h"

namespace penna {
namespace {

void append(std::vector<uint8_t>& bytes, uint64_t word) {
  const auto* from = reinterpret_cast<const uint8_t*>(&word);
  bytes.insert(bytes.end(), from, from + sizeof word);
}

}  // namespace

void append_calls(uint32_t kind, uint64_t time, std::span<const uint64_t> pcs, penna_chunk header,
                  std::deque<std::vector<uint8_t>>& out) {
  constexpr size_t kMost = (PENNA_CHUNK_BYTES - sizeof(penna_chunk)) / (2 * sizeof(uint64_t));
  header.time_begin = time;
  while (!pcs.empty()) {
    const size_t count = pcs.size() < kMost ? pcs.size() : kMost;
    std::vector<uint8_t>& bytes = out.emplace_back(sizeof header);
    for (uint64_t pc : pcs.first(count)) {
      append(bytes, penna_full_header(kind, 2, time));
      append(bytes, pc);
    }
    header.content_bits = bytes.size() * 8;
    std::memcpy(bytes.data(), &header, sizeof header);
    pcs = pcs.subspan(count);
  }
}

}  // namespace penna
