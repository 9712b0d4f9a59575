// SPDX-License-Identifier: MIT
// See codec.h.
#include "recording/columns/codec.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "recording/columns/stack_columns.h"

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

bool unzstd_columns(std::span<const uint8_t> stored, std::vector<uint8_t>& columns) {
  const unsigned long long codes = ZSTD_getFrameContentSize(stored.data(), stored.size());
  const size_t frame = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
  if (codes > kMaxColumnBytes || ZSTD_isError(frame)) return false;
  if (!unzstd(stored.first(frame), codes, columns)) return false;
  columns.insert(columns.end(), stored.begin() + static_cast<ptrdiff_t>(frame), stored.end());
  return true;
}

// How often two of the first bytes are equal: in noise, one pair in 256 is.
bool looks_like_noise(std::span<const uint8_t> bytes) {
  std::array<uint32_t, 256> counts{};
  bytes = bytes.first(std::min<size_t>(bytes.size(), 1024));
  for (const uint8_t byte : bytes) ++counts[byte];
  uint64_t same = 0;
  for (const uint32_t count : counts) same += uint64_t{count} * (count - 1);
  return same * 256 < bytes.size() * bytes.size() * 5 / 4;
}

}  // namespace

struct Compressor::State {
  std::unique_ptr<ZSTD_CCtx, FreeContext> context{ZSTD_createCCtx()};
  int level = 1;
  bool columns = true;
  bool hurried = false;
  ColumnEncoder encoder;
  StackColumnEncoder stack_encoder;
  std::vector<uint8_t> column_bytes;

  bool zstd(std::span<const uint8_t> raw, std::vector<uint8_t>& stored);
  bool zstd_columns(std::vector<uint8_t>& stored);
};

bool Compressor::State::zstd(std::span<const uint8_t> raw, std::vector<uint8_t>& stored) {
  stored.resize(ZSTD_compressBound(raw.size()));
  size_t got = ZSTD_compressCCtx(context.get(), stored.data(), stored.size(), raw.data(), raw.size(), level);
  if (ZSTD_isError(got)) return false;
  stored.resize(got);
  return true;
}

// One frame, but a separate zstd block for each column: their symbols have nothing in common. Each block has its own
// tables, which take as long as the data that they are for: in a hurry, all columns are one block. The low bits follow
// uncompressed if they look like noise: zstd would only find out the same, more slowly.
bool Compressor::State::zstd_columns(std::vector<uint8_t>& stored) {
  constexpr size_t kWorthABlock = 512;
  const std::span<const uint8_t> all(column_bytes);
  const size_t packed = looks_like_noise(all.subspan(bits_begin(all))) ? kCodeColumns : kColumnCount;
  const auto codes = all.first(packed == kCodeColumns ? bits_begin(all) : all.size()), rest = all.subspan(codes.size());
  ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  // Repetitions are single symbols already. Short matches between noisy bytes cost time and space; columns are short.
  if (level == 1) {
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_minMatch, 7);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_hashLog, 8);
  }
  ZSTD_CCtx_setPledgedSrcSize(context.get(), codes.size());
  stored.resize(ZSTD_compressBound(codes.size()) + 16 * kColumnCount);
  if (hurried) {
    const size_t got = ZSTD_compress2(context.get(), stored.data(), stored.size(), codes.data(), codes.size());
    if (ZSTD_isError(got)) return false;
    stored.resize(got);
    stored.insert(stored.end(), rest.begin(), rest.end());
    return true;
  }
  ZSTD_outBuffer out{stored.data(), stored.size(), 0};
  for (size_t begin = 0, end = kColumnTable, i = 0; i < packed; ++i) {
    end += column_bytes_of(all, i);
    const bool last = i + 1 == packed;
    if (end - begin < kWorthABlock && !last) continue;
    ZSTD_inBuffer in{codes.data() + begin, end - begin, 0};
    size_t left = ZSTD_compressStream2(context.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_flush);
    if (left != 0) return false;  // an error, or no room: then compression is not worth it
    begin = end;
  }
  stored.resize(out.pos);
  stored.insert(stored.end(), rest.begin(), rest.end());
  return true;
}

Compressor::Compressor(int level, bool columns) : state_(std::make_unique<State>()) {
  PENNA_CHECK(state_->context != nullptr);
  state_->level = level;
  state_->columns = columns;
}
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;
Compressor::~Compressor() = default;

void Compressor::hurry(bool wanted) { state_->hurried = wanted; }

const ColumnEncoder& Compressor::encoder() const { return state_->encoder; }

Codec Compressor::compress(BlockType type, std::span<const uint8_t> raw, std::vector<uint8_t>& stored) {
  State& state = *state_;
  if (type == BlockType::kChunk && state.columns && state.encoder.encode(raw, state.column_bytes) &&
      state.zstd_columns(stored) && stored.size() < raw.size())
    return Codec::kColumns;
  if (type == BlockType::kStacks && state.columns && state.stack_encoder.encode(raw, state.column_bytes) &&
      state.zstd(state.column_bytes, stored) && stored.size() < raw.size() &&
      !expands_too_far(type, raw.size(), stored.size()))
    return Codec::kStackColumns;
  if (state.zstd(raw, stored) && stored.size() < raw.size() && !expands_too_far(type, raw.size(), stored.size()))
    return Codec::kZstd;
  stored.assign(raw.begin(), raw.end());
  return Codec::kNone;
}

bool decompress(Codec codec, std::span<const uint8_t> stored, size_t raw_bytes, std::vector<uint8_t>& raw,
                uint32_t version) {
  if (raw_bytes > layout::kMaxRawBytes) return false;
  switch (codec) {
    case Codec::kNone: raw.assign(stored.begin(), stored.end()); return raw.size() == raw_bytes;
    case Codec::kZstd: return unzstd(stored, raw_bytes, raw);
    case Codec::kColumns: {
      thread_local std::vector<uint8_t> columns;
      return unzstd_columns(stored, columns) && from_columns(columns, raw_bytes, raw, version);
    }
    case Codec::kStackColumns: {
      thread_local std::vector<uint8_t> columns;
      const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
      return size <= max_stack_column_bytes(raw_bytes) && unzstd(stored, size, columns) &&
             from_stack_columns(columns, raw_bytes, raw);
    }
  }
  return false;
}

}  // namespace penna
