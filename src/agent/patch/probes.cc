// SPDX-License-Identifier: MIT
// See probes.h.
#include "agent/patch/probes.h"

#include "agent/core/attachment.h"
#include "agent/core/growing_table.h"
#include "agent/core/state.h"
#include "agent/modules/new_modules.h"
#include "agent/patch/call_patches.h"
#include "agent/patch/code_writer.h"
#include "agent/patch/plan_request.h"
#include "agent/patch/points.h"
#include "agent/patch/site_records.h"
#include "penna/detail/patch.h"
#include "penna/detail/site_text.h"

namespace penna::agent {
namespace {

// The armed probes, for forked children and for the end. Entries are added under a PatchLock, and freed by the thread
// that unloads a module.
struct ArmedProbe {
  const penna_probe* probe;  // in near memory; null: the entry is free. Release: stored last
  uintptr_t module;
};
GrowingTable<ArmedProbe, 64, 1024> probes;
uint32_t raised;  // 1: all their semaphores are raised

ArmedProbe* free_entry() {
  for (ArmedProbe& one : probes)
    if (__atomic_load_n(&one.probe, __ATOMIC_RELAXED) == nullptr) return &one;
  return probes.add();
}

// visit(const penna_probe&)
template <typename Visit>
void for_each_probe(Visit&& visit) {
  for (ArmedProbe& one : probes)
    if (const penna_probe* probe = __atomic_load_n(&one.probe, __ATOMIC_ACQUIRE)) visit(*probe);
}

// Its code is not called yet, and not executable.
void prepare(penna_probe& probe) {
  const uint32_t words = 2u + probe.state.arg_count;
  const uint8_t stack = stack_bits(reinterpret_cast<const char*>(&probe + 1), probe.text_bytes);
  probe.state.bytes = static_cast<uint8_t>(words * 8 | (stack != 0 ? stack | kOfProbe : 0));
  probe.state.head = static_cast<uint16_t>(penna_full_header(PENNA_KIND_POINT, words, 0) | PENNA_TAG_BUSY);
  probe.state.id = new_site_id();
}

void describe(const penna_probe& probe) {
  penna_site_info info{};
  info.site = probe.state.id;
  info.address = probe.nop;
  info.text_bytes = static_cast<uint16_t>(probe.text_bytes);
  info.arg_count = probe.state.arg_count;
  info.kind = PENNA_SITE_EVENT;
  for (unsigned i = 0; i < info.arg_count; ++i) info.arg_types[i] = probe.state.types >> (4 * i) & 15;
  ensure_module(info.address);
  record_site(info, reinterpret_cast<const char*>(&probe + 1));
}

// Like `lock inc`: other tracers count in the same place. `by`: 1 or -1.
void change_semaphore(const penna_probe& probe, int by) {
  if (probe.semaphore != 0)
    __atomic_fetch_add(reinterpret_cast<uint16_t*>(probe.semaphore), static_cast<uint16_t>(by), __ATOMIC_RELAXED);
}

// The probe that a patch leads to; null: the plan is not sound.
penna_probe* probe_of(const penna_patch& patch, const penna_patch_question& question, const penna_near& near) {
  const uint64_t at = patch.stub - question.near;
  if (patch.kind != PENNA_PATCH_PROBE || at >= near.bytes || near.bytes - at < sizeof(penna_probe)) return nullptr;
  // Read only once it is known to lie inside the near memory that this plan has filled.
  auto* probe = reinterpret_cast<penna_probe*>(patch.stub);
  const auto lies_inside = [&](uint64_t address) { return address - question.start < question.end - question.start; };
  const bool sound = probe->text_bytes <= near.bytes - at - sizeof *probe && probe->text_bytes <= kSiteTextRoom &&
                     probe->state.arg_count <= PENNA_MAX_ARGS && lies_inside(probe->nop) &&
                     (probe->semaphore == 0 || lies_inside(probe->semaphore));
  return sound ? probe : nullptr;
}

// Its code is in place before the first jump leads there, and its semaphore is raised last. Everything that is written
// counts as a site.
bool arm(const penna_patch& patch, const penna_probe* probe, uintptr_t module, CodeWriter& writer) {
  ArmedProbe* entry = probe != nullptr && writer.is_as_planned(patch) ? free_entry() : nullptr;
  if (entry == nullptr) return false;
  describe(*probe);
  if (!writer.write_tail(patch) || !writer.write_head(patch)) return false;
  entry->module = module;
  __atomic_store_n(&entry->probe, probe, __ATOMIC_RELEASE);  // pairs with for_each_probe()
  change_semaphore(*probe, 1);
  return true;
}

void arm_all(const Plan& plan, const penna_patch_question& question, const penna_near& near) {
  const penna_patch* const first = plan.patches + near.first;
  const penna_patch* const end = first + near.patches;
  const bool filled = first != end && fill_near(question, plan, near);
  for (const penna_patch* patch = first; filled && patch != end; ++patch)
    if (penna_probe* probe = probe_of(*patch, question, near)) prepare(*probe);
  // No thread can execute it before all heads are complete: it becomes executable here.
  const bool usable = use_near(question, filled ? near : penna_near{}) && filled;
  if (first == end) return;
  if (usable) mark_written(question.start);
  CodeWriter writer(question, may_write_freely());
  for (const penna_patch* patch = first; patch != end; ++patch) {
    const bool done = usable && arm(*patch, probe_of(*patch, question, near), question.start, writer);
    count(done ? &penna_counters::sites_armed : &penna_counters::sites_refused);
  }
}

}  // namespace

bool start_probes(const penna_config& config, bool forked) {
  const bool wanted = (config.classes & class_bit(PENNA_POINTS)) != 0 && (config.plans & PENNA_PLANS_PROBES) != 0;
  if (forked && wanted) for_each_probe([](const penna_probe& probe) { describe(probe); });
  __atomic_store_n(&raised, 1, __ATOMIC_RELAXED);
  return wanted;
}

void enter_probes(const NewModules& modules, penna_unless unless) {
  constexpr uint64_t kNearBytes = 1 << 20;
  PatchLock lock;
  if (!lock) return count_refused_function();
  penna_prepare_patching();
  const PointEntries entries = point_entries();
  const auto fill = [&](Questions& questions) {
    for (uint32_t i = 0; i < modules.count(); ++i) {
      const ModuleFacts& module = modules[i];
      if (!may_be_asked_about(module)) continue;
      const NearRoom near =
          unless == PENNA_UNLESS_NOTHING ? reserve_near(module.start, module.end, kNearBytes) : NearRoom{};
      penna_patch_question& question = questions.list[questions.count++] = question_about(module, near, 0);
      question.enter = entries.reserve;
      question.values = entries.values;
      question.unless = unless;
    }
  };
  ask(NewModules::kMost, fill, [&](const Plan& plan, const Questions& questions) {
    for (uint32_t i = 0; i < questions.count; ++i) {
      if (plan.head != nullptr && plan.holds(plan.nears[i], questions.list[i]))
        arm_all(plan, questions.list[i], plan.nears[i]);
      else
        use_near(questions.list[i], {});
    }
  });
}

void stop_probes() {
  if (__atomic_exchange_n(&raised, 0, __ATOMIC_RELAXED) != 0)
    for_each_probe([](const penna_probe& probe) { change_semaphore(probe, -1); });
}

uint32_t count_probes(const char* pattern) {
  uint32_t count = 0;
  for_each_probe([&](const penna_probe& probe) {
    penna_site_name name;
    penna_name_text(reinterpret_cast<const char*>(&probe + 1), probe.text_bytes, &name);
    count += penna_text_matches(pattern, name.full) != 0 ? 1 : 0;
  });
  return count;
}

void forget_probes(uintptr_t module_start) {
  for (ArmedProbe& one : probes)
    if (one.module == module_start) __atomic_store_n(&one.probe, nullptr, __ATOMIC_RELEASE);
}

}  // namespace penna::agent
