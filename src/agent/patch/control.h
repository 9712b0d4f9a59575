// SPDX-License-Identifier: MIT
// What the recorder may ask of this process while it runs: penna_control in penna/channel.h.
//
// Why so: the agent has no thread and no signal of its own here. The recorder stops a thread anywhere, even inside the
// agent, lets it do the work on a stack of ours, and takes it back (reach/remote_call.h).
// Invariant: what runs so is async-signal-safe, waits for nobody, and touches neither the thread's stack nor errno.
#pragma once

struct penna_channel;

namespace penna::agent {

// Writes where the code lies into a channel that is not handed over yet.
void offer_control(penna_channel* channel);

}  // namespace penna::agent
