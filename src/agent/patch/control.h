// SPDX-License-Identifier: MIT
// What the recorder may request of this process while it runs: penna_control in penna/channel.h.
//
// Why this way: the agent has neither its own thread nor its own signal. The recorder stops some thread anywhere, even
// inside the agent, makes it run the request on the agent's stack, and restores it (reach/process/remote_call.h).
// Invariant: what runs here is async-signal-safe, never waits, and touches neither the thread's stack nor errno.
#pragma once

struct penna_channel;
struct penna_attachment;

namespace penna::agent {

// Writes the code's addresses into a channel that is not handed over yet.
void offer_control(penna_channel* channel);
// The same for a recorder that has attached to this process, and detaches from it.
void offer_stop(penna_attachment* shared);

}  // namespace penna::agent
