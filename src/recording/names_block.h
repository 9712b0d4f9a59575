// SPDX-License-Identifier: MIT
// NamesBlock: some of a file's places with the texts that they use, for a separate block.
//
// Why: the names of a file may exceed one block, and each block is read alone.
// Invariant: every text number in it refers to a text in it.
#pragma once

#include <cstdint>
#include <utility>

#include "base/hash.h"
#include "recording/types.h"

namespace penna {

// `all` must outlive it.
class NamesBlock {
 public:
  explicit NamesBlock(const FileNames& all) : all_(all) { clear(); }

  void clear() {
    part_ = {all_.path, all_.build_id, {}, {}};
    numbers_.clear();
    bytes_ = 0;
  }
  void add(FileNames::Place place) {
    for (FileNames::Frame& frame : place.frames) {
      frame.function = number_of(frame.function);
      frame.file = number_of(frame.file);
    }
    bytes_ += sizeof(FileNames::Place) + place.frames.size() * sizeof(FileNames::Frame);
    part_.places.push_back(std::move(place));
  }
  size_t bytes() const { return bytes_; }  // an upper estimate
  const FileNames& part() const { return part_; }

 private:
  uint32_t number_of(uint32_t text) {
    const auto [number, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(part_.texts.size()));
    if (is_new) {
      part_.texts.push_back(all_.texts[text]);
      bytes_ += sizeof(uint32_t) + all_.texts[text].size();
    }
    return number->second;
  }

  const FileNames& all_;
  FileNames part_;
  NumberMap<uint32_t> numbers_;  // in `all_` -> in `part_`
  size_t bytes_ = 0;
};

}  // namespace penna
