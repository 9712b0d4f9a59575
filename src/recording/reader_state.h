// SPDX-License-Identifier: MIT
// The state of a Recording, for the two that make one: reader.cc from a file, live_recording.cc while it is recorded.
//
// Invariant: threads, stacks and module_maps belong to processes; every index refers to an existing entry.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "recording/reader.h"
#include "recording/scan.h"
#include "recording/stack_store.h"

namespace penna {

struct Recording::State {
  // A process while blocks are read, by its number.
  struct Gathered {
    RecordedProcess process;
    StackStore stacks;
    std::vector<Thread> names;
    std::vector<Health> health;
    std::map<uint32_t, uint32_t> tids;  // of threads, by serial
  };

  std::string path;
  BlockFile file;
  layout::FileHeader header{};
  std::optional<layout::InPlace> in_place;
  bool finished = false;
  Damage damage;
  Session session;
  CollectorHealth collector;
  std::vector<FileNames> names;
  std::vector<ClockTriplet> clocks;
  TimeMap time;
  std::vector<RecordedProcess> processes;
  std::vector<StackStore> stacks;      // by process
  std::vector<ModuleMap> module_maps;  // by process
  std::vector<RecordedThread> threads;
  std::vector<ChunkRef> chunks;
  std::vector<size_t> first_chunk;  // by thread, and one past the last
  std::once_flag inherited_known;
  std::optional<InheritedCalls> inherited_calls;

  Result<> read_header();
  FoundBlocks find_blocks();
  void read_blocks(const std::vector<BlockRef>& blocks);
  bool take_in(const BlockRef& block, ByteSpan payload);
  bool take_in_stacks(uint32_t process, ByteSpan payload);
  void number_all();
  void add_threads(uint32_t process, Gathered& gathered);
  bool take_in_pieces(const BlockRef& block, ByteSpan payload);
  void add_chunks();
  void find_first_chunks();
  void add_pieces(const std::map<std::pair<uint32_t, uint32_t>, uint32_t>& thread_index);

  std::map<uint32_t, Gathered> gathered;  // only during open()
  std::vector<BlockRef> chunk_blocks;
  struct Piece {
    uint32_t process, serial;  // numbers
    ChunkRef chunk;            // indices not yet set
  };
  std::vector<Piece> pieces;
};

}  // namespace penna
