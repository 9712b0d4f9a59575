/* SPDX-License-Identifier: MIT
 * What the agent offers to a recorder in its own process (penna/recorder.h); functions of libpenna-agent.so.
 */
#ifndef PENNA_DETAIL_JOIN_H
#define PENNA_DETAIL_JOIN_H

#ifdef __cplusplus
extern "C" {
#endif

enum penna_join {
  PENNA_JOINED = 0,
  PENNA_JOIN_AGAIN =
      1, /* somebody records this process, or has recorded it: threads still hold that channel's chunks */
  PENNA_JOIN_REFUSED = 2 /* the recorder does not answer, or there is no memory for a channel */
};

/* Meets the recorder at this socket, as at the start of a program that penna record has started; but programs that this
 * one starts are not followed. Null: only asks whether that could be. One thread at a time; not from a signal
 * handler. */
enum penna_join penna_agent_join(const char* socket_path);

/* From here on look() is called when a dlopen has brought something, by the thread that asked for it, until it is
 * another one; null: nobody is. */
void penna_agent_when_opened(void (*look)(void));

/* Ends what join began: nothing is recorded any more, points have their own bytes back. */
void penna_agent_leave(void);

/* Has this process do what is asked, as a recorder of another process does it (penna/channel.h); `control` then has the
 * answer. By the recorder's own thread, never by a signal handler. */
struct penna_control;
void penna_agent_change(struct penna_control* control);

/* Nothing that this thread does is recorded, and it never waits for room: it is the recorder. */
void penna_agent_mute_thread(void);

#ifdef __cplusplus
}
#endif
#endif
