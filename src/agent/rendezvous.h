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
};

// Connects to the recorder at `socket_path`, takes its wishes, makes a channel and hands it over. Raw system calls only;
// waits at most two seconds for an answer.
bool meet_recorder(const char* socket_path, bool after_exec, Rendezvous* result);

}  // namespace penna::agent
