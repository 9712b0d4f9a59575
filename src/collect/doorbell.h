// SPDX-License-Identifier: MIT
// Doorbell: the page on which the collector sleeps and by which targets see that the recorder lives (penna/channel.h).
//
// Invariant: while a Doorbell exists, the thread that made it holds the robust futex in it; nobody holds it afterwards, and
// when that thread ends before, however it ends, the kernel marks the futex.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "penna/channel.h"

namespace penna {

class Doorbell {
 public:
  static Result<Doorbell> create();
  Doorbell(Doorbell&&) noexcept = default;
  Doorbell& operator=(Doorbell&&) = delete;
  ~Doorbell();  // by the thread that made it

  int fd() const { return memory_.get(); }  // to be handed to targets

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
  Doorbell(Fd memory, Mapping page) : memory_(std::move(memory)), page_(std::move(page)) {}
  penna_doorbell* page() const { return reinterpret_cast<penna_doorbell*>(page_.data()); }

  Fd memory_;
  Mapping page_;
};

}  // namespace penna
