// SPDX-License-Identifier: MIT
// What the recorder may ask this process to do while it runs: penna_control in penna/channel.h.
//
// Why this way: the agent has no thread and no signal of its own. The recorder stops some thread anywhere, even inside
// the agent, makes it run the request on a stack of ours, and puts it back (reach/remote_call.h).
// Invariant: what runs here is async-signal-safe, waits for nobody, and touches neither the thread's stack nor errno.
#pragma once

struct penna_channel;
struct penna_attachment;

namespace penna::agent {

// Writes the code's addresses into a channel that is not handed over yet.
void offer_control(penna_channel* channel);
// The same for a recorder that came into this process while it ran, and leaves it.
void offer_stop(penna_attachment* shared);

}  // namespace penna::agent
