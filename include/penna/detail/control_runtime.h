/* SPDX-License-Identifier: MIT
 *
 * control_runtime.h: what penna/control.h and penna/trigger.h do in a program that has no agent: find the modules, find
 * or make the switchboard, change the sites.
 *
 * Why in a header: so a program that links nothing of Penna's can switch its triggers. Each module that includes it has
 * these few functions once (hidden); what they share in a process is the switchboard, to which every known module
 * points. In C++ the functions passed as callbacks have external names, too (PENNA_RUNTIME_CALLED): otherwise gcc puts
 * them into the COMDAT group of the function that passes them, but a constant of two of their addresses outside of it,
 * and a second translation unit does not link (-fno-pie).
 * Invariant: everything happens inside of one call of dl_iterate_phdr, whose lock keeps modules from being unmapped and
 * serialises the search for the switchboard; the switchboard's own lock is always taken after it.
 */
#ifndef PENNA_DETAIL_CONTROL_RUNTIME_H
#define PENNA_DETAIL_CONTROL_RUNTIME_H

#include "penna/detail/site_asm.h"
#include "penna/detail/site_table.h"

#if defined(PENNA_ARCH_HAS_POINTS) && __STDC_HOSTED__
#define PENNA_CAN_SWITCH_SITES 1
#include "penna/detail/patch.h"
#else
#define PENNA_CAN_SWITCH_SITES 0
#endif

PENNA_C_CODE_BEGIN

#ifdef __cplusplus
#define PENNA_RUNTIME extern "C" __attribute__((visibility("hidden"), no_instrument_function)) inline
#define PENNA_RUNTIME_PROTOTYPE extern "C" __attribute__((visibility("hidden"), no_instrument_function))
#define PENNA_RUNTIME_CALLED PENNA_RUNTIME
#else
#define PENNA_RUNTIME __attribute__((visibility("hidden"), no_instrument_function, weak))
#define PENNA_RUNTIME_PROTOTYPE PENNA_RUNTIME
#define PENNA_RUNTIME_CALLED static inline
#endif

#if !defined(PENNA_ARCH_HAS_LINUX) || !PENNA_CAN_SWITCH_SITES
static inline int penna_change(const char* pattern, uint32_t kinds, struct penna_request request) {
  (void)pattern, (void)kinds, (void)request;
  return 0;
}
static inline int penna_visit_sites(const char* pattern, int (*visit)(const struct penna_point_site*, void*),
                                    void* data) {
  (void)pattern, (void)visit, (void)data;
  return 0;
}
#else

PENNA_RUNTIME_PROTOTYPE int penna_change(const char* pattern, uint32_t kinds, struct penna_request request);
PENNA_RUNTIME_PROTOTYPE int penna_visit_sites(const char* pattern, int (*visit)(const struct penna_point_site*, void*),
                                              void* data);
PENNA_RUNTIME_PROTOTYPE void penna_own_module_loaded(const struct penna_point_module* note);

/* As in <link.h>, which requires a feature macro. The first four members, which every libc has
 * (dl_iterate_phdr(3)). */
struct penna_dl_module {
  uintptr_t bias;
  const char* name;
  const struct penna_elf_segment* segments;
  uint16_t count;
};
PENNA_EXTERN_C int penna_dl_iterate(int (*visit)(struct penna_dl_module* module, size_t size, void* data),
                                    void* data) __asm__("dl_iterate_phdr");

/* A walk over all modules: calls `visit` for each Penna note, until it returns 0. */
struct penna_walk {
  int (*visit)(struct penna_walk* self, const struct penna_elf_module* module, const struct penna_site_table* table);
};
PENNA_RUNTIME_CALLED int penna_walk_module(struct penna_dl_module* found, size_t size, void* data) {
  struct penna_walk* walk = (struct penna_walk*)data;
  struct penna_elf_module module = {found->bias, found->segments, found->count};
  const struct penna_elf_range all = penna_elf_extent(&module);
  struct penna_site_table table = {0, all.start, all.end};
  (void)size;
  /* The result for dl_iterate_phdr: not 0 ends the walk. */
  while ((table.note = penna_next_note(&module, table.note)) != 0)
    if (penna_entries_of(&table) != 0 && !walk->visit(walk, &module, &table)) return 1;
  return 0;
}

/* A task and its result. The walk is its first member, so a pointer to it is one to the task. */
struct penna_task {
  struct penna_walk walk;
  struct penna_switcher switcher;
  struct penna_patcher patcher;
  const struct penna_elf_module* module; /* the walk's current module */
  struct penna_switchboard* board;
  const struct penna_point_module* loaded; /* the module that reports its loading; or null */
  struct penna_switching switching;        /* or this */
  struct penna_change_counts counts;
  int done;
};
static inline struct penna_task* penna_task_of(struct penna_switcher* switcher) {
  return (struct penna_task*)(void*)((char*)switcher - offsetof(struct penna_task, switcher));
}

PENNA_RUNTIME_CALLED int penna_own_ready(struct penna_switcher* self, const struct penna_site_table* table,
                                         const struct penna_point_site* site) {
  (void)self, (void)table;
  return site->kind == PENNA_SITE_TRIGGER; /* nothing records */
}
PENNA_RUNTIME_CALLED int penna_own_write(struct penna_switcher* self, const struct penna_site_table* table,
                                         const struct penna_slot_change* change) {
  struct penna_task* task = penna_task_of(self);
  const struct penna_elf_range code = penna_elf_code_at(task->module, change->slot);
  (void)table;
  return penna_patch_slot(&task->patcher, &code, change);
}

PENNA_RUNTIME_CALLED int penna_find_board(struct penna_walk* self, const struct penna_elf_module* module,
                                          const struct penna_site_table* table) {
  struct penna_switchboard* board = (struct penna_switchboard*)(uintptr_t)penna_entries_of(table)->switchboard;
  (void)module;
  /* A switchboard of another version must not be read; its modules keep it (penna_enter_module()). */
  if (board == 0 || board->version != PENNA_SWITCHBOARD_VERSION) return 1;
  ((struct penna_task*)(void*)self)->board = board;
  return 0;
}

/* Adds a module to the switchboard: it gets all requests made so far. */
PENNA_RUNTIME_CALLED int penna_enter_module(struct penna_walk* self, const struct penna_elf_module* module,
                                            const struct penna_site_table* table) {
  struct penna_task* task = (struct penna_task*)(void*)self;
  struct penna_point_entries* entries = penna_entries_of(table);
  task->module = module;
  /* It is known already: to this switchboard, or to one of another version. */
  if (entries->switchboard != 0) return 1;
  penna_enter_table(&task->switcher, table, penna_requests_of(task->board));
  entries->switchboard = (uintptr_t)task->board;
  return 1;
}

PENNA_RUNTIME_CALLED int penna_change_module(struct penna_walk* self, const struct penna_elf_module* module,
                                             const struct penna_site_table* table) {
  struct penna_task* task = (struct penna_task*)(void*)self;
  task->module = module;
  penna_change_table(&task->switcher, table, &task->switching, &task->counts);
  return 1;
}

/* Never unmapped: modules point to it as long as the process lives. Fresh memory is zero: unlocked, and without
 * requests. */
static inline struct penna_switchboard* penna_make_board(void) {
  const long at = penna_arch_syscall(PENNA_SYS_mmap, 0, sizeof(struct penna_switchboard),
                                     PENNA_PROT_READ | PENNA_PROT_WRITE, 0x22 /* MAP_PRIVATE | MAP_ANONYMOUS */, -1, 0);
  struct penna_switchboard* board = (struct penna_switchboard*)at;
  if (at < 0 && at >= -4095) return 0;
  board->version = PENNA_SWITCHBOARD_VERSION;
  penna_prepare_patching();
  return board;
}

/* Called once by dl_iterate_phdr: everything else happens in here, where no module can be unmapped. */
PENNA_RUNTIME_CALLED int penna_do_task(struct penna_dl_module* first, size_t size, void* data) {
  struct penna_task* task = (struct penna_task*)data;
  struct penna_switching* switching = &task->switching;
  (void)first, (void)size;
  task->walk.visit = penna_find_board;
  penna_dl_iterate(penna_walk_module, task);
  if (task->board == 0 && task->loaded != 0) return 1; /* no request has been made yet */
  if (task->board == 0) task->board = penna_make_board();
  if (task->board == 0) return 1;
  /* The agent records: it makes the change, and remembers it. */
  if (task->loaded == 0 && task->board->change != 0) {
    const penna_change_function change = (penna_change_function)(uintptr_t)task->board->change;
    task->done = change(switching->pattern, switching->kinds, &switching->request, &task->counts);
    return 1;
  }
  penna_lock_board(task->board);
  /* Modules loaded since the last task get all earlier requests first; then all get this one. */
  switching->stamp = ++task->board->stamp;
  task->patcher.board = task->board;
  task->walk.visit = penna_enter_module;
  penna_dl_iterate(penna_walk_module, task);
  if (task->loaded == 0 && (task->done = penna_remember_request(task->board, switching->pattern, switching->kinds,
                                                                switching->request)) != 0) {
    task->walk.visit = penna_change_module;
    penna_dl_iterate(penna_walk_module, task);
  }
  penna_finish_patching(&task->patcher);
  penna_unlock_board(task->board);
  return 1;
}

static inline void penna_begin_task(struct penna_task* task) {
  __builtin_memset(task, 0, sizeof *task);
  task->switcher.ready = penna_own_ready;
  task->switcher.write = penna_own_write;
}

PENNA_RUNTIME int penna_change(const char* pattern, uint32_t kinds, struct penna_request request) {
  struct penna_task task;
  __asm__ volatile(PENNA_ASM_KEEP("penna_control_entries") PENNA_ASM_CONTROL_NOTE : :);
  penna_begin_task(&task);
  task.switching.pattern = pattern;
  task.switching.kinds = kinds;
  task.switching.request = request;
  penna_dl_iterate(penna_do_task, &task);
  /* -1: there was no memory to remember the request for modules that are loaded later, so nothing was switched. */
  return task.done ? (int)(task.counts.matched - task.counts.refused) : -1;
}

/* Called by the constructor of each module that has sites and this header, unless the agent is loaded. */
PENNA_RUNTIME __attribute__((used)) void penna_own_module_loaded(const struct penna_point_module* note) {
  struct penna_task task;
  penna_begin_task(&task);
  task.loaded = note;
  penna_dl_iterate(penna_do_task, &task);
}

/* ---- Listing ----------------------------------------------------------------------------------------------------- */

struct penna_listing {
  struct penna_walk walk;
  const char* pattern;
  int (*visit)(const struct penna_point_site* site, void* data);
  void* data;
  int count;
};
PENNA_RUNTIME_CALLED int penna_list_module(struct penna_walk* self, const struct penna_elf_module* module,
                                           const struct penna_site_table* table) {
  struct penna_listing* listing = (struct penna_listing*)(void*)self;
  const struct penna_point_site* first = penna_first_site(table);
  (void)module;
  for (uint32_t i = 0; i < penna_site_count(table); ++i) {
    struct penna_site_name name;
    struct penna_point_state* state = penna_state_of(first + i);
    if (!penna_site_is_sound(table, first + i) || first[i].kind == PENNA_SITE_SPAN_END) continue;
    /* Copies of a site (an inlined function, a template) share one state: the first copy stands for all of them. */
    if (state->first == 0) state->first = i + 1;
    penna_name_site(first + i, &name);
    if (state->first != i + 1 || !penna_pattern_matches(listing->pattern, PENNA_ALL_KINDS, &name)) continue;
    ++listing->count;
    if (!listing->visit(first + i, listing->data)) return 0;
  }
  return 1;
}

PENNA_RUNTIME int penna_visit_sites(const char* pattern, int (*visit)(const struct penna_point_site*, void*),
                                    void* data) {
  struct penna_listing listing = {{penna_list_module}, pattern, visit, data, 0};
  penna_dl_iterate(penna_walk_module, &listing);
  return listing.count;
}

#endif /* PENNA_ARCH_HAS_LINUX, PENNA_CAN_SWITCH_SITES */
PENNA_C_CODE_END

#endif
