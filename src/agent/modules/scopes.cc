// SPDX-License-Identifier: MIT
// See scopes.h. The linker's list starts with the initially loaded modules in their order. Which of the others are
// global, or resolve in themselves first, it does not show: that is remembered here when they are opened. Tables change
// while modules are held.
#include "agent/modules/scopes.h"

#include <dlfcn.h>
#include <elf.h>

#include "agent/core/growing_table.h"
#include "agent/core/text.h"

namespace penna::agent {
namespace {

const link_map* last_linked;

// A set of modules, identified such that a later one at the same address is not mistaken for them.
class Modules {
 public:
  bool hold(const link_map& map) const {
    for (uint32_t i = 0; i < count_; ++i)
      if (is(i, map)) return true;
    return false;
  }
  // Reuses the slots of those that are gone before it takes more memory.
  void add(const link_map& map) {
    if (hold(map)) return;
    if (count_ == entries_.count() && count_ % kPart == 0) drop_gone();
    if (count_ == entries_.count() && entries_.add() == nullptr) return;  // no memory
    entries_[count_++] = {&map, map.l_ld, map.l_addr};
  }
  // Calls visit(const link_map&) in the order of add() for those that are still there, until it returns false.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    bool more = true;
    for (uint32_t i = 0; more && i < count_; ++i)
      if (is_there(i)) more = visit(*entries_[i].map);
  }

 private:
  static constexpr uint32_t kPart = 1024, kParts = 64;
  struct Entry {
    const link_map* map;
    const ElfW(Dyn) * dynamic;
    uintptr_t bias;
  };
  bool is(uint32_t i, const link_map& map) const {
    const Entry& entry = entries_[i];
    return entry.map == &map && entry.dynamic == map.l_ld && entry.bias == map.l_addr;
  }
  bool is_there(uint32_t i) const {
    bool found = false;
    walk_modules([&](const link_map& map) { return !(found = is(i, map)); }, last_linked);
    return found;
  }
  void drop_gone() {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_; ++i)
      if (is_there(i)) entries_[kept++] = entries_[i];
    count_ = kept;
  }

  mutable GrowingTable<Entry, kPart, kParts> entries_;
  uint32_t count_;  // of the entries that are in use, from the first
};
Modules opened_global, opened_deep;

// Calls visit(const link_map&) for the global scope, until it returns false. While modules are held.
template <typename Visit>
void walk_global(Visit&& visit) {
  bool more = true;
  walk_modules([&](const link_map& map) {
    if (!is_kernels(map)) more = visit(map);
    return more && &map != last_linked;
  });
  if (more) opened_global.for_each(visit);
}

bool is_symbolic(const link_map& map) {
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_SYMBOLIC || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_SYMBOLIC) != 0))
      return true;
  return false;
}

// Calls visit(name) for the entries with one tag: DT_NEEDED or DT_SONAME.
template <typename Visit>
void for_each_name(const link_map& map, long tag, Visit&& visit) {
  uintptr_t names = 0;
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB) names = address_of(map, *entry);
  for (const ElfW(Dyn)* entry = map.l_ld; names != 0 && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag) visit(reinterpret_cast<const char*>(names + entry->d_un.d_val));
}

bool is_same(const char* one, const char* other) { return text_begins(one, other, text_length(other) + 1); }

bool goes_by(const link_map& map, const char* needed) {
  bool same = is_same(map.l_name, needed) || is_same(file_name(map.l_name), needed);
  for_each_name(map, DT_SONAME, [&](const char* name) { same |= is_same(name, needed); });
  return same;
}

const link_map* module_named(const char* needed) {
  const link_map* found = nullptr;
  walk_modules([&](const link_map& map) {
    if (map.l_ld != nullptr && goes_by(map, needed)) found = &map;
    return found == nullptr;
  });
  return found;
}

}  // namespace

void note_linked_modules() {
  if (last_linked != nullptr) return;
  const link_map* last = nullptr;
  for_each_module([&](const link_map& map) { return last = &map, true; });
  last_linked = last;
}

ScopeChange ScopeChange::begin(int mode) {
  ScopeChange change;
  change.mode_ = mode & (RTLD_GLOBAL | RTLD_DEEPBIND);
  if (change.mode_ != 0) for_each_module([&](const link_map& map) { return change.last_ = &map, true; });
  return change;
}

void ScopeChange::end(void* opened) const {
  if (mode_ == 0) return;
  const OpenedScope scope(opened);
  hold_modules([&] {
    if ((mode_ & RTLD_GLOBAL) != 0)
      scope.for_each([](const link_map& map) {
        bool linked = false;
        walk_modules([&](const link_map& other) { return !(linked = &other == &map) && &other != last_linked; });
        if (!linked) opened_global.add(map);
        return true;
      });
    // Other threads may have loaded modules meanwhile, with other flags.
    const auto brought = [&](const link_map& map) {
      bool found = opened == nullptr;
      if (!found) scope.for_each([&](const link_map& one) { return !(found = &one == &map); });
      return found;
    };
    bool is_new = false;
    walk_modules([&](const link_map& map) {
      if (is_new && opened == nullptr && (mode_ & RTLD_GLOBAL) != 0) opened_global.add(map);
      if (is_new && (mode_ & RTLD_DEEPBIND) != 0 && brought(map)) opened_deep.add(map);
      is_new |= &map == last_;
      return true;
    });
  });
}

OpenedScope::OpenedScope(void* opened) {
  if (opened == nullptr) return;
  const auto add = [this](const link_map* map) {
    const auto dynamic = map != nullptr ? reinterpret_cast<uintptr_t>(map->l_ld) : 0;
    for (uint32_t i = 0; i < count_; ++i)
      if (dynamic_[i] == dynamic) return;
    if (dynamic != 0 && count_ < kMost) dynamic_[count_++] = dynamic;
  };
  hold_modules([&] {
    add(static_cast<const link_map*>(opened));
    for (uint32_t i = 0; i < count_; ++i) {
      dl_find_object found;
      if (_dl_find_object(reinterpret_cast<void*>(dynamic_[i]), &found) == 0)
        for_each_name(*found.dlfo_link_map, DT_NEEDED, [&](const char* needed) { add(module_named(needed)); });
    }
  });
}

bool OpenedScope::holds_any(uintptr_t start, uintptr_t end) const {
  for (uint32_t i = 0; i < count_; ++i)
    if (dynamic_[i] - start < end - start) return true;
  return false;
}

BindingScope::BindingScope(uintptr_t module_start, void* opened) : importer_(map_of(module_start)), opened_(opened) {
  if (importer_ == nullptr) return;
  symbolic_ = is_symbolic(*importer_);
  hold_modules([this] { deep_ = opened_deep.hold(*importer_); });
}

template <typename Look>
DynamicSymbols::Found BindingScope::look(Look&& look_in) const {
  DynamicSymbols::Found found;
  const auto visit = [&](const link_map& map) {
    found = look_in(DynamicSymbols(map));
    return found.address == 0;
  };
  hold_modules([&] {
    if (symbolic_ && importer_ != nullptr && !visit(*importer_)) return;
    if (deep_) opened_.for_each(visit);
    if (found.address == 0) walk_global(visit);
    if (found.address == 0 && !deep_) opened_.for_each(visit);
  });
  return found;
}

DynamicSymbols::Found BindingScope::find(const char* name, const char* version) const {
  return look([=](const DynamicSymbols& symbols) { return symbols.find_for_call(name, version); });
}

DynamicSymbols::Found BindingScope::find_default(const char* name, const char* version) const {
  return look([=](const DynamicSymbols& symbols) { return symbols.find_for_dlsym(name, version); });
}

DynamicSymbols::Found find_next(const link_map& caller, const char* name, const char* version) {
  DynamicSymbols::Found found;
  bool is_behind = false, any = false;
  const auto visit = [&](const link_map& map) {
    if (is_behind) found = DynamicSymbols(map).find_for_dlsym(name, version);
    any |= is_behind |= &map == &caller;
    return found.address == 0;
  };
  hold_modules([&] {
    walk_global(visit);
    if (any) return;
    is_behind = true;  // it has its own scope, whose members were loaded after it
    walk_modules([&](const link_map& map) { return visit(map); }, &caller);
  });
  return found;
}

}  // namespace penna::agent
