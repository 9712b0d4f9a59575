// SPDX-License-Identifier: MIT
// Minidebuginfo (.gnu_debugdata): a small ELF file with function symbols, xz-compressed inside the stripped one.
//
// Invariant: the unpacked data is bounded in size and in memory, whatever the section claims.
#include <lzma.h>

#include <algorithm>

#include "symbols/elf/debug_files.h"

namespace penna {
namespace {

constexpr size_t kMaxUnpacked = size_t{256} << 20;
constexpr uint64_t kMaxDecoderMemory = uint64_t{128} << 20;  // xz -9 needs 65 MiB

}  // namespace

std::optional<ElfFile> unpack_minidebug(const ElfFile& file) {
  const ElfSection* section = file.section(".gnu_debugdata");
  if (section == nullptr) return {};
  auto packed = file.raw(*section);
  if (packed.empty()) return {};
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMaxDecoderMemory, 0) != LZMA_OK) return {};
  stream.next_in = packed.data();
  stream.avail_in = packed.size();
  std::vector<uint8_t> unpacked;
  lzma_ret state = LZMA_OK;
  while (state == LZMA_OK && unpacked.size() < kMaxUnpacked) {
    size_t had = unpacked.size();
    unpacked.resize(std::min(kMaxUnpacked, std::max<size_t>(had * 2, size_t{1} << 16)));
    stream.next_out = unpacked.data() + had;
    stream.avail_out = unpacked.size() - had;
    state = lzma_code(&stream, LZMA_FINISH);
    unpacked.resize(unpacked.size() - stream.avail_out);
  }
  lzma_end(&stream);
  if (state != LZMA_STREAM_END) return {};
  auto inner = ElfFile::from_memory(file.path() + " (.gnu_debugdata)", std::move(unpacked));
  if (!inner) return {};
  return std::move(*inner);
}

uint32_t debuglink_crc(std::span<const uint8_t> bytes, uint32_t before) {
  return lzma_crc32(bytes.data(), bytes.size(), before);
}

}  // namespace penna
