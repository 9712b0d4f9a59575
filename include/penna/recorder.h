/* SPDX-License-Identifier: MIT
 *
 * recorder.h: a program that records itself, without any other process.
 *
 *     penna::Recorder recorder({.file = "app.penna", .events = "db:*"});      // until the end of its scope
 *     if (!recorder) puts(recorder.error());
 *
 * Link with -lpenna; for calls, alloc and locks also with -lpenna-agent behind it (their hooks come before libc's that way).
 * A program that is linked so, and says nothing, is recorded from its first point to its exit by
 *     PENNA_RECORD=FILE ./app
 * and by PENNA_RECORD_KINDS=points,calls PENNA_RECORD_EVENTS='db:*,!db:debug_*' PENNA_RECORD_WHERE='rows > 100' with less or
 * more than all points. Programs that it starts do not see these variables.
 *
 * Two threads of the process, which take no signals and share no descriptor with it, move chunks of events into FILE: full ones
 * at once, others once a second. Forked children are recorded, too, as long as their parent's recorder is there. The recording
 * can be read after the process was killed; what it lacks then had not reached the file: of the last second, or, of a program
 * with more events than can be written, what was in the pool.
 * A process is recorded once in its life, by one recorder: a second one, or one under `penna record`, fails and says so.
 * Thread-safe; not for signal handlers, nor for a forked child.
 */
#ifndef PENNA_RECORDER_H
#define PENNA_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero or null: the default. */
typedef struct penna_recorder_options {
  const char* file;     /* replaced when it exists; default PROGRAM.PID.penna in the current directory */
  const char* kinds;    /* of calls,alloc,locks,points; default points */
  const char* events;   /* points, as penna record -e, separated by commas: "db:*,!db:debug_*"; default all */
  const char* where;    /* condition on the arguments of points, as penna record --where: "rows > 100"; default none */
  uint32_t pool_mib;    /* memory for events on their way, 4 to 4096; default 16 */
  uint32_t stack_depth; /* frames kept of each stack, 1 to 256; default 256 */
  int block; /* when there is no room: not 0 = the thread waits; default: the event is dropped, and counted */
} penna_recorder_options;

/* 0, or -1 with a sentence in `error` (cut to `error_bytes`, ended by a zero; may be null with 0). Null options: all defaults. */
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
