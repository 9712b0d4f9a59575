// SPDX-License-Identifier: MIT
// Surgeon: a process of ours, in its own session, that stops and changes another process, and outlives us.
//
// Why: if we are killed while the process is stopped, its system calls end with EINTR; if we are killed later, it keeps
// our changes. The surgeon finishes its current work, and undoes everything when we are gone.
// Invariant: it holds none of our descriptors except its socket, and ends once we have ended, in whatever way.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

class Surgeon {
 public:
  struct Order {
    char what = 0;  // 0 is reserved
    pid_t pid = 0;  // the process concerned
    std::array<uint64_t, 4> words{};
  };
  // Both run in the surgeon: `carry_out` executes an order, and returns our answer; `orphaned` is its last action if we
  // ended without end().
  struct Work {
    std::function<std::string(const Order& order)> carry_out;
    std::function<void()> orphaned;
    std::function<void(int socket)> while_idle{};  // what it does meanwhile, until `socket` is readable; may be empty
  };
  static Result<Surgeon> start(Work work);
  Surgeon(Surgeon&& other) noexcept : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)) {}
  Surgeon& operator=(Surgeon&&) = delete;
  ~Surgeon() { end(); }

  pid_t pid() const { return pid_; }
  // Returns the answer; meanwhile `serve` is called repeatedly, as the process that is being changed may wait for our
  // answer to its agent (Carrier::serve_by). Error: the surgeon is gone.
  Result<std::string> request(const Order& order, const std::function<void(int also)>& serve) const;
  // request() in two steps. Also what the surgeon says by itself is received, in the order in which it was said; false:
  // it is gone. receive() waits.
  bool send(const Order& order) const;
  bool receive(std::string* text) const;
  int fd() const { return socket_.get(); }  // can be read when there is something to receive
  // In the surgeon: says something; and whether whoever started it has ended. False in any other process.
  static void say(int socket, const std::string& text);
  static bool is_orphan();
  // There is nothing left to put back.
  void end();

 private:
  Surgeon(pid_t pid, Fd socket) : pid_(pid), socket_(std::move(socket)) {}
  pid_t pid_;
  Fd socket_;
};

}  // namespace penna
