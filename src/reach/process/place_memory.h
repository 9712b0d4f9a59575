// SPDX-License-Identifier: MIT
// PlaceMemory: the memory of a stopped process, place by place.
//
// Why: tens of thousands of places are looked at while all threads stand still, and most have neighbours in their page:
// one system call reads all of those. Each write is one of its own, so that only the place's bytes are ever touched.
// Invariant: read() gives what was there when the page was first read, and what was written here since; itself(), what
// is there now.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "reach/process/remote_memory.h"

namespace penna {

class PlaceMemory {
 public:
  // The process stays stopped, and `memory` alive, as long as this is used.
  explicit PlaceMemory(const RemoteMemory& memory) : memory_(memory), pages_(new Pages) {}

  // All or nothing, as RemoteMemory has it.
  bool read(uint64_t at, void* to, size_t bytes) {
    const Page* const page = page_of(at, bytes);
    if (page == nullptr) return memory_.read(at, to, bytes);
    std::memcpy(to, page->bytes.data() + at % kPage, bytes);
    return true;
  }
  bool write(uint64_t at, const void* from, size_t bytes) {
    if (!memory_.write(at, from, bytes)) return false;
    if (!is_in_one_page(at, bytes))
      kept(at).begin = kept(at + bytes - 1).begin = kNone;
    else if (is_kept(at))
      std::memcpy(kept(at).bytes.data() + at % kPage, from, bytes);
    return true;
  }
  const RemoteMemory& itself() const { return memory_; }

 private:
  static constexpr uint64_t kPage = 4096, kNone = 1;  // no page begins at 1
  struct Page {
    uint64_t begin = kNone;
    std::array<uint8_t, kPage> bytes;
  };
  using Pages = std::array<Page, 16>;  // few, because all are touched while the process stands still

  static bool is_in_one_page(uint64_t at, size_t bytes) { return bytes <= kPage - at % kPage; }
  // Where the page is kept, or would be.
  Page& kept(uint64_t at) { return (*pages_)[at / kPage % std::tuple_size_v<Pages>]; }
  bool is_kept(uint64_t at) { return kept(at).begin == (at & ~(kPage - 1)); }
  // Null: it lies in two pages, or the page cannot be read.
  const Page* page_of(uint64_t at, size_t bytes) {
    if (!is_in_one_page(at, bytes)) return nullptr;
    Page& page = kept(at);
    const uint64_t begin = at & ~(kPage - 1);
    if (!is_kept(at)) page.begin = memory_.read(begin, page.bytes.data(), kPage) ? begin : kNone;
    return is_kept(at) ? &page : nullptr;
  }

  const RemoteMemory& memory_;
  const std::unique_ptr<Pages> pages_;
};

}  // namespace penna
