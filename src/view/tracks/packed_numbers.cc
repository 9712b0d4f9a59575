// SPDX-License-Identifier: MIT
// See packed_numbers.h.
#include "view/tracks/packed_numbers.h"

#include <xxhash.h>
#include <zstd.h>

#include <cstring>

namespace penna {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;  // unpacked

}  // namespace

std::vector<uint8_t> pack(const NumberWriter& numbers) {
  const std::vector<uint8_t>& plain = numbers.bytes();
  std::vector<uint8_t> bytes(sizeof(uint64_t) + ZSTD_compressBound(plain.size()));
  const size_t size =
      ZSTD_compress(bytes.data() + sizeof(uint64_t), bytes.size() - sizeof(uint64_t), plain.data(), plain.size(), 3);
  bytes.resize(sizeof(uint64_t) + (ZSTD_isError(size) ? 0 : size));
  const uint64_t sum = XXH3_64bits(bytes.data() + sizeof sum, bytes.size() - sizeof sum);
  std::memcpy(bytes.data(), &sum, sizeof sum);
  return bytes;
}

std::optional<std::vector<uint8_t>> unpack(std::span<const uint8_t> bytes) {
  uint64_t sum = 0;
  if (bytes.size() < sizeof sum) return {};
  std::memcpy(&sum, bytes.data(), sizeof sum);
  const std::span<const uint8_t> frame = bytes.subspan(sizeof sum);
  if (XXH3_64bits(frame.data(), frame.size()) != sum) return {};
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size > kMostBytes) return {};  // or unknown
  std::vector<uint8_t> plain(size);
  if (ZSTD_decompress(plain.data(), plain.size(), frame.data(), frame.size()) != size) return {};
  return plain;
}

}  // namespace penna
