// SPDX-License-Identifier: MIT
// Doorbell: the page on which the collector sleeps, and the page by which targets see that the recorder is alive
// (penna/channel.h).
//
// Why two: any target may write anything into the first one, so nothing in it is trusted; the second is sealed.
// Invariant: while a Doorbell exists, the thread that created it holds the robust futex. Afterwards no thread holds it,
// and if that thread ends earlier, in whatever way, the kernel marks the futex. The list that leads the kernel there is
// in private memory.
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
  ~Doorbell();  // on the thread that created it

  int fd() const { return memory_.get(); }     // both are sent to targets
  int life_fd() const { return life_.get(); }  // likewise

  // The current bell count: read it before looking for work.
  uint32_t seen() const;
  // Sleeps until the count differs from `seen`, or until the time is up.
  void wait(uint32_t seen, int milliseconds);
  // Wakes wait(): for work from inside the recorder.
  void ring();

  // Processes that were started and have not connected yet, as hinted by targets. met(): one of them has.
  uint32_t expected() const;
  void met();

 private:
  class Hold;  // the robust futex, held by this thread

  Doorbell(Fd memory, Mapping page, Fd life, Mapping life_page, std::unique_ptr<Hold> hold);
  penna_doorbell* page() const { return reinterpret_cast<penna_doorbell*>(page_.data()); }

  Fd memory_;
  Mapping page_;
  Fd life_;
  Mapping life_page_;
  std::unique_ptr<Hold> hold_;
};

}  // namespace penna
