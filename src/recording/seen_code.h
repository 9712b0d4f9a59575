// SPDX-License-Identifier: MIT
// SeenCode: which places in which files a recording's addresses lie in, gathered while it is written.
//
// Why: files are rebuilt. What names these places had is written at the end of the recording (FileNames), and only of
// places that occurred: a program's whole symbol table may be larger than what was recorded of it.
// Invariant: bounded by kMostPlaces and kMostAddresses; what is beyond them is not remembered, and a reader finds its
// name only where the file still is as it was.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "penna/channel.h"
#include "recording/types.h"

namespace penna {

// Addresses are those of the file (ELF virtual addresses); a return address counts as that of the byte before it.
struct SeenFile {
  std::string path;
  std::vector<uint8_t> build_id;
  std::vector<uint64_t> code, data;  // sorted
};

// Not thread-safe.
class SeenCode {
 public:
  static constexpr size_t kMostPlaces = 1 << 18;     // in all files
  static constexpr size_t kMostAddresses = 1 << 20;  // of one process, until it ends

  void add_modules(uint32_t process, std::span<const Module> modules);
  void add_stacks(uint32_t process, std::span<const penna_stack_node> nodes);
  void add_sites(uint32_t process, std::span<const Site> sites);
  void add_calls(uint32_t process, std::span<const uint64_t> pcs);
  // Words of records of locks: their address, and the kind above it.
  void add_locks(uint32_t process, std::span<const uint64_t> words);
  // No more will come of it, but for what a late chunk brings.
  void end(uint32_t process);

  // Of all processes that have ended, and of those that have not.
  std::vector<SeenFile> files();

 private:
  using Addresses = tsl::robin_set<uint64_t, MixHash>;
  struct OfProcess {
    std::vector<Module> modules;
    Addresses code, data;
  };
  struct OfFile {
    Addresses code, data;
  };
  void place_all(const OfProcess& process);
  void place(const OfProcess& process, Addresses OfProcess::*from, Addresses OfFile::*to);

  std::map<uint32_t, OfProcess> processes_;
  std::map<std::pair<std::string, std::vector<uint8_t>>, OfFile> files_;  // by path and build-id
  size_t places_ = 0;
};

}  // namespace penna
