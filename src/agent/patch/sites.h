// SPDX-License-Identifier: MIT
// The modules of this process that have sites, and the switchboard on which they are switched.
//
// Why a table of our own: dl_iterate_phdr takes the dynamic linker's lock, which the agent must not do; the site tables
// lie in the modules, read-only and as long as these are mapped, so one entry for each is enough. Why not that of
// modules.h: decision 34.
// Invariant: everything here but board() and try_lock() is called with the switchboard's lock held.
#pragma once

#include <stdint.h>

#include "agent/core/growing_table.h"
#include "penna/detail/patch.h"

namespace penna::agent {

// A module with sites, and its program headers.
struct SiteModule {
  penna_site_table table;  // note == null: unused
  penna_elf_module elf;
};

// The process's switchboard: the one that a module already points to, else our own, to which our own note then points.
penna_switchboard* board();

// The lock for as long as this lives. Waits, or not: a signal handler, or a thread that was stopped anywhere, must not;
// and where this thread may hold the dynamic linker's lock (in a constructor), for which whoever has the board's may
// wait, the wait has an end.
class BoardLock {
 public:
  enum Patience { kWait, kASecond, kTry };
  explicit BoardLock(Patience patience);
  ~BoardLock() {
    if (held_) penna_unlock_board(board());
  }
  BoardLock(const BoardLock&) = delete;
  BoardLock& operator=(const BoardLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool held_;
};

// Unused entries among them have no sites.
using SiteTable = GrowingTable<SiteModule, 256, 256>;
SiteTable& site_modules();

// What points.cc knows of sites.
struct SiteRules {
  // May this event or span be armed: does somebody record? Then it has its id, and is told to the recorder.
  bool (*may_arm)(const SiteModule& module, const penna_point_site& site);
  void (*fill_entries)(penna_point_entries* entries);  // where the module's sites lead to
};

// Switches sites: penna_switcher of detail/site_table.h, for one batch.
class Switcher : private penna_switcher {
 public:
  explicit Switcher(const SiteRules& rules);
  ~Switcher();
  Switcher(const Switcher&) = delete;
  Switcher& operator=(const Switcher&) = delete;

  void enter(SiteModule& module);  // one that is new to us
  void change(SiteModule& module, const penna_switching& switching, penna_change_counts* counts);
  void settle(SiteModule& module);

 private:
  static int may_arm(penna_switcher* self, const penna_site_table* table, const penna_point_site* site);
  static int write_slot(penna_switcher* self, const penna_site_table* table, uintptr_t slot, const unsigned char* from,
                        const unsigned char* to);
  penna_patcher patcher_;
  const SiteRules& rules_;
  const SiteModule* module_ = nullptr;
};

// Takes the modules that are mapped now, or the one of this note, into the table, unless they are there.
void find_site_modules(Switcher& switcher);
void add_site_module(const penna_point_module* note, Switcher& switcher);
void forget_site_module(const penna_point_module* note);

}  // namespace penna::agent
