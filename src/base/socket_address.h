// SPDX-License-Identifier: MIT
// The address of a Unix socket (unix(7)): a path, or an abstract name, which no directory has.
//
// Invariant: a name that does not fit makes an address that is false, and must not be used.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace penna {

// Its calls return what the system's do, and are async-signal-safe.
class SocketAddress {
 public:
  static SocketAddress of_path(std::string_view path) { return {path, 0}; }
  static SocketAddress of_name(std::string_view name) { return {name, 1}; }

  explicit operator bool() const { return bytes_ != 0; }
  int bind(int socket) const { return ::bind(socket, generic(), bytes_); }
  int connect(int socket) const { return ::connect(socket, generic(), bytes_); }

 private:
  // `at`: where in sun_path the name begins; an abstract one is behind a zero byte.
  SocketAddress(std::string_view name, size_t at) {
    if (at + name.size() >= sizeof address_.sun_path) return;
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path + at, name.data(), name.size());
    // Only a path ends with a zero byte.
    bytes_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
  }
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address_); }

  sockaddr_un address_{};
  socklen_t bytes_ = 0;
};

}  // namespace penna
