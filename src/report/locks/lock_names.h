// SPDX-License-Identifier: MIT
// LockNames: names for locks, and for everything else that threads wait for.
//
// A variable by its name; others by the block of memory that they lie in and who allocated it, or by where they were
// made or first used. Invariant: every lock has a name, if only its address.
#pragma once

#include <string>
#include <string_view>

#include "model/locks/lock_blocks.h"
#include "model/locks/locks.h"
#include "model/names/names.h"
#include "report/table.h"

namespace penna {

// Functions of libraries and classes through which programs lock and wait: their caller is the one that took the lock.
bool is_lock_wrapper(std::string_view function);

class LockNames {
 public:
  // `blocks`: where locks that are not variables lie; may be null.
  LockNames(const Recording& recording, Names& names, const LockBlocks* blocks)
      : recording_(recording), names_(names), blocks_(blocks) {}

  std::string operator()(const LockStats& lock) const;
  // The same within a sentence: "the mutex made in main (0x7f..)".
  std::string in_sentence(const LockStats& lock) const;
  // False if a lock's name says where it is. Otherwise several may be made in one place, or lie in blocks of one kind.
  bool is_ambiguous(const LockStats& lock) const;

  // "flush (flush.cc:31)" for where a stack locked or waited; "" if unknown.
  std::string place(uint32_t process, uint32_t stack) const;
  std::string function(uint32_t process, uint32_t stack) const;  // the same without the line
  // "worker (tid 12)" for a thread (index); "" for kNoIndex.
  std::string thread(uint32_t index) const;

 private:
  bool has_place(const LockStats& lock) const;  // in a file
  std::string in_block(const LockBlock& block, uint64_t address) const;

  const Recording& recording_;
  Names& names_;
  const LockBlocks* blocks_;
};

// With several processes, names include the process: after a fork both have what the parent had.
bool are_of_many_processes(const Locks& locks);

}  // namespace penna
