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
  PENNA_JOIN_AGAIN = 1,  /* this process is or was recorded: threads still hold chunks of that channel */
  PENNA_JOIN_REFUSED = 2 /* the recorder does not answer, or there is no memory for a channel */
};

/* Connects to the recorder at this socket, as at the start of a program under penna record; but programs that this one
 * starts are not followed. Null: only checks whether that is possible. One thread at a time; not from a signal handler.
 */
enum penna_join penna_agent_join(const char* socket_path);

/* From now on look() is called after each dlopen that loaded something, on the thread that called dlopen; replaces the
 * function set before; null: none. */
void penna_agent_when_opened(void (*look)(void));

/* Ends what join began: nothing is recorded any more, and points get their original bytes back. */
void penna_agent_leave(void);

/* Makes this process carry out a request, as the recorder of another process does (penna/channel.h); `control` then has
 * the answer. For the recorder's own thread, never for a signal handler. */
struct penna_control;
void penna_agent_change(struct penna_control* control);

/* For a recorder's thread: nothing that it does is recorded, and it never waits for room. */
void penna_agent_mute_thread(void);

#ifdef __cplusplus
}
#endif
#endif
