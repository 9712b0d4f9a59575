// SPDX-License-Identifier: MIT
// libFuzzer target: an arbitrary ELF file, queried for everything that a report asks of a module, and for where its
// calls can be hooked.
//
// Why: recordings name files that anyone may have written; libelf and libdw parse them, and this checks both their
// limits and ours. Seeds: small real programs and libraries, with and without DWARF.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/call_sites.h"
#include "plan/import_sites.h"
#include "symbols/points/sdt_lint.h"
#include "symbols/symbol_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  if (auto elf = penna::ElfFile::from_memory("fuzz", bytes)) {
    (void)penna::lint_sdt(*elf);
    (void)penna::unpack_minidebug(*elf);
    const penna::UnwindTable table(*elf);
    for (const penna::AddressRange& range : elf->load_ranges())
      for (uint64_t at = range.begin, left = 64; at < range.end && left != 0; at += 48, --left)
        (void)table.function_at(at);
    (void)penna::find_import_sites(*elf);
    (void)penna::find_call_sites(*elf, {});
    std::vector<uint64_t> starts;
    for (const penna::AddressRange& range : elf->code_ranges())
      for (uint64_t at = range.begin; at < range.end && starts.size() < 256; at += 16) starts.push_back(at);
    std::sort(starts.begin(), starts.end());
    (void)penna::find_call_sites(*elf, starts);
  }
  auto file = penna::SymbolFile::from_memory("fuzz", std::move(bytes), {});
  if (!file) return 0;
  auto functions = (*file)->functions();
  size_t step = functions.size() / 32 + 1;
  for (size_t i = 0; i < functions.size(); i += step) {
    uint64_t start = functions[i].start;
    for (uint64_t address : {start, start + 1, start + functions[i].size / 2, start + functions[i].size}) {
      (void)(*file)->frames(address, true);
      (void)(*file)->find(address);
      (void)(*file)->find_object(address);
    }
  }
  return 0;
}
