// SPDX-License-Identifier: MIT
// See patch_planner.h: the plans for probes that other headers have made.
#include <fmt/core.h>

#include "plan/detour.h"
#include "plan/known_probes.h"
#include "plan/patch_planner.h"
#include "plan/plan_parts.h"
#include "plan/probe_stub.h"

namespace penna {

namespace {

constexpr size_t kLongestText = 512;  // of a probe's names, all together

PlannedProbe describe(const SdtNote& note, const ProbeSite& site, const std::string& path,
                      std::vector<RefusedFunction>* refused) {
  PlannedProbe probe{note.provider, note.name, note.semaphore, site, {}};
  const std::vector<SdtArg> noted = parse_sdt_args(note.args);
  size_t next = 0;
  for (const KnownArgument& known : arguments_of_probe(note.provider, note.name, noted.size())) {
    const OperandOffer value = parse_probe_operand(noted[next++]);
    const OperandOffer length =
        known.meaning == KnownArgument::kTextAndLength ? parse_probe_operand(noted[next++]) : OperandOffer{};
    const char* reason = value.refusal != nullptr ? value.refusal : length.refusal;
    // Left out, and reported: what is left keeps its order, and each argument its name.
    if (probe.arguments.size() == PENNA_MAX_ARGS) reason = "is one of more than 12";
    if (reason == nullptr)
      probe.arguments.push_back({known.name, *value.operand,
                                 known.meaning != KnownArgument::kNumber && value.operand->bytes == 8, length.operand});
    else
      refused->push_back(
          {note.provider + ":" + note.name, path, known.name + " " + reason, RefusedFunction::kProbeArgument});
  }
  return probe;
}

}  // namespace

const std::vector<PlannedProbe>& PatchPlanner::probes_of(const penna_patch_question& question,
                                                         const std::string& root) {
  const std::string path = path_of(question);
  auto& known = probes_[key_of(question)];
  if (known && question.build_id_bytes != 0) return *known;
  // A file without a build ID is read again for each process, because nothing shows that it is still the same; what is
  // wrong with it is reported once.
  const bool is_new = !known;
  known.emplace();
  const auto file = open_file(question, root);
  if (!file) return *known;
  const std::vector<SdtNote> notes = requests_.probes(*file);
  if (notes.empty()) return *known;
  std::vector<uint64_t> wanted, all;
  for (const SdtNote& note : notes) wanted.push_back(note.pc);
  for (const SdtNote& note : read_sdt_notes(*file)) all.push_back(note.pc);
  // No function symbols: the middle of functions is judged by unwind information, which stripped programs have,
  // too.
  const std::vector<ProbeOffer> offers = DetourFinder(*file, {}).find_probes(wanted, all);
  std::vector<RefusedFunction> refused;
  for (size_t i = 0; i < offers.size(); ++i) {
    const std::string name = notes[i].provider + ":" + notes[i].name;
    if (offers[i].site && name.size() < kLongestText)
      known->push_back(describe(notes[i], *offers[i].site, path, &refused));
    else
      refused.push_back({fmt::format("{} at 0x{:x}", name, notes[i].pc), path,
                         offers[i].site ? "has too long a name" : offers[i].refusal, RefusedFunction::kProbe});
  }
  if (has_changed(*file, path)) return known->clear(), *known;
  if (is_new) refused_.insert(refused_.end(), refused.begin(), refused.end());
  return *known;
}

void PatchPlanner::add_probes(PatchPlan* plan, const penna_patch_question& question, const std::string& root) {
  PlanAnswer answer(plan, question);
  if (requests_.probes) {
    const char* const unless = why_not_now(question);
    for (const PlannedProbe& probe : probes_of(question, root)) {
      const char* reason = unless;
      if (reason == nullptr) {
        const auto patch = patch_probe(probe, question.bias, question.values, &answer.near);
        if (!answer.add(patch ? patch->address : 0, patch)) reason = "has no free memory within reach";
      }
      const std::string name = fmt::format("{}:{} at 0x{:x}", probe.provider, probe.name, probe.site.nop);
      if (reason != nullptr && refused_pointers_.insert(path_of(question) + '\0' + name).second)
        refused_.push_back({name, path_of(question), reason, RefusedFunction::kProbe});
    }
  }
  answer.finish();
}

}  // namespace penna
