// SPDX-License-Identifier: MIT
// TraceLink: the name TRACE in the current directory, by which programs find the etrace that waits for them.
//
// Why a symbolic link: the path of a socket may have 107 bytes, that of a directory thousands. The socket lies
// elsewhere, in a directory that only this user can enter.
// Invariant: anything else called TRACE is never removed; at the end the link is removed if it is still ours.
#pragma once

#include <string>

#include "base/result.h"

namespace penna {

inline constexpr char kTrace[] = "TRACE";

enum class TraceState {
  kNothing,    // there is none
  kLink,       // an etrace waits, or was killed while it waited
  kEmpty,      // a file for the next run
  kRecording,  // a file that a run has filled, or something else in its place: opening it will show
};
// The error says that it is neither a file nor a link.
Result<TraceState> look_at_trace();

class TraceLink {
 public:
  ~TraceLink();
  TraceLink() = default;
  TraceLink(const TraceLink&) = delete;
  TraceLink& operator=(const TraceLink&) = delete;

  // TRACE leads to this socket. The error: it leads to an etrace that waits already.
  Result<> make(const std::string& socket_path);

 private:
  std::string socket_path_;
};

}  // namespace penna
