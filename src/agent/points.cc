// SPDX-License-Identifier: MIT
// See points.h. The steps: modules -> their note -> their sites -> id, SITE record, patched slot.
#include "agent/points.h"

#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include "agent/glob.h"
#include "agent/modules.h"
#include "agent/patch.h"
#include "agent/sys.h"
#include "agent/text.h"
#include "agent/writer.h"
#include "penna/detail/site_text.h"

namespace penna::agent {

extern "C" {
void penna_point_reserve_entry();
void penna_point_values_entry();
__attribute__((visibility("hidden"))) uint8_t penna_point_has_xsave;
}

// points_x86_64.S counts on these.
static_assert(offsetof(Process, armed) == 0 && offsetof(Process, chunks) == 8 && offsetof(Thread, cursor) == 0);
static_assert(offsetof(penna_chunk, time_begin) == 8 && PENNA_CHUNK_BYTES == 0x10000);
static_assert(class_bit(PENNA_POINTS) == 1 << 3 && PENNA_FULL_TIME_BITS == 48 && sizeof(penna_point) == 8);

namespace {

constexpr uint32_t kMaxPointModules = 1024;

// A module with points, and where its code may lie.
struct PointModule {
  const penna_point_module* note;  // null: unused
  uintptr_t start, end;            // all of its mapping
};

PointModule point_modules[kMaxPointModules];
uint32_t last_id;
bool wanted;                                                 // the recorder asked for points
char patterns[sizeof(penna_config::point_patterns) + 2048];  // as in penna_config, and what was changed since
size_t patterns_end;
bool wanted_by_default = true;  // points that no pattern matches

// Guards the table above: the process id of the holder, so that a forked child sees that the holder stayed behind.
// Threads wait for it; stop_points() does not, because it may be in a signal handler.
uint32_t table_lock;

bool try_lock_table() {
  auto self = static_cast<uint32_t>(sys(SYS_getpid));
  uint32_t holder = __atomic_load_n(&table_lock, __ATOMIC_RELAXED);
  return holder != self &&  // acquire: pairs with the release in unlock_table()
         __atomic_compare_exchange_n(&table_lock, &holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
void lock_table() {
  while (!try_lock_table()) sys(SYS_sched_yield);
}
void unlock_table() { __atomic_store_n(&table_lock, 0, __ATOMIC_RELEASE); }  // pairs with try_lock_table()

void count(uint64_t penna_counters::*counter) {
  if (process.channel != nullptr) __atomic_fetch_add(&(process.channel->counters.*counter), 1, __ATOMIC_RELAXED);
}

// ---- What lies in a module ------------------------------------------------------------------------------------------

template <typename T>
T* follow(const int32_t& field) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(&field) + static_cast<intptr_t>(field));
}

bool inside(const PointModule& module, const void* at, size_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(at);
  return address >= module.start && address <= module.end && bytes <= module.end - address;
}

struct Sites {
  const penna_point_site* first;
  const penna_point_site* last;  // behind the last one
  const penna_point_site* begin() const { return first; }
  const penna_point_site* end() const { return last; }
};

Sites sites_of(const PointModule& module) {
  const auto* first = follow<const penna_point_site>(module.note->sites_at);
  const auto* end = follow<const penna_point_site>(module.note->end_at);
  if (!inside(module, first, 0) || end < first ||
      !inside(module, first,
              static_cast<size_t>(reinterpret_cast<uintptr_t>(end) - reinterpret_cast<uintptr_t>(first))))
    return {nullptr, nullptr};
  return {first, first + (end - first)};
}

bool has_slot(const penna_point_site& site) { return site.slot_at != 0; }

// A site whose parts all lie in its module. Whoever links strange things together gets no point, but no crash either.
bool is_sound(const PointModule& module, const penna_point_site& site) {
  const auto* text = follow<const char>(site.text_at);
  const auto* state = follow<penna_point_state>(site.state_at);
  bool sound_slot = !has_slot(site) || (inside(module, follow<const void>(site.slot_at), PENNA_SLOT_BYTES) &&
                                        inside(module, follow<const void>(site.cold_at), 1));
  return site.kind != PENNA_SITE_TRIGGER && site.arg_count <= PENNA_MAX_ARGS && site.text_bytes != 0 && sound_slot &&
         inside(module, state, sizeof *state) && inside(module, text, site.text_bytes) &&
         text[site.text_bytes - 1] == '\0';
}

// Calls `visit(segment, run-time address)` for the program headers, which the module's first page holds.
template <typename Visit>
void for_each_segment(uintptr_t start, Visit&& visit) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(start);
  if (__builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr))) return;
  if (header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > 4096) return;
  const auto* segment = reinterpret_cast<const ElfW(Phdr)*>(start + header->e_phoff);
  uintptr_t bias = 0;
  for (int i = 0; i < header->e_phnum; ++i)
    if (segment[i].p_type == PT_LOAD) {
      bias = start - (segment[i].p_vaddr & ~uintptr_t{4095});
      break;
    }
  for (int i = 0; i < header->e_phnum; ++i) visit(segment[i], bias + segment[i].p_vaddr);
}

// mprotect's flags of the code at `address`; 0 when it is no code.
int protection_at(const PointModule& module, uintptr_t address) {
  int protection = 0;
  for_each_segment(module.start, [&](const ElfW(Phdr) & segment, uintptr_t at) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) return;
    if (address < at || address - at >= segment.p_memsz) return;
    protection =
        PROT_EXEC | ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0);
  });
  return protection;
}

const penna_point_module* note_in(uintptr_t at, size_t size) {
  for (size_t offset = 0; offset + sizeof(ElfW(Nhdr)) <= size;) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at + offset);
    size_t description = offset + sizeof *note + ((size_t{note->n_namesz} + 3) & ~size_t{3});
    size_t end = description + ((size_t{note->n_descsz} + 3) & ~size_t{3});
    if (end > size) return nullptr;
    if (note->n_type == PENNA_NOTE_MODULE && note->n_namesz == 6 && note->n_descsz >= sizeof(penna_point_module) &&
        __builtin_memcmp(note + 1, "Penna", 6) == 0)
      return reinterpret_cast<const penna_point_module*>(at + description);
    offset = end;
  }
  return nullptr;
}

// ---- Which are wanted -----------------------------------------------------------------------------------------------

struct FullName {
  char text[512];
  FullName(const char* provider, const char* name) {
    size_t length = 0;
    for (const char* part : {provider, ":", name})
      while (*part != '\0' && length < sizeof text - 1) text[length++] = *part++;
    text[length] = '\0';
  }
};

// The last pattern that matches counts.
bool is_wanted(const char* full) {
  bool so = wanted_by_default;
  for (const char* pattern = patterns; pattern < patterns + patterns_end; pattern += text_length(pattern) + 1)
    if (glob_matches(pattern + 1, full)) so = *pattern == '+';
  return so;
}

// What was said of this very pattern before no longer counts.
void forget_pattern(const char* glob) {
  size_t bytes = text_length(glob) + 2;
  for (char* pattern = patterns; pattern < patterns + patterns_end; pattern += text_length(pattern) + 1) {
    if (text_length(pattern) + 1 != bytes || !text_begins(pattern + 1, glob, bytes - 1)) continue;
    __builtin_memmove(pattern, pattern + bytes, static_cast<size_t>(patterns + patterns_end - (pattern + bytes)));
    patterns_end -= bytes;
    return;
  }
}

bool add_pattern(char sign, const char* glob) {
  forget_pattern(glob);
  size_t length = text_length(glob);
  if (patterns_end + length + 2 > sizeof patterns) return false;
  patterns[patterns_end] = sign;
  __builtin_memcpy(patterns + patterns_end + 1, glob, length + 1);
  patterns_end += length + 2;
  return true;
}

void take_patterns(const penna_config& config) {
  char own[sizeof config.point_patterns + 1];
  __builtin_memcpy(own, config.point_patterns, sizeof own - 1);
  own[sizeof own - 1] = '\0';
  wanted_by_default = own[0] != '+';
  for (const char* pattern = own; *pattern != '\0'; pattern += text_length(pattern) + 1)
    add_pattern(*pattern, pattern + 1);
}

FullName name_of(const penna_point_site& site) {
  const char* provider = follow<const char>(site.text_at);
  return {provider, provider + text_length(provider) + 1};
}

// ---- Telling and arming ---------------------------------------------------------------------------------------------

void tell(const PointModule& module, const penna_point_site& site, uint32_t id) {
  constexpr uint32_t kRoom = (PENNA_MAX_RECORD_WORDS - 1) * 8 - sizeof(penna_site_info);
  char text[kRoom];
  size_t bytes = penna_copy_site_text(&site, reinterpret_cast<const char*>(module.end), text, kRoom);
  uintptr_t address = 0;
  if (has_slot(site)) {
    address = reinterpret_cast<uintptr_t>(follow<const void>(site.slot_at));
    ensure_module(address);
  }
  uint32_t text_words = static_cast<uint32_t>((bytes + 7) / 8);
  while (bytes < text_words * 8) text[bytes++] = '\0';
  penna_site_info info{id, site.line, address, static_cast<uint16_t>(bytes), site.arg_count, site.kind, {}};
  for (unsigned i = 0; i < site.arg_count; ++i) info.arg_types[i] = site.types >> (4 * i) & 15;
  Record record = begin_record(PENNA_KIND_SITE, 1 + sizeof info / 8 + text_words, kNoClass, penna_now());
  if (!record) return;
  __builtin_memcpy(record.words + 1, &info, sizeof info);
  __builtin_memcpy(record.words + 1 + sizeof info / 8, text, bytes);
  record.commit();
}

void give_id(const PointModule& module, const penna_point_site& site, penna_point_state& state) {
  uint32_t words = 2u + site.arg_count;
  state.bytes = static_cast<uint8_t>(words * 8);
  state.head = static_cast<uint16_t>(penna_full_header(PENNA_KIND_POINT, words, 0) | PENNA_TAG_BUSY);
  state.arg_count = site.arg_count;
  state.types = site.types;
  state.id = ++last_id;
  tell(module, site, state.id);
}

SlotCode armed_code_of(const penna_point_site& site) {
  return armed_slot(reinterpret_cast<uintptr_t>(follow<const void>(site.slot_at)),
                    reinterpret_cast<uintptr_t>(follow<const void>(site.cold_at)));
}

uintptr_t slot_of(const penna_point_site& site) {
  return reinterpret_cast<uintptr_t>(follow<const void>(site.slot_at));
}
// What has no slot is there as long as what it belongs to.
bool is_armed(const penna_point_site& site) {
  return !has_slot(site) || slot_holds(slot_of(site), armed_code_of(site));
}

bool arm_site(const PointModule& module, const penna_point_site& site, Patcher& patcher) {
  auto& state = *follow<penna_point_state>(site.state_at);
  if (state.id == 0) give_id(module, site, state);
  if (!has_slot(site)) return true;
  int protection = protection_at(module, slot_of(site));
  bool done = protection != 0 && patcher.replace(slot_of(site), disabled_slot(), armed_code_of(site), protection);
  count(done ? &penna_counters::sites_armed : &penna_counters::sites_refused);
  return done;
}

bool disarm_site(const PointModule& module, const penna_point_site& site, Patcher& patcher) {
  return !has_slot(site) ||
         patcher.replace(slot_of(site), armed_code_of(site), disabled_slot(), protection_at(module, slot_of(site)));
}

void arm_module(const PointModule& module, Patcher& patcher) {
  auto* entries = follow<penna_point_entries>(module.note->entries_at);
  if (!inside(module, entries, sizeof *entries)) return;
  entries->reserve = reinterpret_cast<uintptr_t>(&penna_point_reserve_entry);
  entries->values = reinterpret_cast<uintptr_t>(&penna_point_values_entry);
  Sites sites = sites_of(module);
  for (const penna_point_site* site = sites.first; site < sites.last; ++site) {
    if (!is_sound(module, *site)) {
      count(&penna_counters::sites_refused);
      continue;
    }
    if (is_wanted(name_of(*site).text)) arm_site(module, *site, patcher);
  }
}

void disarm_module(const PointModule& module, Patcher& patcher) {
  for (const penna_point_site& site : sites_of(module))
    if (is_sound(module, site)) disarm_site(module, site, patcher);
}

// Switches the sites of a module that `pattern` names, and counts them.
void switch_module(const PointModule& module, const char* pattern, bool on, PointChange* change) {
  Patcher live(PatchMode::kLive);
  for (const penna_point_site& site : sites_of(module)) {
    if (!is_sound(module, site) || !glob_matches(pattern, name_of(site).text)) continue;
    ++change->matched;
    if (is_armed(site) == on) continue;
    bool done = on ? arm_site(module, site, live) : disarm_site(module, site, live);
    ++(done ? change->changed : change->refused);
  }
}

// Takes a module into the table; null when it is there already, of a version unknown to us, or there is no room.
const PointModule* add_module(const penna_point_module* note, uintptr_t start, uintptr_t end) {
  if (note->version != PENNA_POINT_ABI_VERSION) return nullptr;
  PointModule* unused = nullptr;
  for (PointModule& module : point_modules) {
    if (module.note == note) return nullptr;
    if (module.note == nullptr && unused == nullptr) unused = &module;
  }
  if (unused != nullptr) *unused = {note, start, end};
  return unused;
}

// What the agent can be sure of before the first event: one processor feature, and the kernel's leave to patch.
void prepare() {
  unsigned a, b, c, d;
  constexpr unsigned kOsXsave = 1u << 27;
  penna_point_has_xsave = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kOsXsave) != 0;
  prepare_patching();
}

void find_all_modules() {
  static Patcher* patcher;  // for_each_module takes a plain function
  Patcher quiet(PatchMode::kQuiet);
  patcher = &quiet;
  for_each_module([](uintptr_t, uintptr_t start, uintptr_t end) {
    const penna_point_module* note = nullptr;
    for_each_segment(start, [&](const ElfW(Phdr) & segment, uintptr_t at) {
      if (segment.p_type == PT_NOTE && note == nullptr && at >= start && at + segment.p_memsz <= end)
        note = note_in(at, segment.p_memsz);
    });
    if (note == nullptr) return;
    if (const PointModule* module = add_module(note, start, end)) arm_module(*module, *patcher);
  });
}

void tell_all_again() {
  for (const PointModule& module : point_modules) {
    if (module.note == nullptr) continue;
    uint32_t told = 0;  // ids grow within a module; copies of a site share one
    Sites sites = sites_of(module);
    for (const penna_point_site* site = sites.first; site < sites.last; ++site) {
      if (!is_sound(module, *site)) continue;
      uint32_t id = follow<penna_point_state>(site->state_at)->id;
      if (id <= told) continue;
      tell(module, *site, id);
      told = id;
    }
  }
}

// What begin_record() does once it has room, without its look at the chunk's age: the chunk is new.
PointRecord begin_point(uint32_t id, uint64_t* record, uint32_t words) {
  if (record == nullptr) return {nullptr, 0};
  uint64_t header = penna_full_header(PENNA_KIND_POINT, words, penna_now());
  __atomic_store_n(record, header | PENNA_TAG_BUSY, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  record[1] = id;
  return {record, header};
}

}  // namespace

void start_points(const penna_config& config, bool forked) {
  if (forked) {
    if (wanted) tell_all_again();
    return;
  }
  wanted = (config.classes & class_bit(PENNA_POINTS)) != 0;
  if (!wanted) return;
  take_patterns(config);
  prepare();
  lock_table();
  find_all_modules();
  unlock_table();
}

void stop_points() {
  if (!wanted || !try_lock_table()) return;
  {
    Patcher live(PatchMode::kLive);
    for (const PointModule& module : point_modules)
      if (module.note != nullptr) disarm_module(module, live);
  }
  unlock_table();
}

penna_control_status change_points(const char* pattern, bool on, PointChange* change) {
  if (!wanted) return PENNA_CONTROL_NOT_RECORDED;
  if (!try_lock_table()) return PENNA_CONTROL_BUSY;
  bool room = add_pattern(on ? '+' : '-', pattern);
  for (const PointModule& module : point_modules)
    if (room && module.note != nullptr) switch_module(module, pattern, on, change);
  unlock_table();
  return room ? PENNA_CONTROL_DONE : PENNA_CONTROL_FULL;
}

PointRecord reserve_point_first(uint32_t id, uint32_t words, uint64_t) {
  if (!recording(PENNA_POINTS)) return {nullptr, 0};
  Record record = begin_record(PENNA_KIND_POINT, words, PENNA_POINTS, penna_now());
  if (record) record.words[1] = id;
  return {record.words, record.header};
}

PointRecord reserve_point_in_new_chunk(uint32_t id, uint32_t words, uint64_t at) {
  return begin_point(id, reserve_in_new_chunk(at, words * 8, PENNA_POINTS), words);
}

PointRecord reserve_point_again(uint32_t id, uint32_t words, uint64_t at) {
  return begin_point(id, reserve_again(reinterpret_cast<uint64_t*>(at), words, PENNA_POINTS), words);
}

}  // namespace penna::agent

// ---- Called by the constructors and destructors of modules with points ------------------------------------------------

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

PENNA_EXPORT void penna_agent_module_loaded(const penna_point_module* note) {
  using namespace penna::agent;
  if (armed() == 0) after_fork_or_start();
  if (!wanted || (armed() & class_bit(PENNA_POINTS)) == 0) return;
  dl_find_object found;
  if (_dl_find_object(const_cast<penna_point_module*>(note), &found) != 0) return;
  lock_table();
  {
    Patcher quiet(PatchMode::kQuiet);
    if (const PointModule* module = add_module(note, reinterpret_cast<uintptr_t>(found.dlfo_map_start),
                                               reinterpret_cast<uintptr_t>(found.dlfo_map_end)))
      arm_module(*module, quiet);
  }
  unlock_table();
}

PENNA_EXPORT void penna_agent_module_unloaded(const penna_point_module* note) {
  using namespace penna::agent;
  lock_table();
  for (PointModule& module : point_modules)
    if (module.note == note) module.note = nullptr;
  unlock_table();
}
