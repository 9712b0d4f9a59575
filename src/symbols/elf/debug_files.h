// SPDX-License-Identifier: MIT
// Where the separate debug file of a module is: by build ID, by .gnu_debuglink, by .gnu_debugaltlink (dwz).
//
// Why one place: the search order determines which names a user sees, and must be the same for every reader.
// Invariant: a file is taken only if its build ID, or without one its CRC, says that it belongs to the module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace penna {

struct DebugSearch {
  // Searched in this order, then /usr/lib/debug under symfs. Each may be a debug root (with .build-id/ in it), a
  // .build-id directory itself, or a directory with debug files.
  std::vector<std::string> debug_dirs;
  // Prefix for recorded paths and /usr/lib/debug: a copy of another machine's file system. Empty: this machine.
  std::string symfs;
  // Roots of other processes' file systems, where a module that was not found may be, too: only if its build ID is the
  // recorded one.
  std::vector<std::string> other_roots;
  // Servers to ask last, separated by blanks; empty: debuginfod is never asked, whatever DEBUGINFOD_URLS says.
  std::string debuginfod_urls;
  // Time limit for all downloads of this process together.
  double debuginfod_seconds = 60;
};

// The debug file of a module: `path` as recorded, `opened` the file it is read from (null if it is gone). Order: build
// ID in each directory; debuglink next to the file, in .debug/, and under each directory; debuginfod.
std::optional<ElfFile> find_debug_file(const std::string& path, const BuildId& build_id, const ElfFile* opened,
                                       const DebugSearch& search);

// The dwz file that the DWARF of `file` refers to; nothing if it refers to none or none is found. `missing` gets the
// name of one that is needed and was not found.
std::optional<ElfFile> find_alt_file(const ElfFile& file, const DebugSearch& search, std::string* missing);

// The minidebuginfo inside `file` (.gnu_debugdata, xz), unpacked: at most 256 MiB.
std::optional<ElfFile> unpack_minidebug(const ElfFile& file);

// Asks the servers of `search` through libdebuginfod (loaded when first needed) for the debug file of `path`; remembers
// what they do not have for debuginfod_failures().
std::optional<ElfFile> debuginfod_fetch(const std::string& path, const BuildId& build_id, const DebugSearch& search);

// Which files this process asked servers for without success, and why, as one sentence; empty: none. Over all searches,
// as a file that several readers ask for is one file.
std::string debuginfod_failures();

// The CRC-32 that .gnu_debuglink uses (the one of zlib and Ethernet); `before` is that of the preceding bytes.
uint32_t debuglink_crc(std::span<const uint8_t> bytes, uint32_t before = 0);

}  // namespace penna
