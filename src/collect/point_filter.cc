// SPDX-License-Identifier: MIT
// See point_filter.h.
#include "collect/point_filter.h"

#include <cstring>

namespace penna {
namespace {

// The header lies in front of the payload.
void make_pad(std::span<uint8_t> chunk, const Record& record) {
  const size_t at = static_cast<size_t>(record.payload - chunk.data());
  uint64_t header = load_word(record.payload - sizeof header);
  header = penna_full_header(PENNA_KIND_PAD, 1 + record.payload_bytes / 8, header >> 16);
  std::memcpy(chunk.data() + at - sizeof header, &header, sizeof header);
  std::memset(chunk.data() + at, 0, record.payload_bytes);
}

}  // namespace

void PointFilter::learn(std::span<const uint8_t> chunk) {
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind != PENNA_KIND_SITE) continue;
    if (auto site = decode_site(record)) selection_.add(std::move(*site));
  }
}

void PointFilter::apply(std::span<uint8_t> chunk, const std::function<void()>& look_elsewhere) {
  learn(chunk);
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind != PENNA_KIND_POINT) continue;
    const uint32_t id = record.as<penna_point>().site;
    if (!selection_.knows(id) && nowhere_.insert(id).second) look_elsewhere();
    if (selection_.keeps(in.header().thread_serial, record)) continue;
    make_pad(chunk, record);
    ++left_out_;
  }
}

}  // namespace penna
