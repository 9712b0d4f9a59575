// SPDX-License-Identifier: MIT
// The rest of the agent, as far as points need it: one chunk owned by the test, and the modules of this program.
// Invariant: everything that points wrote since rewind() is in records(), decoded only with penna/event.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/patch/points.h"
#include "unwind/arch.h"

namespace fake {

struct Value {
  uint32_t type;     // penna_arg_type
  uint64_t word;     // numbers and pointers
  std::string text;  // strings, and the bytes of arrays
  bool cut = false;
  uint32_t element_type = 0, element_bytes = 0;  // arrays
};

struct Site {
  penna_site_info info;
  std::string provider, name, file;
  std::vector<std::string> arguments;
};

struct Event {
  uint32_t site;
  uint32_t stack;
  uint64_t time;
  std::vector<Value> values;
};

// The agent's start as in lifecycle.cc. `patterns`: as in penna_config. Once a program.
void start(const char* patterns = "", size_t patterns_bytes = 0);

// Makes this thread write to a chunk of its own, from the beginning. The chunk is 64 KiB and never handed on: what does
// not fit is counted in lost().
void rewind();

// This thread's chunk began so long ago that it can tell no more times.
void age_chunk();
extern thread_local uint32_t renewals;  // how often a record was reserved again for that

std::vector<Site> sites();    // told since the start, by whatever thread
std::vector<Event> events();  // of this thread, since rewind()
const Site* site(const char* provider, const char* name);
const Site* site(uint32_t id);
uint64_t lost();
uint64_t sites_armed();
uint64_t sites_refused();

// Calls penna_point_preserving's slow half with vector registers spoiled when set.
extern bool spoil_vectors;

// Where the last walk of this thread began. Each one gives kStack.
inline constexpr uint32_t kStack = 77;
extern thread_local penna::unwind::Registers walk_begin;

}  // namespace fake
