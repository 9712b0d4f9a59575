// SPDX-License-Identifier: MIT
// Doorbell: the page on which the collector sleeps, and the one by which targets see that the recorder lives
// (penna/channel.h).
//
// Why two: any target may write anything into the first, so nothing in it is believed; the second is sealed against
// them.
// Invariant: while a Doorbell exists, the thread that made it holds the robust futex; nobody holds it afterwards, and
// when that thread ends before, however it ends, the kernel marks the futex. What leads the kernel there is private
// memory.
#pragma once

#include <memory>

#include "base/fd.h"
#include "base/result.h"
#include "penna/channel.h"

namespace penna {

class Doorbell {
 public:
  static Result<Doorbell> create();
  Doorbell(Doorbell&&) noexcept;
  Doorbell& operator=(Doorbell&&) = delete;
  ~Doorbell();  // by the thread that made it

  int fd() const { return memory_.get(); }     // to be handed to targets,
  int life_fd() const { return life_.get(); }  // this one, too

  // What the bell says now: take it before looking for work.
  uint32_t seen() const;
  // Sleeps until the bell has changed from `seen`, or so long.
  void wait(uint32_t seen, int milliseconds);
  // Wakes wait(): for news that come from inside the recorder.
  void ring();

  // Processes that were started and have not met the recorder; a hint by the targets. met(): one of them has.
  uint32_t expected() const;
  void met();

 private:
  class Hold;  // of the robust futex by this thread

  Doorbell(Fd memory, Mapping page, Fd life, Mapping life_page, std::unique_ptr<Hold> hold);
  penna_doorbell* page() const { return reinterpret_cast<penna_doorbell*>(page_.data()); }

  Fd memory_;
  Mapping page_;
  Fd life_;
  Mapping life_page_;
  std::unique_ptr<Hold> hold_;
};

}  // namespace penna
