// SPDX-License-Identifier: MIT
// TracedModule: a program or library that a traced process has mapped, and its code's unwind information.
//
// Invariant: bytes are the file's, verified to be the mapped one (symbols/elf/process_modules.h); all of it is
// untrusted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "symbols/elf/process_modules.h"
#include "unwind/cfi.h"

namespace penna {

class TracedModule {
 public:
  explicit TracedModule(ProcessModule module);

  const std::string& path() const { return path_; }
  const ElfFile& file() const { return *file_; }
  std::string key() const;  // the same for every process that has this file, by path and build-id
  uint64_t bias() const { return bias_; }
  uint64_t start() const { return start_; }
  uint64_t end() const { return end_; }
  bool contains(uint64_t address) const { return address >= start_ && address < end_; }
  bool is_code(uint64_t address) const { return range_of(file_->code_ranges(), address - bias_) != nullptr; }
  // The frame rule for a run-time address; kNone: no unwind information covers it.
  unwind::FrameRule rule_at(uint64_t pc) const { return unwind::rule_at(eh_frame_, pc); }
  // Whether a call instruction ends right before it.
  bool is_behind_call(uint64_t address) const;

 private:
  void find_eh_frame();
  std::string path_;
  std::shared_ptr<const ElfFile> file_;  // forked processes share it
  uint64_t bias_, start_ = 0, end_ = 0;
  unwind::EhFrame eh_frame_;
};

}  // namespace penna
