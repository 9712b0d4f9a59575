// SPDX-License-Identifier: MIT
// Compression of block payloads.
//
// Why level 1: the recorder shares the machine with its target. Why two ways to pack columns: where events come faster
// than they can be packed well, the program waits for the packing (docs/decisions/0047).
// Invariant: decompress(compress(x)) == x, bit by bit, and a stored payload is never longer than the raw one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "recording/columns/columns.h"
#include "recording/layout.h"

namespace penna {

// Owns a zstd compression context, allocated once (some 600 KiB). One thread at a time.
class Compressor {
 public:
  Compressor(int level, bool columns);
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;
  ~Compressor();

  // Fills `stored` (reused) and returns the codec used; kNone if nothing else helps or the expansion limit forbids it.
  layout::Codec compress(layout::BlockType type, std::span<const uint8_t> raw, std::vector<uint8_t>& stored);

  // From now on chunks are packed in half the time, and are up to a half larger; false: small again. A reader sees no
  // difference.
  void hurry(bool wanted);

  // The encoder of the previous chunk: see ColumnEncoder. Without columns, it has encoded none.
  const ColumnEncoder& encoder() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// False when `stored` is not exactly `raw_bytes` (<= kMaxRawBytes) of payload in this codec. Thread-safe.
bool decompress(layout::Codec codec, std::span<const uint8_t> stored, size_t raw_bytes, std::vector<uint8_t>& raw,
                uint32_t version = layout::kVersion);

}  // namespace penna
