// SPDX-License-Identifier: MIT
// ControlPage: the part of a process's channel through which requests are made (penna_control).
//
// Why separate from ChannelMap: that belongs to the collector's thread; requests come from the thread that serves
// users, or from another process, which does not have the channel and accesses it through the memory of the process
// that does.
// Invariant: the page is untrusted memory; its contents are copied, and only used as numbers and as addresses in the
// process that wrote them.
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
  // `memory`: the memfd of a channel that ChannelMap::map() has accepted. Empty if it cannot be mapped.
  static ControlPage map(const Fd& memory);
  // For a process that records itself, or a fork of one: located in its memory. Requires permission to trace the
  // process. One per process at a time: the next call waits until this one is destroyed.
  static Result<ControlPage> in_process(uint32_t pid);

  // Writes a request. A thread of the process must then execute the code.
  Result<> ask(const penna_control& request);
  penna_control answer() const;

  // The address of that code in the process.
  CodePtr entry() const { return address_at(offsetof(penna_channel, control_entry)); }
  CodePtr end() const { return address_at(offsetof(penna_channel, control_end)); }
  RemoteBytes stack_top() const { return address_at(offsetof(penna_channel, control_stack)); }
  // Inode of the channel's file; distinguishes the process from a program that it exec'd.
  ino_t inode() const { return inode_; }

 private:
  bool read(size_t offset, void* to, size_t bytes) const;
  uint64_t number_at(size_t offset) const;
  RemoteBytes address_at(size_t offset) const { return RemoteBytes(number_at(offset)); }

  Mapping page_;         // either this,
  Fd process_, turn_;    // or the memory of that process, a lock against others,
  RemoteBytes address_;  // and where the page is in it
  ino_t inode_ = 0;
};

}  // namespace penna
