// SPDX-License-Identifier: MIT
// See live_output.h.
#include "live/live_output.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace penna {

void LiveOutput::put(std::string_view text) {
  if (!over_) waiting_ += text;
  if (!has_room()) (void)flush(0);
}

// The descriptor may be a terminal shared with others, and must not be made non-blocking. But a pipe that poll(2)
// reports as ready takes PIPE_BUF bytes without waiting (pipe(7)), so no write is longer than that.
bool LiveOutput::flush(int patience_ms) {
  size_t written = 0;
  while (written < waiting_.size() && !over_) {
    pollfd ready{fd_, POLLOUT, 0};
    const int count = ::poll(&ready, 1, patience_ms);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    const ssize_t got = ::write(fd_, waiting_.data() + written, std::min<size_t>(waiting_.size() - written, PIPE_BUF));
    if (got >= 0) {
      written += static_cast<size_t>(got);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      over_ = true;
      if (errno != EPIPE) error_ = errno;
    }
  }
  waiting_.erase(0, written);
  if (over_) waiting_.clear();
  return waiting_.empty();
}

}  // namespace penna
