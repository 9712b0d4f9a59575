// SPDX-License-Identifier: MIT
// Messages that carry descriptors between processes (unix(7), SCM_RIGHTS).
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <initializer_list>

#include "base/fd.h"

namespace penna {

// The most descriptors that we send, or accept, in a message.
constexpr size_t kMostDescriptors = 2;

// The header of a message with `part`, and `control` for ancillary data; points to both.
template <typename AnyControl>
msghdr message_of(iovec* part, AnyControl* control) {
  msghdr message{};
  message.msg_iov = part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof *control;
  return message;
}

// Whether all of it was sent. Async-signal-safe.
bool send_with_descriptors(int socket, const void* bytes, size_t size, std::initializer_list<int> descriptors);

// Waits for a message of one byte with one descriptor; none: something else came.
Fd receive_descriptor(const Fd& socket);

}  // namespace penna
