// SPDX-License-Identifier: MIT
// Surgeon: a process of ours, in a session of its own, that stops and changes another process, and outlives us.
//
// Why: if we are killed while the process is stopped, its system calls end with EINTR; if we are killed later, it keeps
// what we have changed. The surgeon finishes what it is at, and puts everything back when we are gone.
// Invariant: it holds none of our descriptors but its socket, and ends once we have ended, however that was.
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
    char what = 0;  // 0 is taken
    pid_t pid = 0;  // the process that it is about
    std::array<uint64_t, 4> words{};
  };
  // Both in the surgeon: `carry_out` does what it is told, and gives what we get as the answer; `orphaned` is the last
  // that it does when we ended without end().
  struct Work {
    std::function<std::string(const Order& order)> carry_out;
    std::function<void()> orphaned;
    std::function<void(int socket)> until_told{};  // what it does meanwhile, until `socket` can be read; may be empty
  };
  static Result<Surgeon> start(Work work);
  Surgeon(Surgeon&& other) noexcept : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)) {}
  Surgeon& operator=(Surgeon&&) = delete;
  ~Surgeon() { end(); }

  pid_t pid() const { return pid_; }
  // The answer; meanwhile `serve` is called again and again, which must return soon. Nothing: it is gone.
  // With `serve` it polls without a pause of its own: the process that is being changed may wait for our answer to
  // its agent.
  Result<std::string> tell(const Order& order, const std::function<void()>& serve) const;
  // tell() in two steps. Also what the surgeon says by itself is received, in the order in which it was said; false:
  // it is gone. receive() waits.
  bool send(const Order& order) const;
  bool receive(std::string* text) const;
  int fd() const { return socket_.get(); }  // can be read when there is something to receive
  // In the surgeon.
  static void say(int socket, const std::string& text);
  // There is nothing left to put back.
  void end();

 private:
  Surgeon(pid_t pid, Fd socket) : pid_(pid), socket_(std::move(socket)) {}
  pid_t pid_;
  Fd socket_;
};

}  // namespace penna
