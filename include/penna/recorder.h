/* SPDX-License-Identifier: MIT
 *
 * recorder.h: lets a program record itself, without another process.
 *
 *     penna::RecorderOptions options;
 *     options.file = "app.penna";
 *     options.events = "db:*";
 *     penna::Recorder recorder(options);      // until the end of its scope; C++20: recorder({.file = "app.penna"})
 *     if (!recorder) puts(recorder.error());
 *
 * Link with -lpenna; for calls, alloc and locks add -lpenna-agent after it, so that their hooks precede libc's. A
 * program linked this way needs no code:
 *     PENNA_RECORD=FILE ./app
 * records it from its first point to its exit. PENNA_RECORD_KINDS=points,calls, PENNA_RECORD_EVENTS='db:*,!db:debug_*'
 * and PENNA_RECORD_WHERE='rows > 100' select something else than all points. Programs it starts do not see these
 * variables.
 *
 * Two threads of the process, which block all signals and have their own descriptor table, move chunks of events into
 * FILE: full ones at once, others once a second. Forked children are recorded while their parent's recorder runs. If
 * the process is killed, the recording stays readable and lacks only what had not reached the file: the last second,
 * or, if events come faster than they can be written, the contents of the pool.
 * `penna ctl PID on|off PATTERN` switches points meanwhile.
 * A process is recorded once in its life, by one recorder; a second recorder, or one under `penna record`, fails with a
 * message. Thread-safe. Not async-signal-safe, and not for a forked child.
 */
#ifndef PENNA_RECORDER_H
#define PENNA_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "penna/detail/language.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In C++ every field has its default; in C a designated initializer zeroes the fields it does not name. */
#ifdef __cplusplus
#define PENNA_DEFAULT(value) = value
#else
#define PENNA_DEFAULT(value)
#endif

/* `size` says which version of this struct the program was compiled with: sizeof(penna_recorder_options). C++ sets it;
 * in C write {.size = sizeof(penna_recorder_options), ...}. Later versions only add fields at the end. Fields missing
 * from a smaller struct get their defaults; a larger struct is refused unless its unknown fields are zero. All other
 * fields: zero or null = the default. */
typedef struct penna_recorder_options {
  size_t size PENNA_DEFAULT(sizeof(penna_recorder_options));
  const char* file PENNA_DEFAULT(NULL);   /* replaced when it exists; default PROGRAM.PID.penna, here */
  const char* kinds PENNA_DEFAULT(NULL);  /* of calls,alloc,locks,points; default points */
  const char* events PENNA_DEFAULT(NULL); /* points, as in penna record -e: "db:*,!db:debug_*"; default all */
  const char* where PENNA_DEFAULT(NULL);  /* condition on points, as in record --where: "rows > 100"; default none */
  uint32_t pool_mib PENNA_DEFAULT(0);     /* MiB of memory that buffers events, 4 to 4096; default 16 */
  uint32_t stack_depth PENNA_DEFAULT(0);  /* frames kept of each stack, 1 to 256; default 256 */
  int block PENNA_DEFAULT(0); /* if the buffer is full: not 0 = threads wait; default: events are dropped and counted */
  uint32_t reserved PENNA_DEFAULT(0); /* zero */
} penna_recorder_options;
#undef PENNA_DEFAULT
PENNA_STATIC_ASSERT(sizeof(penna_recorder_options) == 3 * sizeof(uint32_t) + sizeof(int) + 5 * sizeof(void*),
                    "penna_recorder_options has no padding: the next field begins where this version ends");

/* Starts recording this process. Returns 0, or -1 with a sentence in `error` (zero-terminated, cut to `error_bytes`;
 * may be null if that is 0). Null options: all defaults. */
int penna_recorder_start(const penna_recorder_options* options, char* error, size_t error_bytes);
/* Ends and closes the recording. Returns as above; an error means that writing failed. Does nothing without a recorder,
 * and in a forked child. */
int penna_recorder_stop(char* error, size_t error_bytes);

#ifdef __cplusplus
}

namespace penna {

using RecorderOptions = penna_recorder_options;

/* The recorder of this process, from its construction to stop() or its destruction. */
class Recorder {
 public:
  explicit Recorder(const RecorderOptions& options = RecorderOptions())
      : running_(penna_recorder_start(&options, error_, sizeof error_) == 0) {}
  ~Recorder() { stop(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  explicit operator bool() const { return running_; }
  const char* error() const { return error_; } /* a sentence; empty when nothing failed */
  /* True when everything was written. */
  bool stop() {
    const bool was_running = running_;
    running_ = false;
    return was_running && penna_recorder_stop(error_, sizeof error_) == 0;
  }

 private:
  char error_[256] = {};
  bool running_;
};

}  // namespace penna
#endif
#endif
