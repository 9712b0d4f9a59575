// SPDX-License-Identifier: MIT
// See far_socket.h.
#include "far_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "base/file.h"

namespace penna {
namespace {

constexpr int kConnectMs = 10'000;
constexpr int kVanishedSeconds = 30;  // without any sign of the other machine

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// An IPv6 address needs brackets before a port (RFC 3986).
std::string shown(const FarAddress& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", address.host, brackets ? "]" : "", address.port);
}

Result<Addresses> look_up(const FarAddress& address, int flags) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const char* host = address.host == "*" ? nullptr : address.host.c_str();
  const int error = ::getaddrinfo(host, address.port.c_str(), &wanted, &found);
  if (error == 0) return Addresses(found, &::freeaddrinfo);
  return Error{fmt::format("cannot find the host {}: {}", address.host,
                           error == EAI_SYSTEM ? errno_text(errno) : ::gai_strerror(error))};
}

void set(const Fd& socket, int level, int option, int value) {
  (void)::setsockopt(socket.get(), level, option, &value, sizeof value);
}

// A peer that has vanished without closing the connection (a cable, a crash) is detected after kVanishedSeconds: by
// keep-alives when nothing is sent, and by TCP_USER_TIMEOUT when sent data is not acknowledged, see tcp(7). No Nagle
// delay: lines are to be seen at once.
void notice_vanished(const Fd& socket) {
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kVanishedSeconds / 3);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kVanishedSeconds / 3);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 2);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kVanishedSeconds * 1000);
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

// The port that the kernel chose, if 0 was requested.
std::string port_of(const Fd& socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  char port[NI_MAXSERV] = "?";
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0)
    (void)::getnameinfo(reinterpret_cast<sockaddr*>(&bound), size, nullptr, 0, port, sizeof port, NI_NUMERICSERV);
  return port;
}

// 0, or errno. V6ONLY: the addresses of both families are bound one by one, so that no more is open than was named.
int listen_at(const addrinfo& at, Fd& socket) {
  socket = Fd(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (at.ai_family == AF_INET6) set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  return ::bind(socket.get(), at.ai_addr, at.ai_addrlen) == 0 && ::listen(socket.get(), 4) == 0 ? 0 : errno;
}

// Not blocking, so that kConnectMs holds; the kernel's own time-out is minutes.
int connect_to(const addrinfo& at, Fd& socket) {
  socket = Fd(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  if (::connect(socket.get(), at.ai_addr, at.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd ready{socket.get(), POLLOUT, 0};
  if (::poll(&ready, 1, kConnectMs) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

Result<FarAddress> parse_far_address(const std::string& text) {
  const Error wrong{fmt::format("'{}' is no HOST:PORT, as build.example:4711, [::1]:4711, or 4711 alone", text)};
  FarAddress address{"localhost", text};
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    address.port = text.substr(colon + 1);
    std::string host = text.substr(0, colon);
    const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (brackets) host = host.substr(1, host.size() - 2);
    // A bare IPv6 address: nothing shows which colon precedes the port.
    if (!brackets && host.find(':') != std::string::npos) return wrong;
    if (!host.empty()) address.host = host;
  }
  const std::string& port = address.port;
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos) return wrong;
  if (std::stoul(port) > 65535) return Error{fmt::format("there is no port {}: they end at 65535", port)};
  return address;
}

// One socket for each address that the name has, all at one port. It is no error if one of two families does not work;
// it is one if the port is in use at any of them.
Result<FarListener> listen_far(const FarAddress& address) {
  const Addresses found = PENNA_TRY(look_up(address, AI_PASSIVE));
  FarListener listener;
  listener.port = address.port;
  int why = 0;
  for (addrinfo* at = found.get(); at != nullptr; at = at->ai_next) {
    if (!listener.sockets.empty()) {  // the same port at all of them
      const auto port = htons(static_cast<uint16_t>(std::stoul(listener.port)));
      if (at->ai_family == AF_INET) reinterpret_cast<sockaddr_in*>(at->ai_addr)->sin_port = port;
      if (at->ai_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(at->ai_addr)->sin6_port = port;
    }
    Fd socket;
    const int error = listen_at(*at, socket);
    if (error == 0) {
      listener.sockets.push_back(std::move(socket));
      listener.port = port_of(listener.sockets.front());
    } else if (why == 0 || error == EADDRINUSE) {
      why = error;
    }
  }
  // A family that this machine does not have is no error if there is another.
  if (!listener.sockets.empty() && why != EADDRINUSE) return listener;
  return Error{fmt::format("cannot listen at {}: {}{}", shown(address), errno_text(why),
                           why == EADDRINUSE ? "; choose another port" : "")};
}

// Address by address, as the name service orders them. A refusal is the most useful reason to report: the machine was
// there.
Result<Fd> connect_far(const FarAddress& address) {
  if (address.host == "*" || address.port == "0") return Error{"say where to connect to: --connect HOST:PORT"};
  const Addresses found = PENNA_TRY(look_up(address, 0));
  int why = 0;
  for (addrinfo* at = found.get(); at != nullptr; at = at->ai_next) {
    Fd socket;
    const int error = connect_to(*at, socket);
    if (error == 0) {
      notice_vanished(socket);
      return socket;
    }
    if (why == 0 || error == ECONNREFUSED) why = error;
  }
  return Error{fmt::format("cannot connect to {}: {}; first start there: etrace --listen {}", shown(address),
                           errno_text(why), shown(address))};
}

// Numeric: looking up a name could take seconds, and the peer may choose the name.
Fd accept_far(const Fd& listener, std::string& from) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  Fd socket(::accept4(listener.get(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return socket;
  notice_vanished(socket);
  char host[NI_MAXHOST] = "?";
  (void)::getnameinfo(reinterpret_cast<sockaddr*>(&peer), size, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  from = host;
  return socket;
}

}  // namespace penna
