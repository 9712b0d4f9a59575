// SPDX-License-Identifier: MIT
// The modules of this process that have sites, and the switchboard that switches them.
//
// Why a separate table: dl_iterate_phdr takes the dynamic linker's lock, which the agent must not do. The site tables
// are in the modules, read-only, and mapped as long as these are, so one entry per module is enough. Why not the table
// of modules.h: decision 34.
// Invariant: everything here except board() and try_lock() is called with the switchboard's lock held.
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

// The process's switchboard: the one that some module already points to, else the agent's own, to which its own note
// then points.
penna_switchboard* board();

// Holds the lock for the length of a scope. Whether it waits depends: a signal handler, or a thread that was stopped
// anywhere, must not wait; where this thread may hold the dynamic linker's lock (in a constructor), for which the
// board's holder may be waiting, the wait is bounded.
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

// Unused entries have no sites.
using SiteTable = GrowingTable<SiteModule, 256, 256>;
SiteTable& site_modules();

// What points.cc knows about sites.
struct SiteRules {
  // Whether this event or span may be armed, i.e. something records. If so it has its id, and its SITE record.
  bool (*may_arm)(const SiteModule& module, const penna_point_site& site);
  void (*fill_entries)(penna_point_entries* entries);  // where the module's sites jump to
};

// Switches sites: penna_switcher of detail/site_table.h, for one batch.
class Switcher : private penna_switcher {
 public:
  explicit Switcher(const SiteRules& rules);
  ~Switcher();
  Switcher(const Switcher&) = delete;
  Switcher& operator=(const Switcher&) = delete;

  void enter(SiteModule& module);  // one that is new to the agent
  void change(SiteModule& module, const penna_switching& switching, penna_change_counts* counts);
  void settle(SiteModule& module);

 private:
  static int may_arm(penna_switcher* self, const penna_site_table* table, const penna_point_site* site);
  static int write_slot(penna_switcher* self, const penna_site_table* table, const penna_slot_change* change);
  penna_patcher patcher_;
  const SiteRules& rules_;
  const SiteModule* module_ = nullptr;
};

// Adds the modules that are mapped now, the one at an address, or the one with this note, to the table, unless they are
// in it.
void find_site_modules(Switcher& switcher);
void add_site_modules_at(uintptr_t address, Switcher& switcher);
void add_site_module(const penna_point_module* note, Switcher& switcher);
void forget_site_module(const penna_point_module* note);
// If the agent was loaded late, a module may have been unloaded unnoticed, before its destructor was redirected to the
// agent. Called before anything that visits them all.
void forget_gone_site_modules();

}  // namespace penna::agent
