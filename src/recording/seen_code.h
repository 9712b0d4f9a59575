// SPDX-License-Identifier: MIT
// SeenCode: the places, per file, that a recording's addresses lie in, gathered while it is written.
//
// Why: files are rebuilt. The names of these places are written at the end of the recording (FileNames), and only of
// places that occurred: a program's whole symbol table may be larger than the recording.
// Invariant: bounded by kMostPlaces and kMostAddresses; what exceeds them is not remembered, and a reader finds its
// name only if the file is unchanged.
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

// Addresses are the file's (ELF virtual addresses); a return address counts as the byte before it.
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
  // Words of lock records: their address, and the kind above it.
  void add_locks(uint32_t process, std::span<const uint64_t> words);
  // The process has ended; only a late chunk may still add to it.
  void end(uint32_t process);

  // For all processes, ended or not.
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
