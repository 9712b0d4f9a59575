// SPDX-License-Identifier: MIT
// AloneAgent: the agent's file, loaded into a process by us in the place of a dynamic linker.
//
// How: it imports nothing, so its only relocations are those of its own addresses, and one for its thread-local
// variable, which is a function of its own (agent/alone/threads.h). The image, as it lies in memory, goes into a memfd
// which the process maps: by its name the next recorder finds it.
// Invariant: what is there already is not loaded again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_ranges.h"
#include "base/result.h"
#include "reach/alone_program.h"
#include "reach/borrowed_thread.h"
#include "reach/remote_libraries.h"

namespace penna {

// Of the agent that is loaded so, by the path of the one that a dynamic linker loads.
std::string alone_agent_file(const std::string& agent);

class AloneAgent {
 public:
  // `path`: of libpenna-agent.so; the one that is meant lies beside it.
  static Result<AloneAgent> load(const std::string& path);
  static constexpr char kMemoryFile[] = "penna-agent";

  // Maps it from the descriptor of a memfd that is still empty; *base: where. Words behind "process N "; empty: done.
  std::string map(BorrowedThread& thread, int descriptor, uint64_t* base) const;
  // What the memfd shall hold.
  std::string image_at(uint64_t base) const;
  uint64_t attach_at(uint64_t base) const { return base + attach_; }

 private:
  struct Segment {
    uint64_t address, file_bytes, bytes;
    int protection;
  };
  struct Relocation {
    uint64_t at, value;  // in the image
  };
  AloneAgent() = default;
  std::string image_;  // as in the file, by address
  std::vector<Segment> segments_;
  std::vector<Relocation> relocations_;
  uint64_t bytes_ = 0, attach_ = 0;
};

// Where an agent is that came alone before; 0: nowhere.
uint64_t find_alone_agent(const RemoteMemory& memory, const std::vector<MemoryRange>& ranges);
// As a library that lies there.
RemoteLibrary alone_library(const RemoteMemory& memory, uint64_t base);

// Memory for a table of unwind information within reach of the program; 0: it needs none, or there is no room.
uint64_t map_frames(BorrowedThread& thread, const AloneProgram& program, const std::vector<MemoryRange>& ranges);

// Tells the agent, once it lies there, of the program. `frames`: by map_frames(). False: it has ended.
bool tell_alone_agent(const RemoteMemory& memory, uint64_t base, const AloneProgram& program, uint64_t frames);

}  // namespace penna
