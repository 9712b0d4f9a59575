// SPDX-License-Identifier: MIT
// See modules.h.
#include "agent/modules/modules.h"

#include <elf.h>
#include <link.h>

#include "agent/core/attachment.h"
#include "agent/core/growing_table.h"
#include "agent/core/pages.h"
#include "agent/core/signal_block.h"
#include "agent/core/sys.h"
#include "agent/core/text.h"
#include "agent/core/writer.h"
#include "agent/modules/loader.h"
#include "agent/modules/module_mark.h"
#include "agent/modules/module_subscriber.h"
#include "agent/modules/real.h"
#include "unwind/program_headers.h"

namespace penna::agent {

uint32_t module_generation;

namespace {

constexpr uint32_t kMaxPath = 1024;

enum Visit : uint8_t { kNoVisit, kVisitBegun, kVisitDone };

struct Module {
  bool mapped;  // release: after the rest was filled
  uint32_t generation;
  uintptr_t bias, start, end;
  uint16_t build_id_bytes, path_bytes;
  uint8_t visits[static_cast<int>(ModuleVisitor::kCount)];  // a Visit of each visitor; atomic
  bool stays;                                               // it is never unloaded
  uint8_t build_id[32];
  bool marked;  // release: after the mark was written
  char path[kMaxPath];
};

GrowingTable<Module, 128, 512> modules;
uint32_t found_in[1 << 14];  // by page: where the last lookup in it ended
bool dlopen_was_called;      // atomic
uint32_t table_lock;

// Held while changing the table, or removing what belongs to a module: otherwise a module that is mapped where another
// one was would lose what was just made for it. Signals are blocked meanwhile, as a handler could wait for its own
// thread. Forked children reset it (announce_modules()); waits are bounded, in case the holder gets no CPU time.
class TableLock {
 public:
  TableLock() {
    constexpr int kMostYields = 100'000;
    for (int i = 0; i < kMostYields && !held_; ++i) {
      held_ = __atomic_exchange_n(&table_lock, 1, __ATOMIC_ACQUIRE) == 0;  // pairs with the release below
      if (!held_) sys(SYS_sched_yield);
    }
  }
  ~TableLock() {
    if (held_) __atomic_store_n(&table_lock, 0, __ATOMIC_RELEASE);
  }
  TableLock(const TableLock&) = delete;
  TableLock& operator=(const TableLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  SignalBlock signals_;
  bool held_ = false;
};

bool is_mapped(const Module& module) {
  return __atomic_load_n(&module.mapped, __ATOMIC_ACQUIRE);  // pairs with the release in remember()
}

bool contains(const Module& module, uintptr_t pc) { return is_mapped(module) && pc >= module.start && pc < module.end; }

uint32_t known_modules() { return modules.count(); }

constexpr uint32_t kNone = UINT32_MAX;

// The number of the module that contains `pc`; kNone: none.
uint32_t number_of(uintptr_t pc) {
  uint32_t* const before = &found_in[pc / kPageBytes * 0x9e3779b97f4a7c15 >> 50];
  static_assert(sizeof found_in / sizeof found_in[0] == uint64_t{1} << (64 - 50));
  const uint32_t known = known_modules(), found = __atomic_load_n(before, __ATOMIC_RELAXED);
  if (found < known && contains(modules[found], pc)) return found;
  for (uint32_t i = 0; i < known; ++i) {
    if (!contains(modules[i], pc)) continue;
    __atomic_store_n(before, i, __ATOMIC_RELAXED);
    return i;
  }
  return kNone;
}

bool is_known(uintptr_t pc) { return number_of(pc) != kNone; }

// Reads the build-id note among the notes in [at, at + size).
void read_build_id(Module& module, uintptr_t at, size_t size) {
  size_t offset = 0;
  while (offset + sizeof(ElfW(Nhdr)) <= size) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at + offset);
    size_t name_end = offset + sizeof *note + ((note->n_namesz + 3) & ~size_t{3});
    size_t end = name_end + ((note->n_descsz + 3) & ~size_t{3});
    if (end > size || end <= offset) return;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz <= sizeof module.build_id) {
      module.build_id_bytes = static_cast<uint16_t>(note->n_descsz);
      __builtin_memcpy(module.build_id, reinterpret_cast<const void*>(at + name_end), note->n_descsz);
      return;
    }
    offset = end;
  }
}

// Whether all of it is in one readable segment.
bool is_loaded(const unwind::ProgramHeaders& headers, const ElfW(Phdr) & part) {
  for (const ElfW(Phdr) & segment : headers)
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 && part.p_vaddr >= segment.p_vaddr &&
        part.p_vaddr + part.p_memsz <= segment.p_vaddr + segment.p_filesz)
      return true;
  return false;
}

// Reads this process's own memory, as mapped by its loader.
void read_notes(Module& module, const dl_find_object& found) {
  const unwind::ProgramHeaders headers = unwind::program_headers(found);
  for (const ElfW(Phdr) & part : headers)
    if (part.p_type == PT_NOTE && module.build_id_bytes == 0 && is_loaded(headers, part))
      read_build_id(module, found.dlfo_link_map->l_addr + part.p_vaddr, part.p_memsz);
}

const char* without_dot(const char* name) { return name[0] == '.' && name[1] == '/' ? name + 2 : name; }

// The dynamic linker keeps names as they were given: relative ones refer to the directory that was current then. (If
// that has changed since, the build-id shows it.)
void set_path(Module& module, const char* name) {
  const auto fill = [&module](size_t from) { return reinterpret_cast<long>(module.path + from); };
  if (name == nullptr || name[0] == '\0') {
    const long got = sys(SYS_readlink, reinterpret_cast<long>("/proc/thread-self/exe"), fill(0), kMaxPath);
    module.path_bytes = sys_failed(got) ? 0 : static_cast<uint16_t>(got);
    return;
  }
  size_t before = 0;
  if (name[0] != '/') {
    const long got = sys(SYS_getcwd, fill(0), kMaxPath);  // with the terminating zero, which the slash replaces
    if (!sys_failed(got) && module.path[0] == '/') before = static_cast<size_t>(got);
    if (before != 0) module.path[before - 1] = '/';
    if (before != 0) name = without_dot(name);
  }
  size_t length = text_length(name);
  if (length + before > kMaxPath) length = before = 0;
  __builtin_memcpy(module.path + before, name, length);
  module.path_bytes = static_cast<uint16_t>(before + length);
}

void describe(const Module& module) {
  uint32_t path_words = (module.path_bytes + 7u) / 8;
  Record record = begin_record(PENNA_KIND_MODULE, 1 + sizeof(penna_module) / 8 + path_words, kNoClass, penna_now());
  if (!record) return;
  penna_module described{module.bias,       module.start,          module.end, module.generation,
                         module.path_bytes, module.build_id_bytes, {}};
  __builtin_memcpy(described.build_id, module.build_id, sizeof described.build_id);
  __builtin_memcpy(record.words + 1, &described, sizeof described);
  __builtin_memcpy(record.words + 1 + sizeof described / 8, module.path, module.path_bytes);
  commit_description(record);
}

struct Extent {
  uintptr_t start, end;
};

// All segments of the module; dl_find_object returns only one if there are holes between them.
Extent extent_of(const dl_find_object& found) {
  Extent all{reinterpret_cast<uintptr_t>(found.dlfo_map_start), reinterpret_cast<uintptr_t>(found.dlfo_map_end)};
  for (const ElfW(Phdr) & segment : unwind::program_headers(found)) {
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t start = found.dlfo_link_map->l_addr + segment.p_vaddr, end = start + segment.p_memsz;
    if (page_down(start) < all.start) all.start = page_down(start);
    if (end > all.end) all.end = end;
  }
  return all;
}

// The slot of a module that is gone, or a new one. Null: none is left.
Module* free_slot() {
  for (Module& module : modules)
    if (!is_mapped(module)) return &module;
  return modules.add();
}

// If the agent was loaded late, it is not known which of the modules found then were loaded by dlopen.
bool is_never_unloaded(const link_map& map) {
  return &map == _r_debug.r_map || &map == libc_map() || is_ours(&map) || is_kernels(map) ||
         map.l_addr == static_cast<uintptr_t>(_r_debug.r_ldbase);
}

void remember(const dl_find_object& found) {
  TableLock lock;
  if (!lock || is_known(reinterpret_cast<uintptr_t>(found.dlfo_map_start))) return;
  Module* slot = free_slot();
  if (slot == nullptr) {
    count(&penna_counters::modules_unknown);
    return;
  }
  Module& module = *slot;
  module.build_id_bytes = 0;
  module.marked = false;
  for (uint8_t& visit : module.visits) visit = kNoVisit;
  module.stays = is_never_unloaded(*found.dlfo_link_map) || (!loaded_late && !code_may_change());
  module.generation = __atomic_load_n(&module_generation, __ATOMIC_RELAXED);
  module.bias = found.dlfo_link_map->l_addr;
  const Extent extent = extent_of(found);
  module.start = extent.start;
  module.end = extent.end;
  set_path(module, found.dlfo_link_map->l_name);
  read_notes(module, found);
  describe(module);  // first: other threads use modules that they find mapped, and their calls need a described module
  __atomic_store_n(&module.mapped, true, __ATOMIC_RELEASE);  // pairs with is_mapped()
}

// Whether set_path() was called with this name. The dynamic linker keeps it as long as the module is mapped.
bool is_named(const Module& module, const char* name) {
  name = without_dot(name);
  const size_t length = text_length(name);
  if (module.path_bytes == 0) return true;  // unknown
  return length <= module.path_bytes && text_begins(module.path + module.path_bytes - length, name, length);
}

// Whether the module, or another one of the same size, was mapped again at its address: other threads, and destructors,
// open libraries before a dlclose has returned.
bool was_mapped_anew(const Module& module, const dl_find_object& found) {
  if (!is_named(module, found.dlfo_link_map->l_name)) return true;  // copies of a library share its build-id
  if (__atomic_load_n(&module.marked, __ATOMIC_ACQUIRE) /* pairs with mark_written() */ && !has_mark(module.start))
    return true;
  static Module now;  // under the lock of the table
  now.build_id_bytes = 0;
  read_notes(now, found);
  return now.build_id_bytes != module.build_id_bytes ||
         __builtin_memcmp(now.build_id, module.build_id, now.build_id_bytes) != 0;
}

// Finds out which modules are gone after an unmapping. Their slots stay, so that no lookup finds a half-filled one.
// While modules are held.
bool forget_gone() {
  bool any = false;
  TableLock lock;
  if (!lock) return false;
  for (uint32_t i = 0; i < known_modules(); ++i) {
    dl_find_object found;
    if (!is_mapped(modules[i]) || modules[i].stays) continue;
    if (_dl_find_object(reinterpret_cast<void*>(modules[i].start), &found) == 0 &&
        extent_of(found).end == modules[i].end && !was_mapped_anew(modules[i], found))
      continue;
    __atomic_store_n(&modules[i].mapped, false, __ATOMIC_RELEASE);
    for (const ModuleSubscriber& subscriber : module_subscribers)
      if (subscriber.on_gone != nullptr) subscriber.on_gone(modules[i].start, modules[i].end);
    any = true;
  }
  return any;
}

bool forget_unmapped() {
  bool any = false;
  hold_modules([&] { any = forget_gone(); });
  if (!any) return false;
  __atomic_fetch_add(&module_generation, 1, __ATOMIC_RELAXED);
  for (const ModuleSubscriber& subscriber : module_subscribers)
    if (subscriber.after_gone != nullptr) subscriber.after_gone();
  return true;
}

}  // namespace

void announce_modules(bool forked) {
  if (forked) {
    __atomic_store_n(&table_lock, 0, __ATOMIC_RELAXED);  // its holder does not exist in this process
    for (uint32_t i = 0; i < known_modules(); ++i) {
      for (uint8_t& visit : modules[i].visits)
        if (visit == kVisitBegun) visit = kVisitDone;  // neither does the thread that began it
      if (is_mapped(modules[i])) describe(modules[i]);
    }
    return;
  }
  find_new_modules();
}

void ensure_module(const dl_find_object& found) {
  if (!is_known(reinterpret_cast<uintptr_t>(found.dlfo_map_start))) remember(found);
}

void ensure_module(uintptr_t pc) {
  dl_find_object found;
  if (!is_known(pc) && _dl_find_object(reinterpret_cast<void*>(pc), &found) == 0) remember(found);
}

bool code_may_change() { return __atomic_load_n(&dlopen_was_called, __ATOMIC_RELAXED); }

void expect_code_changes() {
  __atomic_store_n(&dlopen_was_called, true, __ATOMIC_RELAXED);
  end_calls_at_once();
}

uint32_t main_program_high() { return static_cast<uint32_t>(modules[0].start >> 32); }

namespace {

ModuleFacts facts_of(const Module& module) {
  return {module.bias, module.start,          module.end,        module.build_id,
          module.path, module.build_id_bytes, module.path_bytes, module.stays};
}

uint8_t& visit_of(uint32_t slot, ModuleVisitor visitor) { return modules[slot].visits[static_cast<int>(visitor)]; }

}  // namespace

bool next_module_unvisited(ModuleVisitor visitor, uint32_t* slot, ModuleFacts* facts) {
  for (; *slot < known_modules(); ++*slot) {
    const Module& module = modules[*slot];
    if (!is_mapped(module) || __atomic_load_n(&visit_of(*slot, visitor), __ATOMIC_RELAXED) != kNoVisit) continue;
    *facts = facts_of(module);
    return true;
  }
  return false;
}

bool has_new_modules(ModuleVisitor visitor) {
  uint32_t slot = 0;
  ModuleFacts facts;
  return next_module_unvisited(visitor, &slot, &facts);
}

bool begin_visit(ModuleVisitor visitor, uint32_t slot) {
  uint8_t none = kNoVisit;
  return __atomic_compare_exchange_n(&visit_of(slot, visitor), &none, kVisitBegun, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}

void end_visit(ModuleVisitor visitor, uint32_t slot) {
  __atomic_store_n(&visit_of(slot, visitor), kVisitDone, __ATOMIC_RELEASE);  // pairs with is_visited_now()
}

bool is_visited_now(ModuleVisitor visitor, bool (*counts)(const ModuleFacts& module, const void* argument),
                    const void* argument) {
  for (uint32_t i = 0; i < known_modules(); ++i)
    if (is_mapped(modules[i]) && __atomic_load_n(&visit_of(i, visitor), __ATOMIC_ACQUIRE) == kVisitBegun &&
        counts(facts_of(modules[i]), argument))
      return true;
  return false;
}

bool module_at(uintptr_t pc, ModuleFacts* facts) {
  ensure_module(pc);
  const uint32_t number = number_of(pc);
  if (number == kNone) return false;
  *facts = facts_of(modules[number]);
  return true;
}

bool mark_if_unloadable(uintptr_t address, uintptr_t* start) {
  const uint32_t number = number_of(address);
  if (number == kNone) return false;
  *start = modules[number].start;
  mark_written(*start);
  return __atomic_load_n(&modules[number].marked, __ATOMIC_ACQUIRE);
}

void mark_written(uintptr_t module_start) {
  const uint32_t number = number_of(module_start);
  if (number == kNone) return;
  Module& module = modules[number];
  if (module.stays || module.marked) return;
  const bool marked = set_mark(module.start, module.bias);
  __atomic_store_n(&module.marked, marked, __ATOMIC_RELEASE);  // pairs with was_mapped_anew()
}

void find_new_modules() {
  if (code_may_change()) forget_unmapped();
  for_each_module([](const link_map& map) {
    dl_find_object found;
    if (map.l_ld != nullptr && _dl_find_object(map.l_ld, &found) == 0) ensure_module(found);
    return true;
  });
}

int close_module(void* handle, bool* unloaded) {
  const int error = real.dlclose(handle);
  const bool any = forget_unmapped();
  if (unloaded != nullptr) *unloaded = any;
  return error;
}

}  // namespace penna::agent
