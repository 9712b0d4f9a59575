// SPDX-License-Identifier: MIT
// What is to be pushed and has not arrived yet: a small file for each recording and server, in the user's
// $XDG_STATE_HOME/penna/push.
//
// Why only a note: the recording itself is on disk, and yields the same blocks each time.
// Invariant: a note exists before anything is sent, and is removed when the server has everything; its holder has a
// lock, so that one process at a time pushes a recording. Notes are accessible to this user only.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "options/server_options.h"
#include "recording/reader.h"
#include "sql/clickhouse/fleet_push.h"

namespace penna {

struct PushNote {
  std::string recording;  // an absolute path
  ServerOptions server;
  LabelList labels;
  uint32_t attempt = 0;
};

class PushSpool {
 public:
  // The note of this name ("0123...ef-89ab...": the recording, then the server), locked for this process until it is
  // destroyed. `is_new`: there was none.
  static Result<PushSpool> open(const std::string& name);
  // The names of all notes.
  static Result<std::vector<std::string>> names();

  bool is_new() const { return is_new_; }
  const std::string& path() const { return path_; }
  Result<PushNote> read() const;
  // On disk when it returns.
  Result<> write(const PushNote& note);
  void remove();

 private:
  PushSpool() = default;
  std::string path_;
  Fd lock_;
  bool is_new_ = false;
};

// Of the note for a recording and a server.
std::string push_note_name(const Recording& recording, const ServerOptions& server);
// The recording is about to be deleted: it will not be pushed any more.
void forget_push(const std::string& recording, const ServerOptions& server);

}  // namespace penna
