// SPDX-License-Identifier: MIT
// ControlPage: the part of a process's channel through which something is asked of it (penna_control).
//
// Why apart from ChannelMap: that one belongs to the collector's thread; requests come from the thread that serves
// users, or from another process, which has not been given the channel and reaches it through the memory of the one
// that has.
// Invariant: the page is untrusted memory; what it says is copied, and only ever used as numbers and as addresses in
// the process that wrote them.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/fd.h"
#include "base/remote_ptr.h"
#include "base/result.h"
#include "penna/channel.h"

namespace penna {

class ControlPage {
 public:
  ControlPage() = default;
  // `memory`: the memfd of a channel that ChannelMap::map() has accepted. Empty when it cannot be mapped.
  static ControlPage map(const Fd& memory);
  // Of a process that records itself, or has been forked by one, where it lies there. It takes the right to trace the
  // process. One of these at a time for each process: the next one waits until this one is gone.
  static Result<ControlPage> in_process(uint32_t pid);

  // Writes a request. Then a thread of the process must execute the code.
  Result<> ask(const penna_control& request);
  penna_control answer() const;

  // The code, in that process.
  RemotePtr<const uint8_t> entry() const { return address_at(offsetof(penna_channel, control_entry)); }
  RemotePtr<const uint8_t> end() const { return address_at(offsetof(penna_channel, control_end)); }
  RemoteBytes stack_top() const { return address_at(offsetof(penna_channel, control_stack)); }
  // Of the channel's file, by which that process is told from another program.
  ino_t inode() const { return inode_; }

 private:
  bool read(size_t offset, void* to, size_t bytes) const;
  uint64_t number_at(size_t offset) const;
  RemoteBytes address_at(size_t offset) const { return RemoteBytes(number_at(offset)); }

  Mapping page_;         // either this,
  Fd process_, turn_;    // or the memory of that process, and what others wait for,
  RemoteBytes address_;  // and where the page lies in it
  ino_t inode_ = 0;
};

}  // namespace penna
