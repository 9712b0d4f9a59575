// SPDX-License-Identifier: MIT
// FileToEnter: a file of which single functions are entered, for the agent's own hooks. Its code is searched once for
// all questions about it, and only if one concerns something that it has.
#pragma once

#include <optional>
#include <utility>

#include "plan/detour.h"
#include "plan/file_symbols.h"
#include "symbols/elf/elf_file.h"

namespace penna {

class FileToEnter {
 public:
  explicit FileToEnter(ElfFile of) : file(std::move(of)) {}
  FileToEnter(const FileToEnter&) = delete;
  FileToEnter& operator=(const FileToEnter&) = delete;

  const DetourFinder& finder() {
    if (!finder_) finder_.emplace(file, functions_in(file));
    return *finder_;
  }
  // Whether keeping it is worth its memory: its code was read, and may be asked about again.
  bool is_to_be_kept() const {
    constexpr uint64_t kMostCode = 8 << 20;
    uint64_t code = 0;
    for (const AddressRange& range : file.code_ranges()) code += range.end - range.begin;
    return finder_ && code <= kMostCode;
  }

  const ElfFile file;

 private:
  std::optional<DetourFinder> finder_;  // in `file`
};

}  // namespace penna
