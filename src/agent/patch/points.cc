// SPDX-License-Identifier: MIT
// See points.h. The steps: modules -> their note -> their sites -> id, SITE record, patched slot.
#include "agent/patch/points.h"

#include "agent/core/attachment.h"
#include "agent/core/call_filters.h"
#include "agent/core/text.h"
#include "agent/core/writer.h"
#include "agent/modules/loader.h"
#include "agent/modules/modules.h"
#include "agent/modules/new_modules.h"
#include "agent/patch/arch.h"
#include "agent/patch/site_records.h"
#include "agent/patch/sites.h"
#include "agent/stacks/stacks.h"
#include "penna/detail/site_text.h"

namespace penna::agent {

extern "C" {
void penna_point_reserve_entry();
void penna_point_values_entry();
void penna_point_stack_entry();
void penna_point_stack_values_entry();
__attribute__((visibility("hidden"))) uint8_t penna_point_has_xsave;
}

// points_x86_64.S relies on these.
static_assert(offsetof(Process, armed) == 0 && offsetof(Process, chunks) == 8 && offsetof(Thread, cursor) == 0);
static_assert(offsetof(penna_chunk, time_begin) == 8 && PENNA_CHUNK_BYTES == 0x10000);
static_assert(kWithStack == 1);
static_assert(class_bit(PENNA_POINTS) == 1 << 3 && PENNA_FULL_TIME_BITS == 48 && sizeof(penna_point) == 8);

namespace {

bool wanted;            // the recorder asked for points
bool recording_points;  // and is connected
bool recording_pools;   // and records allocations: the pools of penna/alloc.h

// Globs of the points that are recorded with their stacks, each zero-terminated; an empty one ends the list.
char stack_patterns[sizeof(penna_config::point_patterns) + 1];

// ---- Describing sites -----------------------------------------------------------------------------------------------

void describe(const SiteModule& module, const penna_point_site& site, uint32_t id) {
  char text[kSiteTextRoom];
  const size_t bytes =
      penna_copy_site_text(&site, reinterpret_cast<const char*>(module.table.end), text, kSiteTextRoom);
  penna_site_info info{id, site.line, 0, static_cast<uint16_t>(bytes), site.arg_count, site.kind, {}};
  if (penna_has_slot(&site)) {
    info.address = penna_slot_of(&site);
    ensure_module(info.address);
  }
  for (unsigned i = 0; i < site.arg_count; ++i) info.arg_types[i] = site.types >> (4 * i) & 15;
  record_site(info, text);
}

void give_id(const SiteModule& module, const penna_point_site& site, penna_point_state& state) {
  uint32_t words = 2u + site.arg_count;
  const char* text = penna_text_of(&site);
  const uint8_t stack = site.kind == PENNA_SITE_SPAN_END ? 0 : stack_bits(text, site.text_bytes);
  state.bytes = static_cast<uint8_t>(words * 8 | stack);
  state.head = static_cast<uint16_t>(penna_full_header(PENNA_KIND_POINT, words, 0) | PENNA_TAG_BUSY);
  state.arg_count = site.arg_count;
  state.types = site.types & ((uint64_t{1} << (4 * site.arg_count)) - 1);
  state.id = new_site_id();
  describe(module, site, state.id);
}

void record_all_again() {
  forget_gone_site_modules();
  for (const SiteModule& module : site_modules()) {
    if (module.table.note == nullptr) continue;
    const penna_point_site* first = penna_first_site(&module.table);
    for (uint32_t i = 0; i < penna_site_count(&module.table); ++i) {
      if (!penna_site_is_sound(&module.table, first + i)) continue;
      penna_point_state* state = penna_state_of(first + i);
      if (state->first == 0) state->first = i + 1;
      if (state->first == i + 1 && state->id != 0) describe(module, first[i], state->id);
    }
  }
}

// Ids of an earlier recording, which the sites remember and this agent does not.
void forget_ids() {
  for (const SiteModule& module : site_modules()) {
    if (module.table.note == nullptr) continue;
    const penna_point_site* first = penna_first_site(&module.table);
    for (uint32_t i = 0; i < penna_site_count(&module.table); ++i)
      if (penna_site_is_sound(&module.table, first + i)) penna_state_of(first + i)->id = 0;
  }
}

// ---- Switching ------------------------------------------------------------------------------------------------------

void fill_entries(penna_point_entries* entries) {
  const auto [reserve, values] = point_entries();
  entries->reserve = reserve;
  entries->values = values;
}

bool prepare_to_record(const SiteModule& module, const penna_point_site& site) {
  if (site.kind == PENNA_SITE_POOL) return recording_pools;
  if (!recording_points) return false;
  penna_point_state* state = penna_state_of(&site);
  if (state->id == 0) give_id(module, site, *state);
  return true;
}

constexpr SiteRules kRules{prepare_to_record, fill_entries};

// Switches sites in all modules, present and future. False: no memory to remember the request.
bool change_sites(const char* pattern, uint32_t kinds, const penna_request& request, penna_change_counts* counts) {
  if (!penna_remember_request(board(), pattern, kinds, request)) return false;
  forget_gone_site_modules();
  Switcher switcher(kRules);
  penna_switching switching{pattern, kinds, ++board()->stamp, request};
  for (SiteModule& module : site_modules()) switcher.change(module, switching, counts);
  return true;
}

// visit(sign, pattern)
template <typename Visit>
void for_each_pattern(const penna_config& config, Visit&& visit) {
  // A copy that certainly ends: the configuration comes from a socket.
  char own[sizeof config.point_patterns + 1];
  __builtin_memcpy(own, config.point_patterns, sizeof own - 1);
  own[sizeof own - 1] = '\0';
  for (const char* pattern = own; *pattern != '\0'; pattern += text_length(pattern) + 1) visit(*pattern, pattern + 1);
}

// The recorder's patterns as requests: "+glob" and "-glob". If the first is no "+", all other points are on.
void take_patterns(const penna_config& config) {
  penna_change_counts ignored{};
  if (config.point_patterns[0] != '+') change_sites("*", PENNA_RECORDED_KINDS, penna_request_on(), &ignored);
  for_each_pattern(config, [&](char sign, const char* pattern) {
    if (sign == '@') return;
    change_sites(pattern, PENNA_RECORDED_KINDS, sign == '+' ? penna_request_on() : penna_request_off(), &ignored);
  });
}

// Before the first point gets its id. In a program that records itself, modules have used the fast entry until now.
void take_stack_patterns(const penna_config& config) {
  char* to = stack_patterns;
  for_each_pattern(config, [&](char sign, const char* pattern) {
    if (sign != '@') return;
    const size_t bytes = text_length(pattern) + 1;
    __builtin_memcpy(to, pattern, bytes);
    to += bytes;
  });
  *to = '\0';
  for (const SiteModule& module : site_modules())
    if (module.table.note != nullptr) fill_entries(penna_entries_of(&module.table));
}

void settle_all() {
  forget_gone_site_modules();
  Switcher switcher(kRules);
  for (SiteModule& module : site_modules()) switcher.settle(module);
}

// The program itself switches something: penna_switchboard.change.
int change_for_program(const char* pattern, uint32_t kinds, const penna_request* request, penna_change_counts* counts) {
  BoardLock lock(BoardLock::kWait);
  return change_sites(pattern, kinds, *request, counts);
}

// What the agent can check before the first event: one processor feature, and whether the kernel allows patching.
void prepare() {
  penna_point_has_xsave = has_xsave();
  penna_prepare_patching();
}

// What begin_record() does once it has room, without the check of the chunk's age: the chunk is new.
uint64_t* begin_point(uint32_t id, uint64_t* record, uint32_t words) {
  if (record == nullptr) return nullptr;
  open_record(record, penna_full_header(PENNA_KIND_POINT, words, penna_now()));
  record[1] = id;
  return record;
}

// Finds and arms all sites that the config asks for.
void arm_first(const penna_config& config, bool pools) {
  if (wanted) take_stack_patterns(config);
  {
    Switcher switcher(kRules);
    find_site_modules(switcher);
  }
  if (attachment != nullptr) forget_ids();
  penna_change_counts ignored{};
  if (pools) change_sites("*", PENNA_POOL_KINDS, penna_request_on(), &ignored);
  if (wanted) {
    take_patterns(config);
    board()->change = reinterpret_cast<uintptr_t>(&change_for_program);
  }
  recording_points = wanted;
  recording_pools = pools;
  settle_all();
}

}  // namespace

void start_points(const penna_config& config, bool forked) {
  if (forked) {
    if (wanted) record_all_again();
    return;
  }
  wanted = (config.classes & class_bit(PENNA_POINTS)) != 0;
  const bool pools = (config.classes & class_bit(PENNA_ALLOC)) != 0;
  if (!wanted && !pools) return;
  prepare();
  BoardLock lock(BoardLock::kWait);
  if (attachment == nullptr) return arm_first(config, pools);
  hold_modules([&] { arm_first(config, pools); });  // in a running program, modules come and go meanwhile
}

void enter_points(const NewModules& modules, penna_unless) {
  BoardLock lock(BoardLock::kWait);
  Switcher switcher(kRules);
  for (uint32_t i = 0; i < modules.count(); ++i) add_site_modules_at(modules[i].start, switcher);
}

void stop_points() {
  if (code_refused()) return;
  BoardLock lock(BoardLock::kTry);
  if (!(recording_points || recording_pools) || !lock) return;
  recording_points = recording_pools = false;
  settle_all();
}

penna_control_status change_points(const char* pattern, bool on, penna_change_counts* counts) {
  if (!wanted) return PENNA_CONTROL_NOT_RECORDED;
  BoardLock lock(BoardLock::kTry);
  if (!lock) return PENNA_CONTROL_BUSY;
  bool room = change_sites(pattern, PENNA_ALL_KINDS, on ? penna_request_on() : penna_request_off(), counts);
  return room ? PENNA_CONTROL_DONE : PENNA_CONTROL_FULL;
}

PointEntries point_entries() {
  const auto address = [](void (*entry)()) { return reinterpret_cast<uintptr_t>(entry); };
  if (stack_patterns[0] == '\0') return {address(penna_point_reserve_entry), address(penna_point_values_entry)};
  return {address(penna_point_stack_entry), address(penna_point_stack_values_entry)};
}

uint8_t stack_bits(const char* text, uint32_t bytes) {
  penna_site_name name;
  penna_name_text(text, bytes, &name);
  for (const char* pattern = stack_patterns; *pattern != '\0'; pattern += text_length(pattern) + 1)
    if (penna_text_matches(pattern, name.full) != 0) return kWithStack;
  return 0;
}

uint64_t* reserve_point_first(uint32_t id, uint32_t words, uint64_t) {
  if (!recording(PENNA_POINTS)) return nullptr;
  Record record = begin_record(PENNA_KIND_POINT, words, PENNA_POINTS, penna_now());
  if (record) record.words[1] = id;
  return record.words;
}

uint64_t* reserve_point_with_stack(uint32_t id, uint32_t words, uint64_t registers) {
  if (!recording(PENNA_POINTS)) return nullptr;
  const uint64_t stack = current_stack(*reinterpret_cast<const unwind::Registers*>(registers));
  Record record = begin_record(PENNA_KIND_POINT, words, PENNA_POINTS, penna_now());
  if (record) record.words[1] = id | stack << 32;
  return record.words;
}

uint64_t* reserve_point_in_new_chunk(uint32_t id, uint32_t words, uint64_t at) {
  return begin_point(id, reserve_in_new_chunk(at, words * 8, PENNA_POINTS), words);
}

uint64_t* reserve_point_again(uint32_t id, uint32_t words, uint64_t at) {
  return begin_point(id, reserve_again(reinterpret_cast<uint64_t*>(at), words, PENNA_POINTS), words);
}

}  // namespace penna::agent

// ---- Called by the constructors and destructors of modules with points ----------------------------------------------

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

// Its sites may be events and triggers: they are switched here, whether or not anything records.
PENNA_EXPORT void penna_agent_module_loaded(const penna_point_module* note) {
  using namespace penna::agent;
  // A constructor may run before anything else of the agent has been called, or first in a forked child.
  if (armed() == 0) after_fork_or_start();
  if (code_refused()) return;
  BoardLock lock(BoardLock::kWait);
  Switcher switcher(kRules);
  add_site_module(note, switcher);
}

PENNA_EXPORT void penna_agent_module_unloaded(const penna_point_module* note) {
  using namespace penna::agent;
  if (code_refused()) return forget_site_module(note);  // sites are not switched any more
  BoardLock lock(BoardLock::kWait);
  forget_site_module(note);
}
