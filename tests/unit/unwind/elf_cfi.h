// SPDX-License-Identifier: MIT
// For tests: a file's .eh_frame sections in the parser's form, and readelf's own interpretation of them.
#pragma once

#include <elf.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "unwind/cfi.h"

namespace penna::unwind {

// The CFI of a file; addresses are the file's own virtual addresses.
struct ElfCfi {
  std::vector<uint8_t> bytes;
  EhFrame eh_frame;

  explicit ElfCfi(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    if (bytes.size() < sizeof(Elf64_Ehdr)) return;
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes.data() + header->e_shoff);
    const char* names = reinterpret_cast<const char*>(bytes.data() + sections[header->e_shstrndx].sh_offset);
    for (int i = 0; i < header->e_shnum; ++i) {
      const std::string name = names + sections[i].sh_name;
      const Section section{bytes.data() + sections[i].sh_offset, sections[i].sh_size, sections[i].sh_addr};
      if (name == ".eh_frame_hdr") eh_frame.header = section;
      if (name == ".eh_frame") eh_frame.frame = section;
    }
  }
};

}  // namespace penna::unwind
