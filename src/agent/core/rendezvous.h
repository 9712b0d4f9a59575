// SPDX-License-Identifier: MIT
// The meeting with the recorder: one socket, four messages, no descriptor left behind.
//
// Invariant: when it fails, nothing of it remains in the process.
#pragma once

#include "penna/channel.h"

namespace penna::agent {

struct Rendezvous {
  penna_config config;
  penna_channel* channel;
  uint64_t channel_bytes;  // as mapped
  penna_doorbell* doorbell;
  const penna_life* life;
  uint32_t pid;
};

// The process that met the recorder and was forked, which may be gone by now.
struct ForkedFrom {
  uint32_t pid = 0;     // 0: none, this is a new program
  uint32_t thread = 0;  // serial of the thread that forked us; 0: it had told nothing
  uint64_t ticks = 0;   // when it did; 0: not known
};

// Connects to the recorder at `socket_path`, takes its requests, makes a channel and hands it over. Raw system calls
// only; waits at most PENNA_ANSWER_SECONDS for an answer.
struct MeetingSteps {
  void (*make_room)();  // once the recorder has answered, before memory is mapped
  void (*complete)(
      penna_channel* plan);  // writes into the channel what others than this file know, before it is handed over
};
bool meet_recorder(const char* socket_path, const ForkedFrom& forked_from, const MeetingSteps& steps,
                   Rendezvous* result);

// False: this process, and a program that it starts, is allowed too little memory for a channel.
bool room_for_channel();

// Asks the recorder at `socket_path` with the memory `questions` (penna/patch_plan.h). Gives the answer's descriptor,
// or -1. Waits longer, up to PENNA_PLAN_SECONDS: files of any size are read for it.
long ask_recorder(const char* socket_path, long questions);

}  // namespace penna::agent
