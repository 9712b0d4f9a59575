// SPDX-License-Identifier: MIT
// See call_patches.h. The steps of patch_new_modules(): questions and near memory, the recorder's answer, writing.
#include "agent/patch/call_patches.h"

#include <link.h>
#include <sys/mman.h>

#include "agent/calls/call_values.h"
#include "agent/core/arch.h"
#include "agent/core/attachment.h"
#include "agent/core/pages.h"
#include "agent/core/state.h"
#include "agent/core/sys.h"
#include "agent/core/text.h"
#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/imports.h"
#include "agent/modules/loader.h"
#include "agent/modules/modules.h"
#include "agent/modules/near_ranges.h"
#include "agent/modules/new_modules.h"
#include "agent/modules/stack_readers.h"
#include "agent/patch/code_writer.h"
#include "agent/patch/entered_functions.h"
#include "agent/patch/plan_request.h"
#include "agent/patch/sites.h"
#include "penna/patch_plan.h"

namespace penna::agent {
namespace {

bool wanted;              // the recorder plans patches
bool wanted_of_pointers;  // also for functions that dlsym returns

bool count_patch(bool done) {
  count(done ? &penna_counters::functions_patched : &penna_counters::functions_refused);
  return done;
}

// ---- Questions ------------------------------------------------------------------------------------------------------

void ask_about(const NewModules& modules, Questions& questions, uint32_t (&asked)[NewModules::kMost]) {
  for (uint32_t i = 0; i < modules.count(); ++i) {
    const ModuleFacts& module = modules[i];
    if (!may_be_asked_about(module)) continue;
    const bool may_patch = !return_addresses_are_read();
    // Two bytes of stubs for each byte of the module are more than enough; what is left over is unmapped (use_near()).
    const uint64_t near_bytes = page_up((module.end - module.start) * 2 + 16 * kPageBytes);
    const NearRoom near = may_patch ? reserve_near(module.start, module.end, near_bytes) : NearRoom{};
    asked[questions.count] = i;
    penna_patch_question& question = questions.list[questions.count++] = question_about(module, near, 0);
    question.unless = may_patch ? PENNA_UNLESS_NOTHING : PENNA_UNLESS_READ;
  }
}

// ---- Answers --------------------------------------------------------------------------------------------------------

void patch_module(const penna_patch_question& question, const Plan& plan, const penna_near& near, bool alone,
                  const BindingScope& scope) {
  const penna_patch* const first = plan.patches + near.first;
  const penna_patch* const end = first + near.patches;
  const auto is_code = [](const penna_patch& patch) { return patch.kind == PENNA_PATCH_CODE; };
  if (!fill_near(question, plan, near)) {
    for (const penna_patch* patch = first; patch != end; ++patch) count_patch(false);
    use_near(question, {});
    return;
  }
  for (const penna_patch* patch = first; patch != end; ++patch)
    if (patch->stub != 0) prepare_import(*patch, question, plan.name(patch->name), plan.name(patch->version), scope);
  if (!use_near(question, near)) return;

  // Stubs are in place and executable. Now in three steps: the bytes after the heads, which no thread runs yet; a
  // barrier, after which all cores have fetched them; then the heads, which lead there.
  if (first != end) mark_written(question.start);
  CodeWriter writer(question, alone);
  for (const penna_patch* patch = first; patch != end; ++patch)
    if (is_code(*patch) && writer.is_as_planned(*patch)) writer.write_tail(*patch);
  writer.finish();
  for (const penna_patch* patch = first; patch != end; ++patch) {
    const bool done = is_code(*patch)
                          ? writer.may_write(*patch) && CodeWriter::is_prepared(*patch) && writer.write_head(*patch)
                          : switch_import(*patch, question);
    count_patch(done);
  }
}

// `scope_of(i)`: the scope in which the names of the i-th module are looked up.
template <typename ScopeOf>
void patch_modules_as(const Plan& plan, const Questions& questions, ScopeOf&& scope_of) {
  const bool alone = may_write_freely();
  for (uint32_t i = 0; i < questions.count; ++i) {
    const bool sound = plan.head != nullptr && plan.holds(plan.nears[i], questions.list[i]);
    if (sound)
      patch_module(questions.list[i], plan, plan.nears[i], alone, {questions.list[i].start, scope_of(i)});
    else
      use_near(questions.list[i], {});
  }
}

// Writes one stub into memory that is code already and may hold other stubs that are in use.
bool write_stub(const penna_patch_question& question, const Plan& plan, const penna_near& near) {
  penna_patcher patcher{board(), 0, 0};
  const penna_elf_range code{question.near, question.near + near.bytes, PENNA_PROT_READ | PENNA_PROT_EXEC};
  const bool done = near.bytes != 0 && penna_write_code(&patcher, &code, question.near, plan.code + near.offset,
                                                        static_cast<unsigned>(near.bytes)) != 0;
  penna_finish_patching(&patcher);
  return done;
}

// A plan without a patch is not an error: the recorder says why, or nothing needs to be done.
void patch_function_as(const Plan& plan, const penna_patch_question& question, bool alone) {
  const penna_near none{}, &near = plan.head != nullptr ? plan.nears[0] : none;
  const penna_patch* patch =
      plan.head != nullptr && plan.holds(near, question) && near.patches == 1 ? plan.patches + near.first : nullptr;
  const NearRoom room{question.near, question.near_bytes};
  if (patch == nullptr) return keep_near_function(question.start, room, 0);
  bool done = patch->kind == PENNA_PATCH_CODE && write_stub(question, plan, near);
  keep_near_function(question.start, room, done ? near.bytes : 0);
  if (done) {
    mark_written(question.start);
    CodeWriter writer(question, alone);
    done = writer.is_as_planned(*patch) && writer.write_tail(*patch);
    writer.finish();
    done = done && writer.write_head(*patch);
  }
  count_patch(done);
}

// Null also where the plan is not what was asked for: its stub must lie in the near memory of this very question.
const penna_patch* only_patch(const Plan& plan, const Questions& questions, uint32_t i) {
  if (plan.head == nullptr || !plan.holds(plan.nears[i], questions.list[i]) || plan.nears[i].patches != 1)
    return nullptr;
  const penna_patch* patch = plan.patches + plan.nears[i].first;
  const penna_patch_question& question = questions.list[i];
  const bool sound = patch->kind == PENNA_PATCH_INSTEAD && patch->stub - question.near < plan.nears[i].bytes;
  return sound ? patch : nullptr;
}

void refuse_instead(bool when) {
  if (when) count(&penna_counters::allocators_refused);
}

// All questions share one piece of near memory. It becomes executable before the first function leads there.
EnterInstead enter_instead_as(const Plan& plan, const Questions& questions, uintptr_t* originals) {
  const bool alone = may_write_freely();
  const NearRoom all{questions.list[0].near, page_up(uint64_t{questions.count} * questions.list[0].near_bytes)};
  uint64_t used = 0;
  bool fit = true;
  for (uint32_t i = 0; i < questions.count; ++i) {
    const penna_patch* patch = only_patch(plan, questions, i);
    fit &= patch == nullptr || alone || CodeWriter::fits_at_once(*patch);
    if (patch != nullptr) used = questions.list[i].near + plan.nears[i].bytes - all.start;
  }
  // All of an allocator or nothing: a head that does not fit cannot be written under running threads.
  if (!fit) used = 0;
  if (used != 0 && !open_near(all, all.bytes)) used = 0;
  for (uint32_t i = 0; used != 0 && i < questions.count; ++i)
    if (only_patch(plan, questions, i) != nullptr)
      __builtin_memcpy(reinterpret_cast<void*>(questions.list[i].near), plan.code + plan.nears[i].offset,
                       plan.nears[i].bytes);
  if (used != 0 && !close_near(all, all.bytes)) used = 0;
  const bool kept = keep_near(questions.list[0].start, all, used);
  if (!fit) return EnterInstead::kNotUnderThreads;
  if (!kept || used == 0) {
    for (uint32_t i = 0; i < questions.count; ++i) refuse_instead(only_patch(plan, questions, i) != nullptr);
    return EnterInstead::kNone;
  }

  const auto is_alias = [&](const penna_patch& patch, uint32_t before) {
    for (uint32_t i = 0; i < before; ++i)
      if (const penna_patch* other = only_patch(plan, questions, i);
          other != nullptr && other->address == patch.address)
        return true;
    return false;
  };
  bool any = false;
  mark_written(questions.list[0].start);
  CodeWriter writer(questions.list[0], alone);
  for (uint32_t i = 0; i < questions.count; ++i) {
    const penna_patch* patch = only_patch(plan, questions, i);
    if (patch == nullptr || is_alias(*patch, i)) continue;
    __atomic_store_n(&originals[i], patch->stub, __ATOMIC_RELEASE);  // before the head: a thread may enter at once
    const bool done = writer.is_as_planned(*patch) && writer.write_tail(*patch) && writer.write_head(*patch);
    if (done)
      count_patch(true);
    else
      refuse_instead(true), originals[i] = 0;
    any |= done;
  }
  return any ? EnterInstead::kEntered : EnterInstead::kNone;
}

bool is_sound(const penna_patch& patch, const penna_patch_question& question, const penna_near& near) {
  const auto is_number = [&](uint32_t number) { return number - question.first_number < question.numbers; };
  return patch.kind == PENNA_PATCH_LOCK && patch.stub - question.near < near.bytes && is_number(patch.name) &&
         patch.role < PENNA_LOCK_ROLES && patch.sync < PENNA_SYNC_COUNT && patch.answer < PENNA_ANSWERS &&
         patch.subject < PENNA_SUBJECTS && (patch.version == UINT32_MAX || is_number(patch.version));
}

// All of a module's lock functions or none: a lock must not be recorded as taken and never as released.
EnterInstead enter_locks_as(const Plan& plan, const penna_patch_question& question, const penna_near& near,
                            const LockEntrance& entrance) {
  const bool alone = may_write_freely();
  const penna_patch* const first = plan.patches + near.first;
  const penna_patch* const end = first + near.patches;
  bool fit = true;
  for (const penna_patch* patch = first; patch != end; ++patch) fit &= alone || CodeWriter::fits_at_once(*patch);
  bool sound = fit && first != end && fill_near(question, plan, near);
  sound = use_near(question, sound ? near : penna_near{}) && sound;
  if (!fit) return EnterInstead::kNotUnderThreads;
  if (first == end) return EnterInstead::kNone;
  mark_written(question.start);
  CodeWriter writer(question, alone);
  for (const penna_patch* patch = first; patch != end; ++patch)
    sound = sound && is_sound(*patch, question, near) && writer.is_as_planned(*patch);
  for (const penna_patch* patch = first; patch != end; ++patch) {
    if (sound) entrance.entered(*patch, question.start);
    count_patch(sound && writer.write_tail(*patch) && writer.write_head(*patch));
  }
  return sound ? EnterInstead::kEntered : EnterInstead::kNone;
}

void patch_modules(void* opened) {
  visit_new_modules(ModuleVisitor::kCallPatches, opened, [](const NewModules& modules) {
    uint32_t asked[NewModules::kMost];
    const auto scope_of = [&](uint32_t i) { return modules.handle(asked[i]); };
    PatchLock lock;
    if (!lock) return count_refused_function(), false;
    ask(
        NewModules::kMost, [&](Questions& questions) { ask_about(modules, questions, asked); },
        [&](const Plan& plan, const Questions& questions) { patch_modules_as(plan, questions, scope_of); });
    return true;
  });
  if (!wait_for_visits(ModuleVisitor::kCallPatches, opened)) count_refused_function();
}

}  // namespace

void start_call_patches(const penna_config& config, bool forked) {
  const bool calls = (config.classes & class_bit(PENNA_CALLS)) != 0;
  wanted = calls && (config.plans & PENNA_PLANS_MODULES) != 0;
  if (calls && !forked) look_for_stack_readers();
  wanted_of_pointers = calls && (config.plans & PENNA_PLANS_POINTERS) != 0 && !return_addresses_are_read();
  if (forked) forget_recorded_captures();
  if (!wanted || forked) return;
  penna_prepare_patching();
  patch_modules(nullptr);
}

void patch_new_modules(void* opened) {
  if (!wanted || (armed() & class_bit(PENNA_CALLS)) == 0) return;
  find_new_modules();
  patch_modules(opened);
}

bool patches_pointers() { return wanted_of_pointers && (armed() & class_bit(PENNA_CALLS)) != 0; }

bool patch_function(uintptr_t function) {
  ModuleFacts module;
  if (!module_at(function, &module) || !may_be_asked_about(module)) return true;
  const penna_elf_module elf = elf_of_module(module.start);
  const penna_elf_range code = penna_elf_code_at(&elf, function);
  constexpr uintptr_t kMostBytes = 16;  // limit of the search
  if (code.start == code.end || code.end - function < kMostBytes) return true;
  PatchLock lock;
  if (!lock) return false;
  // Before the request: whatever its outcome, this function is not asked about again.
  if (!remember_entered_function(function)) return true;
  const bool alone = may_write_freely();
  ask(
      1,
      [&](Questions& questions) {
        const NearRoom room = reserve_near_function(module.start, module.end, after_mark(function), alone);
        questions.list[questions.count++] = question_about(module, room, function);
      },
      [&](const Plan& plan, const Questions& questions) { patch_function_as(plan, questions.list[0], alone); });
  return true;
}

bool has_any_function(const ModuleFacts& module, const char* const* symbols, uint32_t count) {
  PatchLock lock;
  if (!may_be_asked_about(module) || !lock) return true;
  bool any = true;
  ask(
      count,
      [&](Questions& questions) {
        for (uint32_t i = 0; i < count; ++i) {
          penna_patch_question& question = questions.list[questions.count++] = question_about(module, {}, 0);
          question.instead = question.enter = 1;  // nothing leads there yet
          question.unless = PENNA_UNLESS_FOUND;
          __builtin_memcpy(question.symbol, symbols[i], text_length(symbols[i]) + 1);
        }
      },
      [&](const Plan& plan, const Questions&) { any = plan.head == nullptr || plan.head->name_bytes != 0; });
  return any;
}

EnterInstead enter_instead(const ModuleFacts& module, const Instead* functions, uint32_t count, uintptr_t* originals,
                           penna_unless unless) {
  PatchLock lock;
  if (!may_be_asked_about(module) || !lock) return refuse_instead(true), EnterInstead::kNone;
  penna_prepare_patching();
  EnterInstead result = EnterInstead::kNone;
  bool answered = false;
  ask(
      count,
      [&](Questions& questions) {
        NearRoom room{};
        if (unless == PENNA_UNLESS_NOTHING)
          room = reserve_near(module.start, module.end, page_up(uint64_t{count} * kNearStubBytes));
        for (uint32_t i = 0; i < count; ++i) {
          const NearRoom own{room.start + i * kNearStubBytes, room.bytes != 0 ? kNearStubBytes : 0};
          penna_patch_question& question = questions.list[questions.count++] = question_about(module, own, 0);
          question.instead = question.enter = functions[i].hook;
          question.function = functions[i].function;
          question.unless = unless;
          __builtin_memcpy(question.symbol, functions[i].symbol, text_length(functions[i].symbol) + 1);
        }
      },
      [&](const Plan& plan, const Questions& questions) {
        answered = plan.head != nullptr;
        result = enter_instead_as(plan, questions, originals);
      });
  refuse_instead(!answered);
  return result;
}

namespace {

// The chosen ones of these modules. `not_now`: those of them with a place that cannot be written under running threads.
void enter_locks_of(const NewModules& modules, const bool (&chosen)[NewModules::kMost], penna_unless unless,
                    const LockEntrance& entrance, bool (&not_now)[NewModules::kMost]) {
  // For PENNA_MOST_LOCK_FUNCTIONS stubs and more; what is not used is unmapped.
  constexpr uint64_t kNearBytes = 64 << 10;
  uint32_t asked[NewModules::kMost];
  const auto fill = [&](Questions& questions) {
    const LockNumbers numbers = entrance.free_numbers();
    for (uint32_t i = 0; i < modules.count(); ++i) {
      const ModuleFacts& module = modules[i];
      if (!chosen[i] || !may_be_asked_about(module)) continue;
      const NearRoom near =
          unless == PENNA_UNLESS_NOTHING ? reserve_near(module.start, module.end, kNearBytes) : NearRoom{};
      asked[questions.count] = i;
      penna_patch_question& question = questions.list[questions.count++] =
          question_about(module, near, map_of(module.start) != _r_debug.r_map);
      question.instead = question.enter = entrance.hook;
      question.unless = unless;
      question.first_number = numbers.first;
      question.numbers = numbers.count;
    }
  };
  ask(NewModules::kMost, fill, [&](const Plan& plan, const Questions& questions) {
    for (uint32_t i = 0; i < questions.count; ++i) {
      const bool sound = plan.head != nullptr && plan.holds(plan.nears[i], questions.list[i]);
      if (sound)
        not_now[asked[i]] =
            enter_locks_as(plan, questions.list[i], plan.nears[i], entrance) == EnterInstead::kNotUnderThreads;
      else
        use_near(questions.list[i], {});
    }
  });
}

}  // namespace

// Asks again about the modules that are left alone, so that the recording names them.
void enter_locks(const NewModules& modules, penna_unless unless, const LockEntrance& entrance) {
  PatchLock lock;
  if (!lock) return count_refused_function();
  penna_prepare_patching();
  bool all[NewModules::kMost], not_now[NewModules::kMost] = {}, not_then[NewModules::kMost] = {}, any = false;
  for (bool& one : all) one = true;
  enter_locks_of(modules, all, unless, entrance, not_now);
  for (const bool one : not_now) any |= one;
  if (any) enter_locks_of(modules, not_now, PENNA_UNLESS_RUNNING, entrance, not_then);
}

void count_refused_function() { count(&penna_counters::functions_refused); }

}  // namespace penna::agent
