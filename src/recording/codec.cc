// SPDX-License-Identifier: MIT
// See codec.h.
#include "recording/codec.h"

#include <zstd.h>

#include "base/check.h"

namespace penna {
namespace {

using layout::BlockType;
using layout::Codec;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

bool expands_too_far(BlockType type, size_t raw, size_t stored) {
  return type != BlockType::kChunk && raw > stored * layout::kMaxExpansion + layout::kFreeExpansion;
}

bool unzstd(std::span<const uint8_t> stored, size_t raw_bytes, std::vector<uint8_t>& raw) {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  PENNA_CHECK(context != nullptr);
  raw.resize(raw_bytes);
  size_t got = ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), stored.data(), stored.size());
  return !ZSTD_isError(got) && got == raw_bytes;
}

}  // namespace

struct Compressor::State {
  std::unique_ptr<ZSTD_CCtx, FreeContext> context{ZSTD_createCCtx()};
  int level = 1;
  bool columns = true;
};

Compressor::Compressor(int level, bool columns) : state_(std::make_unique<State>()) {
  PENNA_CHECK(state_->context != nullptr);
  state_->level = level;
  state_->columns = columns;
}
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;
Compressor::~Compressor() = default;

Codec Compressor::compress(BlockType type, std::span<const uint8_t> raw, std::vector<uint8_t>& stored) {
  stored.resize(ZSTD_compressBound(raw.size()));
  size_t got =
      ZSTD_compressCCtx(state_->context.get(), stored.data(), stored.size(), raw.data(), raw.size(), state_->level);
  if (ZSTD_isError(got) || got >= raw.size() || expands_too_far(type, raw.size(), got)) {
    stored.assign(raw.begin(), raw.end());
    return Codec::kNone;
  }
  stored.resize(got);
  return Codec::kZstd;
}

bool decompress(Codec codec, std::span<const uint8_t> stored, size_t raw_bytes, std::vector<uint8_t>& raw) {
  if (raw_bytes > layout::kMaxRawBytes) return false;
  switch (codec) {
    case Codec::kNone: raw.assign(stored.begin(), stored.end()); return raw.size() == raw_bytes;
    case Codec::kZstd: return unzstd(stored, raw_bytes, raw);
    case Codec::kColumns: break;
  }
  return false;
}

}  // namespace penna
