// SPDX-License-Identifier: MIT
// ThreadMemory: what a thread remembers of its last stack, so that the next walk only visits what changed.
//
// A walk is a sequence of states S0, S1, …, Sn from the innermost frame to the outermost, S = (pc, sp, fp). The step
// from Si to Si+1 depends on Si, on the rule of Si.pc and on the memory words that the rule reads, on nothing else.
// So: if a new walk reaches a state equal to a remembered Si, no rule was forgotten since (generation), and every word
// that the remembered steps from Si outwards read still holds its value, then the new walk would take the same steps.
// The words are: the return address of each frame, which lies below the stack pointer that it returns with, and is the
// pc of the next state: the frames themselves record where it is and what it was. And a few that are stored separately:
// the saved fp, where some outer rule counts from the value that it restores (`kNeedsFp`: otherwise a stale fp changes
// nothing, and equality of fp is not required either); the word behind a CFA that is loaded; three words of a signal
// frame; the return address that ended the walk because it is not code: no frame has it as its pc.
// Reading them cannot fault: all lie in one stack range that is also the current one; a walk that crosses stacks is not
// remembered.
//
// Order: index 0 is the outermost frame, so that the known part is a prefix and new frames are appended.
//
//   words:   [ of frame 0 | of frame 1 | … ]   frames[i].word_end = end of the words of frames 0 … i
//
// Nodes: the tree records each node's parent, so finding the node of each new frame is one search after another. A path
// that was walked before is found at once: `paths` holds the innermost node of the last path with the same hash, and
// the tree shows whether that node's parents are the frames of this one. Before that, the frames that followed on the
// same stack the last time are tried: Tail.
//
// Size: about 140 KiB of address space per thread, of which a stack of 25 frames touches four pages.
// Invariant: frames[0 … count) and their words describe one walk completely, at every instruction (a nested walk in a
// signal handler may start anywhere). Memory is given zeroed; zero is the empty state. One thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "unwind/stack_map.h"

namespace penna::unwind {

// How a walk ended. Small, so that it can serve as the pc of a marker frame (see Options::mark_truncation).
enum class End : uint8_t {
  complete = 0,     // the outermost frame was reached
  depth_limit = 1,  // more frames than the limit
  no_rule = 2,      // a frame without CFI, and no frame pointer that can be trusted
  unsupported = 3,  // CFI that needs registers that are not tracked
  bad_memory = 4,   // a rule led outside the stack, or backwards
  tree_full = 5,    // intern() returned 0: node is 0
  interrupted = 6,  // signal handlers walked on this thread's memory again and again meanwhile: node is 0
};

// One remembered or new frame. `meta` is one word, written by one store:
//
//   63    56 55    48 47         32 31                        0
//   ┌───────┬────────┬─────────────┬──────────────────────────┐
//   │guessed│ flags  │  word_end   │ node; in scratch: rule   │
//   └───────┴────────┴─────────────┴──────────────────────────┘
struct Frame {
  enum Flag : uint8_t {
    kExact = 1,    // pc is an interrupted instruction
    kNeedsFp = 2,  // this step or an outer one depends on the value of fp
    kGuessed = 4,  // (scratch only) stepped by an unproven frame pointer
    kNoSlot = 8,   // pc is not the word below sp: interrupted, or another one stood in for it
  };
  static constexpr int kFlagShift = 48, kGuessedShift = 56, kWordShift = 32;
  uintptr_t pc, sp, fp;
  uint64_t meta;

  uint32_t node() const { return static_cast<uint32_t>(meta); }
  uint32_t rule_bits() const { return static_cast<uint32_t>(meta); }  // of the Rule that led outwards; in scratch
  uint32_t word_end() const { return static_cast<uint16_t>(meta >> 32); }
  bool has(Flag flag) const { return (meta >> 48 & flag) != 0; }
  // How many steps from here outwards were guessed, at most 255.
  uint8_t guessed() const { return static_cast<uint8_t>(meta >> 56); }

  static constexpr uint64_t pack(uint32_t node_or_rule, size_t word_end, unsigned flags, uint8_t guessed) {
    return uint64_t{guessed} << kGuessedShift | uint64_t{flags} << kFlagShift | uint64_t{word_end} << kWordShift |
           node_or_rule;
  }
};
static_assert(sizeof(Frame) == 32);

namespace detail {
inline constexpr uint64_t kNeedsFp = uint64_t{Frame::kNeedsFp} << Frame::kFlagShift;
// The part of a frame's meta with which the next inner one continues.
inline constexpr uint64_t kOfNextFrame = Frame::pack(0, UINT16_MAX, Frame::kNeedsFp, UINT8_MAX);
}  // namespace detail

struct Word {
  const uintptr_t* address;
  uintptr_t value;
};

// New frames by plain rules, none of which needs fp, and the known one that they met: what a walk from a certain pc
// found after a certain stack. If the same state is met by a walk that begins with the same state, and the words below
// the stack pointers in between are the same, then so are the frames. Innermost first.
//
//    0      8       12      14      16         20     22  24                      88          120
//   ┌──────┬───────┬───────┬───────┬──────────┬──────┬───┬───────────────────────┬───────────┬───┐
//   │  sp  │ stamp │ known │ fresh │ met_node │ span │   │ 8 x (pc | way << 48)  │ 8 x node  │   │
//   └──────┴───────┴───────┴───────┴──────────┴──────┴───┴───────────────────────┴───────────┴───┘
//   way: words from sp to that frame's stack pointer
struct alignas(64) Tail {
  static constexpr size_t kMost = 8;
  static constexpr int kWayShift = 48;

  uintptr_t sp;       // that the walk began with
  uint32_t stamp;     // ThreadMemory::stamp
  uint16_t known;     // frames that it met, from the outermost
  uint16_t fresh;     // new ones; 0: there is none
  uint32_t met_node;  // of the innermost known one
  uint16_t span;      // words from sp to the stack pointer of that
  uint64_t pcs[kMost];
  uint32_t nodes[kMost];
};
static_assert(sizeof(Tail) == 128 && offsetof(Tail, pcs) == 24 && offsetof(Tail, nodes) == 88);

struct ThreadMemory {
  static constexpr size_t kMaxFrames = 800;  // remembered: a deep recursion may go beyond a fresh walk's limit
  static constexpr size_t kMaxFresh = 512;   // frames of one walk without memory
  static constexpr size_t kMaxWords = 2 * kMaxFrames;
  static constexpr int kPathBits = 11;
  static constexpr int kTailBits = 9;
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // spreads hashes

  uint32_t count;        // remembered frames
  uint32_t usual;        // this many of these, from the outermost, are not kNoSlot
  uint32_t generation;   // of the rule cache when they were walked
  uint32_t sequence;     // of walks begun: shows an interrupted walk that another one ran in between
  uint32_t stamp;        // tails with another one are void
  End end;               // how the remembered walk ended
  bool always_readable;  // the words lie on the thread's own stack, which exists as long as the thread
  StackRange range;      // where all remembered words lie
  StackMap stacks;
  uint32_t nodes[kMaxFresh];       // of scratch
  uint32_t paths[1 << kPathBits];  // by hash of new frames and the node around them: the innermost node; 0: none
  // Not a multiple of 4 KiB apart (below): loads from the one would wait for stores to the other.
  Frame frames[kMaxFrames];
  Frame scratch[kMaxFresh];  // the new frames of the walk in progress, innermost first
  Word words[kMaxWords];

  Tail tails[1 << kTailBits];  // by hash of the node that was remembered, and of the pc that a walk began with

  static_assert(kMaxFrames * sizeof(Frame) % 4096 >= 1024);

  // Forgets what is remembered, which belongs to another tree or stack. Not during a walk.
  void forget() {
    count = 0;
    ++stamp;
  }
};

}  // namespace penna::unwind
