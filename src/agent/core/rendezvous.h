// SPDX-License-Identifier: MIT
// The rendezvous with the recorder: one socket, four messages, no descriptor left behind.
//
// Invariant: if it fails, it leaves nothing behind in the process.
#pragma once

#include "agent/core/channel_room.h"
#include "penna/channel.h"

namespace penna::agent {

struct Rendezvous {
  penna_config config;
  penna_channel* channel;
  uint64_t channel_bytes;  // as mapped
  ReadyRoom ready;         // how much of it is usable
  penna_doorbell* doorbell;
  const penna_life* life;
  uint32_t pid;
};

// The process that this one was forked from, which had met the recorder. It may be gone by now.
struct ForkedFrom {
  uint32_t pid = 0;     // 0: this is a new program
  uint32_t thread = 0;  // serial of the thread that called fork; 0: it had recorded nothing
  uint64_t ticks = 0;   // time of the fork; 0: unknown
};

// Connects to the recorder at `socket_path`, receives its configuration, creates a channel and hands it over. Uses raw
// system calls only; waits at most PENNA_ANSWER_SECONDS for an answer.
struct MeetingSteps {
  void (*make_room)();                    // called when the limits allow for a channel, before memory is mapped
  void (*complete)(penna_channel* plan);  // fills in the parts of the channel that others own, before it is handed over
};
bool meet_recorder(const char* socket_path, const ForkedFrom& forked_from, const MeetingSteps& steps,
                   Rendezvous* result);

// False: RLIMIT_AS or RLIMIT_FSIZE is too small for a channel, here and in programs that this one starts.
bool room_for_channel();

// Sends the memory file `questions` (penna/patch_plan.h) to the recorder at `socket_path`. Returns the descriptor of
// the answer, or -1. Waits up to PENNA_PLAN_SECONDS, because the recorder reads files of any size to answer.
long ask_recorder(const char* socket_path, long questions);

// Announces that this thread is about to exec a program that no dynamic linker loads; `spawns`: to start one in a new
// process. From then on the recorder traces the thread, to hold that program at its start. Returns the connection,
// which an exec closes; -1: the recorder does not trace it. Waits at most PENNA_ANSWER_SECONDS.
long announce_start(const char* socket_path, bool spawns);
// Call if there was no exec. When this returns, no process traces the thread any more.
void take_back_start(long socket);

}  // namespace penna::agent
