// SPDX-License-Identifier: MIT
// See chunk_cut.h.
#include "recording/chunk_cut.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "recording/records.h"

namespace penna {
namespace {

class Cutter {
 public:
  Cutter(std::span<const uint8_t> chunk, std::vector<uint8_t>& out) : chunk_(chunk), out_(out) {
    out_.resize(chunk.size());
  }
  // Runs of bytes are copied at once, when the next gap is known.
  void copy_until(size_t end) {
    std::memmove(out_.data() + written_, chunk_.data() + copied_, end - copied_);
    written_ += end - copied_;
    copied_ = end;
  }
  void pass_until(size_t end) { copied_ = end; }
  // In the form of the chunk, where its pc allows; else in the full form, if there is room for it.
  void put_exit(const Record& record, const penna_chunk& header, size_t begin, size_t end, uint64_t pc) {
    copy_until(begin);
    const uint64_t old = load_word(chunk_.data() + begin);
    copied_ = end;
    if (penna_header_tag(old) == PENNA_TAG_EXIT && pc >> 32 == header.pc_high) {
      put(pc << 32 | static_cast<uint32_t>(old));
    } else if (written_ + 2 * sizeof old <= end) {
      put(penna_full_header(PENNA_KIND_CALL_EXIT, 2, record.time));
      put(pc);
    }
  }
  void finish(penna_chunk header, size_t end) {
    copy_until(end);
    out_.resize(written_);
    if (header.content_bits == 0) return;  // it never said where it ends
    header.content_bits = uint64_t{written_} * 8;
    std::memcpy(out_.data() + offsetof(penna_chunk, content_bits), &header.content_bits, sizeof header.content_bits);
  }

 private:
  void put(uint64_t word) {
    std::memcpy(out_.data() + written_, &word, sizeof word);
    written_ += sizeof word;
  }
  std::span<const uint8_t> chunk_;
  std::vector<uint8_t>& out_;
  size_t copied_ = 0;  // of chunk_: what lies in front is in out_, or left out
  size_t written_ = 0;
};

}  // namespace

void ChunkCut::apply(std::span<const uint8_t> chunk, std::vector<uint8_t>& out) const {
  if (chunk.size() < sizeof(penna_chunk)) {
    out.assign(chunk.begin(), chunk.end());
    return;
  }
  Cutter cutter(chunk, out);
  RecordCursor in(chunk);
  Record record;
  auto exit = exits_.begin();
  while (in.next(record)) {
    const size_t begin = static_cast<size_t>(record.payload - chunk.data()) - sizeof(uint64_t);
    if (leaves_out(begin)) [[unlikely]] {
      cutter.copy_until(begin);
      cutter.pass_until(in.position());
    } else if (exit != exits_.end() && exit->offset == begin) [[unlikely]] {
      cutter.put_exit(record, in.header(), begin, in.position(), exit->pc);
      ++exit;
    }
  }
  cutter.finish(in.header(), in.content_end());
}

}  // namespace penna
