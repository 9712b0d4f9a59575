/* SPDX-License-Identifier: MIT
 *
 * feather_trace.h: the names of Feather-Trace, for programs in C and C++ that use them.
 *
 *     ft_event(id, callback)  ft_event0(id, callback) ... ft_event3(id, callback, a, b, c)    triggers: penna/trigger.h
 *     ft_enable_event(id) and the like     penna/control.h
 *     struct ft_buffer and its functions   penna/ring.h
 *     alloc_flushed_ft_buffer() and the like: a thread that reads a buffer and writes it into a file
 *
 * Why thin: there is one kind of trigger and one kind of ring. What is different, and better, is in
 * docs/from-feather-trace.md.
 * Invariant: for buffers, as for rings: each record for which there was room is read once, in the order in which it was
 * begun.
 * Needs the include path of Penna and no library. Not for kernels and firmware: use the headers below there.
 */
#ifndef PENNA_FEATHER_TRACE_H
#define PENNA_FEATHER_TRACE_H

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "penna/clock.h"
#include "penna/ring.h"
#include "penna/trigger.h"

PENNA_C_CODE_BEGIN

/* ---- Triggers ---------------------------------------------------------------------------------------------------- */
/* The id is an integer constant, named or not; with ft_event() the callback gets no arguments. */

#define feather_callback __attribute__((used))

/* clang-format off */
#define ft_event(id, callback) PENNA_TRIGGER_ID(id, callback)
#define ft_event0(id, callback) PENNA_TRIGGER_ID(id, callback, FT_WORD(id))
#define ft_event1(id, callback, a) PENNA_TRIGGER_ID(id, callback, FT_WORD(id), FT_WORD(a))
#define ft_event2(id, callback, a, b) PENNA_TRIGGER_ID(id, callback, FT_WORD(id), FT_WORD(a), FT_WORD(b))
#define ft_event3(id, callback, a, b, c) PENNA_TRIGGER_ID(id, callback, FT_WORD(id), FT_WORD(a), FT_WORD(b), FT_WORD(c))
/* clang-format on */

/* Arguments are passed as longs: in C++ that takes a type that converts to what the callback wants. */
#ifdef __cplusplus
struct ft_word {
  long value;
  template <class Wanted>
  operator Wanted() const {
    return (Wanted)value;
  }
};
template <class Argument>
PENNA_INLINE ft_word ft_to_word(const Argument& argument) {
  return ft_word{(long)argument};
}
#define FT_WORD(argument) ft_to_word(argument)
#else
#define FT_WORD(argument) (argument)
#endif

/* All triggers of one id are switched together, also those of libraries that are loaded later. Enables count. Each
 * returns how many triggers there are, 0 if the id is unknown; -1 if there is no memory to remember that.
 * ft_is_event_enabled() returns how many are on. */
PENNA_API int ft_enable_event(unsigned long id) { return id <= INT32_MAX ? penna_enable_id((uint32_t)id) : 0; }
PENNA_API int ft_disable_event(unsigned long id) { return id <= INT32_MAX ? penna_disable_id((uint32_t)id) : 0; }
PENNA_API int ft_is_event_enabled(unsigned long id) { return id <= INT32_MAX ? penna_is_enabled_id((uint32_t)id) : 0; }
/* Of triggers with an id: points that are being recorded stay on. */
PENNA_API int ft_disable_all_events(void) {
  return penna_change("trigger:*", 1u << PENNA_SITE_TRIGGER, penna_request_off());
}

/* 1: there is nothing to do. 0: triggers do not work on this processor. */
PENNA_API int init_ft_events(void) {
#ifdef PENNA_ARCH_HAS_POINTS
  return 1;
#else
  return 0;
#endif
}

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

PENNA_API unsigned long long microtime(void) { /* since 1970 */
  struct timeval now;
  gettimeofday(&now, NULL);
  return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_usec;
}
PENNA_API unsigned long long ft_read_tsc(void) { return penna_now(); }

/* ---- Buffers: any number of writers, one reader ------------------------------------------------------------------ */

struct ft_buffer {
  unsigned int slot_count;
  unsigned int slot_size;
  unsigned int failed_writes; /* for which there was no room */
  struct penna_ring* ring;
  uint32_t* tickets; /* by slot: the ticket of its writer, between start and finish */
};

/* Ring, tickets, and what is needed to align them. */
PENNA_API size_t ft_ring_room(unsigned int slot_count, unsigned int slot_size) {
  return penna_ring_bytes(slot_count, slot_size) + slot_count * sizeof(uint32_t) + 63;
}
/* In memory that is all zero. */
PENNA_API int ft_place_ring(struct ft_buffer* buffer, unsigned int slot_count, unsigned int slot_size, void* memory) {
  buffer->ring = (struct penna_ring*)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
  buffer->tickets = (uint32_t*)(void*)((char*)buffer->ring + penna_ring_bytes(slot_count, slot_size));
  buffer->slot_count = slot_count;
  buffer->slot_size = slot_size;
  buffer->failed_writes = 0;
  return penna_ring_init_zeroed(buffer->ring, slot_count, slot_size);
}

/* 1, or 0 if slot_count is not a power of two, or there is no memory. The two pieces of memory are not used: a ring
 * needs more, and takes it from malloc. */
PENNA_API int init_ft_buffer(struct ft_buffer* buffer, unsigned int slot_count, unsigned int slot_size, char* slots,
                             void* memory) {
  void* room = PENNA_RING_IS_VALID(slot_count) ? calloc(1, ft_ring_room(slot_count, slot_size)) : NULL;
  (void)slots, (void)memory;
  return room != NULL && ft_place_ring(buffer, slot_count, slot_size, room);
}
/* All in one piece, for free(). NULL under the same conditions. */
PENNA_API struct ft_buffer* alloc_ft_buffer(unsigned int slot_count, unsigned int slot_size) {
  struct ft_buffer* buffer = NULL;
  if (PENNA_RING_IS_VALID(slot_count))
    buffer = (struct ft_buffer*)calloc(1, sizeof *buffer + ft_ring_room(slot_count, slot_size));
  if (buffer != NULL) ft_place_ring(buffer, slot_count, slot_size, buffer + 1);
  return buffer;
}

/* By slot, because between start and finish a writer has only the record's address to identify it. */
PENNA_API uint32_t* ft_ticket_of(struct ft_buffer* buffer, const void* record) {
  const size_t offset = (size_t)((const char*)record - (const char*)(buffer->ring + 1));
  return &buffer->tickets[offset / PENNA_RING_STRIDE(buffer->slot_size)];
}
PENNA_API int ft_buffer_start_write(struct ft_buffer* buffer, void** record) {
  uint32_t ticket;
  *record = penna_ring_reserve(buffer->ring, &ticket);
  if (*record == NULL) {
    __atomic_fetch_add(&buffer->failed_writes, 1, __ATOMIC_RELAXED);
    return 0;
  }
  *ft_ticket_of(buffer, *record) = ticket;
  return 1;
}
PENNA_API void ft_buffer_finish_write(struct ft_buffer* buffer, void* record) {
  penna_ring_commit(buffer->ring, *ft_ticket_of(buffer, record));
}
PENNA_API int ft_buffer_read(struct ft_buffer* buffer, void* record) { return penna_ring_read(buffer->ring, record); }

/* ---- The thread that flushes a buffer ---------------------------------------------------------------------------- */

/* Periods to wait for a record that was begun: while there is room; while writers find none; at the end, in periods of
 * 1 ms. */
enum { FT_PERIOD_MS = 20, FT_PATIENCE = 50, FT_CROWDED = 2, FT_LAST_PATIENCE = 10, FT_PIECE = 1 << 16 };

struct ft_flusher {
  struct ft_buffer* buffer;
  char* records;
  uint32_t most; /* records at a time */
  int fd, stop[2], is_stopping;
  unsigned long long unwritten; /* bytes */
  pthread_t thread;
};

/* A file that cannot take more (a full disk) must not keep records in the ring: their bytes are counted, and reported
 * at the end. */
PENNA_API void ft_write_all(struct ft_flusher* self, size_t bytes) {
  const char* from = self->records;
  while (bytes != 0) {
    const ssize_t written = write(self->fd, from, bytes);
    if (written <= 0) break;
    from += written;
    bytes -= (size_t)written;
  }
  self->unwritten += bytes;
}

PENNA_API int ft_patience(const struct ft_flusher* self, int is_full) {
  return self->is_stopping ? FT_LAST_PATIENCE : is_full ? FT_CROWDED : FT_PATIENCE;
}

/* Runs until it is stopped and the buffer is empty. A record whose writer does not finish it is given up after a
 * second, after two periods once the buffer is full, and at the end after ten milliseconds; so is each that was begun
 * before that wait. */
PENNA_API void* ft_flush_thread(void* flusher) {
  struct ft_flusher* self = (struct ft_flusher*)flusher;
  struct penna_ring* ring = self->buffer->ring;
  penna_ticket began = 0, overdue = 0; /* drawn when this wait began, and when the wait began that timed out */
  for (int waited = 0;;) {
    const uint32_t got = penna_ring_read_many(ring, self->records, self->most);
    const penna_tickets tickets = __atomic_load_n(&ring->tickets, __ATOMIC_RELAXED);
    const penna_ticket drawn = penna_tickets_drawn(tickets), passed = penna_tickets_passed(tickets);
    const penna_ticket open = penna_ticket_since(drawn, passed);
    struct pollfd stopped = {self->stop[0], POLLIN, 0};
    ft_write_all(self, (size_t)got * self->buffer->slot_size);
    if (got != 0 || open == 0) waited = 0;
    if (got != 0) continue;
    if (self->is_stopping && open == 0) return NULL;
    if (open != 0 && waited++ == 0) began = drawn;
    if (waited > ft_patience(self, open >= self->buffer->slot_count)) waited = 0, overdue = began;
    const penna_ticket late = penna_ticket_since(overdue, passed);
    if (late != 0 && late <= open && penna_ring_abandon(ring)) continue;
    if (self->is_stopping)
      poll(NULL, 0, 1);
    else
      self->is_stopping = poll(&stopped, 1, FT_PERIOD_MS) > 0;
  }
}

/* A handle for ft_flush_buffer_stop(), or NULL. It closes fd when it stops. */
PENNA_API void* ft_flush_buffer_async(struct ft_buffer* buffer, int fd) {
  const uint32_t most = buffer->slot_size < FT_PIECE ? FT_PIECE / (buffer->slot_size + 1) + 1 : 1;
  struct ft_flusher* self = (struct ft_flusher*)calloc(1, sizeof *self + (size_t)most * buffer->slot_size);
  if (self == NULL) return NULL;
  self->buffer = buffer;
  self->records = (char*)(self + 1);
  self->most = most;
  self->fd = fd;
  if (pipe(self->stop) == 0) {
    fcntl(self->stop[0], F_SETFD, FD_CLOEXEC);
    fcntl(self->stop[1], F_SETFD, FD_CLOEXEC);
    if (pthread_create(&self->thread, NULL, ft_flush_thread, self) == 0) return self;
    close(self->stop[0]);
    close(self->stop[1]);
  }
  free(self);
  return NULL;
}

/* On return, all records that were finished before are in the file. */
PENNA_API void ft_flush_buffer_stop(void* handle) {
  struct ft_flusher* self = (struct ft_flusher*)handle;
  if (self == NULL) return;
  /* A byte, not the end of the pipe: a forked child may hold that open. */
  while (write(self->stop[1], "", 1) < 0) {
  }
  pthread_join(self->thread, NULL);
  if (self->unwritten != 0) fprintf(stderr, "Feather-Trace: %llu bytes could not be written\n", self->unwritten);
  close(self->fd);
  close(self->stop[0]);
  close(self->stop[1]);
  free(self);
}

/* Replaces the file at `path`. Ends the program with a message if that does not work. */
PENNA_API struct ft_buffer* alloc_flushed_ft_buffer(unsigned int slot_count, unsigned int slot_size, const char* path,
                                                    void** handle) {
  struct ft_buffer* buffer = alloc_ft_buffer(slot_count, slot_size);
  const int fd = buffer != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
  if (buffer == NULL)
    fprintf(stderr, "Feather-Trace: no buffer of %u slots: no power of two, or no memory\n", slot_count);
  else if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || (*handle = ft_flush_buffer_async(buffer, fd)) == NULL)
    fprintf(stderr, "Feather-Trace: cannot write %s\n", path);
  else
    return buffer;
  exit(1);
}

PENNA_C_CODE_END

#endif
