// SPDX-License-Identifier: MIT
// See turn.h. References: unix(7), abstract sockets.
#include "reach/inject/turn.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "base/socket_address.h"
#include "reach/inject/guest_thread.h"
#include "reach/inject/surgeon.h"

namespace penna {
namespace {

constexpr useconds_t kBetweenLooksUs = 200;
constexpr auto kPatience = std::chrono::seconds(10);
using Clock = std::chrono::steady_clock;

// Nothing is to be done any more for a recorder that was killed while it waited.
bool gives_up(Clock::time_point end) { return Clock::now() > end || Surgeon::is_orphan(); }

Fd take_name(const std::string& name, Clock::time_point end) {
  const auto address = SocketAddress::of_name(name);
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  while (address.bind(socket.get()) != 0) {
    if (gives_up(end)) return {};
    ::usleep(kBetweenLooksUs);
  }
  return socket;
}

}  // namespace

Fd lock_target(pid_t pid) {
  const auto end = Clock::now() + kPatience;
  Fd turn = take_name(fmt::format("penna-surgeon.{}", pid), end);
  // The guest of a recorder whose socket name is not visible here, or that was killed before it let its guest begin.
  while (turn && guest_thread_of(pid) != 0) {
    if (gives_up(end)) return {};
    ::usleep(kBetweenLooksUs);
  }
  return Surgeon::is_orphan() ? Fd() : std::move(turn);
}

}  // namespace penna
