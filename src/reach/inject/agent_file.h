// SPDX-License-Identifier: MIT
// AgentFile: the agent's file, of which a process gets the part that is loaded: a third of it, without debugging
// sections.
//
// Invariant: what is copied is a complete ELF file, whose header names no sections.
#pragma once

#include <elf.h>

#include <cstddef>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

class AgentFile {
 public:
  // The error is a sentence.
  static Result<AgentFile> open(const std::string& path);

  // Into an empty file. False: errno says why.
  bool copy_to(const Fd& file) const;

 private:
  AgentFile(Fd file, const Elf64_Ehdr& header, size_t bytes) : file_(std::move(file)), header_(header), bytes_(bytes) {}

  Fd file_;
  Elf64_Ehdr header_;
  size_t bytes_;
};

}  // namespace penna
