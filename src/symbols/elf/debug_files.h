// SPDX-License-Identifier: MIT
// Where the separate debug file of a module is: by build-id, by .gnu_debuglink, by .gnu_debugaltlink (dwz).
//
// Why one place: the order of the search decides which names a user sees, and must be the same for every reader.
// Invariant: a file is taken only when its build-id, or without one its CRC, says that it belongs to the module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace penna {

struct DebugSearch {
  // Searched in this order, then /usr/lib/debug under symfs. Each may be a debug root (with .build-id/ in it), a
  // .build-id folder itself, or a folder with debug files.
  std::vector<std::string> debug_dirs;
  // Prefix put before recorded paths and /usr/lib/debug: a copy of another machine's file system. Empty: this machine.
  std::string symfs;
  // Servers to ask last, separated by blanks; empty: debuginfod is never asked, whatever DEBUGINFOD_URLS says.
  std::string debuginfod_urls;
  // All downloads of this process together may take this long.
  double debuginfod_seconds = 60;
};

// The debug file of a module: `path` as recorded, `opened` the file it is read from (null when it is gone). Order:
// build-id in each folder; debuglink beside the file, in .debug/, and under each folder; debuginfod.
std::optional<ElfFile> find_debug_file(const std::string& path, const BuildId& build_id, const ElfFile* opened,
                                       const DebugSearch& search);

// The dwz file that the DWARF of `file` refers to; nothing when it refers to none or none is found. `missing` gets the
// name of one that is needed and was not found.
std::optional<ElfFile> find_alt_file(const ElfFile& file, const DebugSearch& search, std::string* missing);

// The minidebuginfo inside `file` (.gnu_debugdata, xz), unpacked: at most 256 MiB.
std::optional<ElfFile> unpack_minidebug(const ElfFile& file);

// Asks the servers of `search` through libdebuginfod (loaded when first needed) for the debug file of `path`; what they
// cannot give is remembered for debuginfod_failures().
std::optional<ElfFile> debuginfod_fetch(const std::string& path, const BuildId& build_id, const DebugSearch& search);

// Which files this process asked servers for in vain, and why, as one sentence; empty: none. Of all searches together,
// as a file that several readers ask for is one file.
std::string debuginfod_failures();

// The CRC-32 that .gnu_debuglink uses (the one of zlib and Ethernet); `before` is that of what is in front of the
// bytes.
uint32_t debuglink_crc(std::span<const uint8_t> bytes, uint32_t before = 0);

}  // namespace penna
