/* SPDX-License-Identifier: MIT
 *
 * recorder.h: a program that records itself, without any other process.
 *
 *     penna::RecorderOptions options;
 *     options.file = "app.penna";
 *     options.events = "db:*";
 *     penna::Recorder recorder(options);      // until the end of its scope; C++20: recorder({.file = "app.penna"})
 *     if (!recorder) puts(recorder.error());
 *
 * Link with -lpenna; for calls, alloc and locks also with -lpenna-agent behind it (their hooks come before libc's that
 * way). A program that is linked so, and says nothing, is recorded from its first point to its exit by
 *     PENNA_RECORD=FILE ./app
 * and by PENNA_RECORD_KINDS=points,calls PENNA_RECORD_EVENTS='db:*,!db:debug_*' PENNA_RECORD_WHERE='rows > 100' with
 * less or more than all points. Programs that it starts do not see these variables.
 *
 * Two threads of the process, which take no signals and share no descriptor with it, move chunks of events into FILE:
 * full ones at once, others once a second. Forked children are recorded, too, as long as their parent's recorder is
 * there. The recording can be read after the process was killed; what it lacks then had not reached the file: of the
 * last second, or, of a program with more events than can be written, what was in the pool.
 * `penna ctl PID on|off PATTERN` switches points meanwhile.
 * A process is recorded once in its life, by one recorder: a second one, or one under `penna record`, fails and says
 * so. Thread-safe; not for signal handlers, nor for a forked child.
 */
#ifndef PENNA_RECORDER_H
#define PENNA_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "penna/detail/language.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In C++ every field has its default; in C a designated initializer clears what it does not name. */
#ifdef __cplusplus
#define PENNA_DEFAULT(value) = value
#else
#define PENNA_DEFAULT(value)
#endif

/* `size` says which version of this struct the program was compiled with: sizeof(penna_recorder_options). C++ sets it;
 * in C write {.size = sizeof(penna_recorder_options), ...}. Later versions add fields at the end and change none. A
 * smaller struct gets the defaults for what it lacks. A larger one is refused, unless all that is unknown in it is
 * zero. All other fields: zero or null = the default. */
typedef struct penna_recorder_options {
  size_t size PENNA_DEFAULT(sizeof(penna_recorder_options));
  const char* file PENNA_DEFAULT(NULL);   /* replaced when it exists; default PROGRAM.PID.penna, here */
  const char* kinds PENNA_DEFAULT(NULL);  /* of calls,alloc,locks,points; default points */
  const char* events PENNA_DEFAULT(NULL); /* points, as penna record -e: "db:*,!db:debug_*"; default all */
  const char* where PENNA_DEFAULT(NULL);  /* condition on points, as penna record --where: "rows > 100"; default none */
  uint32_t pool_mib PENNA_DEFAULT(0);     /* MiB of memory for events on their way, 4 to 4096; default 16 */
  uint32_t stack_depth PENNA_DEFAULT(0);  /* frames kept of each stack, 1 to 256; default 256 */
  int block PENNA_DEFAULT(0); /* without room: not 0 = the thread waits; default: the event is dropped, and counted */
  uint32_t reserved PENNA_DEFAULT(0); /* zero */
} penna_recorder_options;
#undef PENNA_DEFAULT
PENNA_STATIC_ASSERT(sizeof(penna_recorder_options) == 3 * sizeof(uint32_t) + sizeof(int) + 5 * sizeof(void*),
                    "penna_recorder_options has no padding: the next field begins where this version ends");

/* 0, or -1 with a sentence in `error` (cut to `error_bytes`, ended by a zero; may be null with 0). Null options: all
 * defaults. */
int penna_recorder_start(const penna_recorder_options* options, char* error, size_t error_bytes);
/* Closes the recording; an error is one of writing. Without a recorder, and in a forked child, nothing happens. */
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
