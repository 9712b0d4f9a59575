// SPDX-License-Identifier: MIT
// See sites.h.
#include "agent/patch/sites.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>

#include "agent/core/attachment.h"
#include "agent/core/patience.h"
#include "agent/core/state.h"
#include "agent/core/sys.h"
#include "agent/modules/loader.h"
#include "penna/detail/site_asm.h"

extern "C" {
// The agent's own note, by which the rest of the process finds the switchboard.
extern penna_point_entries penna_control_entries __attribute__((visibility("hidden")));
}

namespace penna::agent {
namespace {

SiteTable modules;

penna_switchboard own_board;
penna_switchboard* the_board;

// Calls visit(table, elf) for each note of the module that contains `address`, until it returns false.
template <typename Visit>
bool for_each_note(const void* address, Visit&& visit) {
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) return true;
  penna_elf_module elf = elf_of(found);
  penna_elf_range all = penna_elf_extent(&elf);
  penna_site_table table{nullptr, all.start, all.end};
  while ((table.note = penna_next_note(&elf, table.note)) != nullptr)
    if (penna_entries_of(&table) != nullptr && !visit(table, elf)) return false;
  return true;
}

// Like announce_modules(): not under a lock of the dynamic linker.
template <typename Visit>
void for_each_note(Visit&& visit) {
  for_each_module([&](const link_map& map) { return map.l_ld == nullptr || for_each_note(map.l_ld, visit); });
}

// A note without sites has nothing to switch.
void add_module(const penna_site_table& table, const penna_elf_module& elf, Switcher& switcher) {
  SiteModule* unused = nullptr;
  if (penna_site_count(&table) == 0) return;
  for (SiteModule& module : site_modules()) {
    if (module.table.note == table.note && penna_entries_of(&table)->switchboard != 0) return;
    if (module.table.note == table.note) module = {};  // unloaded, and loaded again: not registered
    if (module.table.note == nullptr && unused == nullptr) unused = &module;
  }
  if (unused == nullptr) unused = modules.add();
  if (unused == nullptr) return count(&penna_counters::sites_refused, penna_site_count(&table));
  *unused = {table, elf};
  switcher.enter(*unused);
}

// Keeps the note in this file's object.
__attribute__((used)) void control_note() { __asm__ volatile(PENNA_ASM_CONTROL_NOTE : :); }

}  // namespace

penna_switchboard* board() {
  if (the_board != nullptr) return the_board;
  penna_switchboard* found = nullptr;
  for_each_note([&](const penna_site_table& table, const penna_elf_module&) {
    found = reinterpret_cast<penna_switchboard*>(penna_entries_of(&table)->switchboard);
    if (found != nullptr && found->version != PENNA_SWITCHBOARD_VERSION) found = nullptr;
    return found == nullptr;
  });
  if (found == nullptr) {
    own_board.version = PENNA_SWITCHBOARD_VERSION;
    found = &own_board;
  }
  // From here on others find it by the agent's note, too.
  penna_control_entries.switchboard = reinterpret_cast<uintptr_t>(found);
  return the_board = found;
}

BoardLock::BoardLock(Patience patience) : held_(true) {
  const auto try_it = [] { return penna_try_lock_board(board()) != 0; };
  if (patience == kWait)
    penna_lock_board(board());
  else
    held_ = patience == kASecond ? within_a_second(try_it) : try_it();
}

SiteTable& site_modules() { return modules; }

void find_site_modules(Switcher& switcher) {
  for_each_note([&](const penna_site_table& table, const penna_elf_module& elf) {
    add_module(table, elf, switcher);
    return true;
  });
}

void add_site_modules_at(uintptr_t address, Switcher& switcher) {
  for_each_note(reinterpret_cast<const void*>(address),
                [&](const penna_site_table& table, const penna_elf_module& elf) {
                  add_module(table, elf, switcher);
                  return true;
                });
}

void add_site_module(const penna_point_module* note, Switcher& switcher) {
  for_each_note(note, [&](const penna_site_table& table, const penna_elf_module& elf) {
    if (table.note == note) add_module(table, elf, switcher);
    return true;
  });
}

// Still there is what has the same extent, and points to the switchboard.
void forget_gone_site_modules() {
  if (attachment == nullptr) return;
  for (SiteModule& module : site_modules()) {
    dl_find_object found;
    if (module.table.note == nullptr) continue;
    const bool is_there = _dl_find_object(const_cast<penna_point_module*>(module.table.note), &found) == 0 &&
                          reinterpret_cast<uintptr_t>(found.dlfo_map_start) == module.table.start &&
                          reinterpret_cast<uintptr_t>(found.dlfo_map_end) >= module.table.end &&
                          penna_entries_of(&module.table)->switchboard == reinterpret_cast<uintptr_t>(board());
    if (!is_there) module = {};
  }
}

void forget_site_module(const penna_point_module* note) {
  for (SiteModule& module : site_modules())
    if (module.table.note == note) module = {};
}

// ---- Switching ------------------------------------------------------------------------------------------------------

Switcher::Switcher(const SiteRules& rules)
    : penna_switcher{may_arm, write_slot}, patcher_{board(), 0, 0}, rules_(rules) {}

Switcher::~Switcher() { penna_finish_patching(&patcher_); }

int Switcher::may_arm(penna_switcher* self, const penna_site_table*, const penna_point_site* site) {
  const auto& switcher = *static_cast<Switcher*>(self);
  return site->kind == PENNA_SITE_TRIGGER || switcher.rules_.may_arm(*switcher.module_, *site);
}

int Switcher::write_slot(penna_switcher* self, const penna_site_table*, const penna_slot_change* change) {
  auto& switcher = *static_cast<Switcher*>(self);
  penna_elf_range code = penna_elf_code_at(&switcher.module_->elf, change->slot);
  const bool done = penna_patch_slot(&switcher.patcher_, &code, change) != 0;
  if (!done)
    count(&penna_counters::sites_refused);
  else if (change->armed != 0)
    count(&penna_counters::sites_armed);
  return done;
}

void Switcher::enter(SiteModule& module) {
  module_ = &module;
  penna_point_entries* entries = penna_entries_of(&module.table);
  rules_.fill_entries(entries);
  if (entries->switchboard == 0)
    count(&penna_counters::sites_refused, penna_enter_table(this, &module.table, penna_requests_of(board())));
  else
    penna_settle_table(this, &module.table);  // known already: from before the agent was loaded
  entries->switchboard = reinterpret_cast<uintptr_t>(board());
}

void Switcher::change(SiteModule& module, const penna_switching& switching, penna_change_counts* counts) {
  module_ = &module;
  if (module.table.note != nullptr) penna_change_table(this, &module.table, &switching, counts);
}

void Switcher::settle(SiteModule& module) {
  module_ = &module;
  if (module.table.note != nullptr) penna_settle_table(this, &module.table);
}

}  // namespace penna::agent
