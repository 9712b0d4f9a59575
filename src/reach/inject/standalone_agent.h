// SPDX-License-Identifier: MIT
// StandaloneAgent: the standalone agent's file, which we load into a process in place of a dynamic linker.
//
// How: it imports nothing, so its only relocations are those of its own addresses, and one for its thread-local
// variable, which is resolved by a function of its own (agent/standalone/threads.h). The memory image goes into a memfd
// which the process maps: the memfd's name lets the next recorder find it.
// Invariant: an agent that is already loaded is not loaded again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_ranges.h"
#include "base/result.h"
#include "reach/process/borrowed_thread.h"
#include "reach/process/remote_libraries.h"
#include "reach/start/standalone_program.h"

namespace penna {

// Path of the standalone agent, from the path of the one that a dynamic linker loads.
std::string standalone_agent_file(const std::string& agent);

class StandaloneAgent {
 public:
  // `path`: of libpenna-agent.so; the standalone one is in the same directory.
  static Result<StandaloneAgent> load(const std::string& path);
  static constexpr char kMemoryFile[] = "penna-agent";

  // Maps it from the descriptor of a still empty memfd; *base: where. Returns text to follow "process N "; empty on
  // success.
  std::string map(BorrowedThread& thread, int descriptor, RemoteBytes* base) const;
  // Contents for the memfd.
  std::string image_at(RemoteBytes base) const;
  CodePtr attach_at(RemoteBytes base) const { return base + attach_; }

 private:
  struct Segment {
    uint64_t address, file_bytes, bytes;
    int protection;
  };
  struct Relocation {
    uint64_t at, value;  // relative to the image
  };
  StandaloneAgent() = default;
  std::string image_;  // as in the file, indexed by address
  std::vector<Segment> segments_;
  std::vector<Relocation> relocations_;
  uint64_t bytes_ = 0, attach_ = 0;
};

// Where a standalone agent was loaded before; null: none.
RemoteBytes find_standalone_agent(const RemoteMemory& memory, const std::vector<MemoryRange>& ranges);
// The agent there, seen as a library.
RemoteLibrary standalone_library(const RemoteMemory& memory, RemoteBytes base);

// Memory for a table of unwind information within reach of the program; null: not needed, or no room.
RemotePtr<char> map_frames(BorrowedThread& thread, const StandaloneProgram& program,
                           const std::vector<MemoryRange>& ranges);

// Describes the program to the agent, once it is loaded. `frames`: from map_frames(). False: the process has ended.
bool describe_program_to_agent(const RemoteMemory& memory, RemoteBytes base, const StandaloneProgram& program,
                               RemotePtr<char> frames);

}  // namespace penna
