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
#include <span>

#include "reach/process/remote_memory.h"

namespace penna {

class PlaceMemory {
 public:
  // The process stays stopped, and `memory` alive, as long as this is used.
  explicit PlaceMemory(const RemoteMemory& memory) : memory_(memory), pages_(new Pages) {}

  // All or nothing, as RemoteMemory has it.
  bool read(RemoteBytes at, std::span<uint8_t> to) {
    const Page* const page = page_of(at, to.size());
    if (page == nullptr) return memory_.read(at, to);
    std::memcpy(to.data(), page->bytes.data() + in_page(at), to.size());
    return true;
  }
  bool write(RemoteBytes at, std::span<const uint8_t> from) {
    if (!memory_.write(at, from)) return false;
    if (!is_in_one_page(at, from.size()))
      kept(at).begin = kept(at + (from.size() - 1)).begin = kNone;
    else if (is_kept(at))
      std::memcpy(kept(at).bytes.data() + in_page(at), from.data(), from.size());
    return true;
  }
  const RemoteMemory& itself() const { return memory_; }

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr RemoteBytes kNone{1};  // no page begins at 1
  struct Page {
    RemoteBytes begin = kNone;
    std::array<uint8_t, kPage> bytes;
  };
  using Pages = std::array<Page, 16>;  // few, because all are touched while the process stands still

  static uint64_t in_page(RemoteBytes at) { return at.number() % kPage; }
  static bool is_in_one_page(RemoteBytes at, size_t bytes) { return bytes <= kPage - in_page(at); }
  // Where the page is kept, or would be.
  Page& kept(RemoteBytes at) { return (*pages_)[at.number() / kPage % std::tuple_size_v<Pages>]; }
  bool is_kept(RemoteBytes at) { return kept(at).begin == aligned_down(at, kPage); }
  // Null: it lies in two pages, or the page cannot be read.
  const Page* page_of(RemoteBytes at, size_t bytes) {
    if (!is_in_one_page(at, bytes)) return nullptr;
    Page& page = kept(at);
    const RemoteBytes begin = aligned_down(at, kPage);
    if (!is_kept(at)) page.begin = memory_.read(begin, page.bytes) ? begin : kNone;
    return is_kept(at) ? &page : nullptr;
  }

  const RemoteMemory& memory_;
  const std::unique_ptr<Pages> pages_;
};

}  // namespace penna
