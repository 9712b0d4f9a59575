// SPDX-License-Identifier: MIT
// Sockets between two machines: HOST:PORT as people write it, listening, connecting.
//
//   4711, :4711, localhost:4711    this machine only
//   192.0.2.1:4711, [2001:db8::1]:4711, build.example:4711
//   *:4711                         to listen: every address of this machine
//
// Invariant: only the addresses that were named are listened at. Neither side waits forever for a peer that has
// vanished.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

struct FarAddress {
  std::string host;  // "*": all of this machine's
  std::string port;  // a number
};
Result<FarAddress> parse_far_address(const std::string& text);

struct FarListener {
  std::vector<Fd> sockets;  // one for each address; not blocking
  std::string port;         // the one that was chosen, if 0 was requested
};
Result<FarListener> listen_far(const FarAddress& address);
// Not blocking. Gives up after ten seconds.
Result<Fd> connect_far(const FarAddress& address);
// The next peer that has connected, or none. `from`: its address, for people.
Fd accept_far(const Fd& listener, std::string& from);

}  // namespace penna
