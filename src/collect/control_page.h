// SPDX-License-Identifier: MIT
// ControlPage: the part of a process's channel through which the recorder asks something of it (penna_control).
//
// Why apart from ChannelMap: that one belongs to the collector's thread; requests come from the thread that serves users.
// Invariant: the page is untrusted memory; what it says is copied, and only ever used as numbers and as addresses in the
// process that wrote them.
#pragma once

#include <cstdint>

#include "base/fd.h"
#include "base/result.h"
#include "penna/channel.h"

namespace penna {

class ControlPage {
 public:
  ControlPage() = default;
  // `memory`: the memfd of a channel that ChannelMap::map() has accepted. Empty when it cannot be mapped.
  static ControlPage map(const Fd& memory);

  // Writes a request. Then a thread of the process must execute the code.
  Result<> ask(const penna_control& request);
  penna_control answer() const;

  // The code, in that process.
  uint64_t entry() const;
  uint64_t end() const;
  uint64_t stack_top() const;
  // Of the channel's file, by which that process is told from another program.
  ino_t inode() const { return inode_; }

 private:
  const penna_channel* page() const { return reinterpret_cast<const penna_channel*>(page_.data()); }
  Mapping page_;
  ino_t inode_ = 0;
};

}  // namespace penna
