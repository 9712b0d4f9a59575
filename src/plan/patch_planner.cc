// SPDX-License-Identifier: MIT
// See patch_planner.h.
#include "plan/patch_planner.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>

#include "plan/call_sites.h"
#include "plan/detour.h"
#include "plan/file_symbols.h"
#include "plan/file_to_enter.h"
#include "plan/import_sites.h"
#include "plan/left_alone.h"
#include "plan/near_memory.h"
#include "plan/place_patches.h"
#include "plan/plan_parts.h"
#include "symbols/symbol_file.h"

namespace penna {

// What is known about a file, for any process that maps it.
struct PatchPlanner::Module {
  std::vector<CallSite> sites;      // of functions that are wanted
  std::vector<ImportSite> imports;  // the same
  struct Detour : DetourSite {
    std::string name;  // by which it is wanted
  };
  std::vector<Detour> detours;  // the same
  std::vector<PlannedCapture> captures;
  std::unique_ptr<Pointers> pointers;  // once a function of it was asked for
};

// A module of which single functions are requested.
struct PatchPlanner::Pointers {
  explicit Pointers(ElfFile of) : file(std::move(of)) {}
  ElfFile file;
  struct Function {
    std::vector<std::string> names;  // for people: all that it has
    std::string raw;
  };
  std::map<uint64_t, Function> functions;  // by start
  std::optional<DetourFinder> finder;
  std::set<uint64_t> known;  // their calls are recorded already
};

namespace {

// Returns how many of the module's places get no patch because near memory is missing, or too small. `is_entered`:
// whether the detour's function leads elsewhere already.
// The three kinds of place share one near memory. Those that no longer fit are counted, and the rest is still tried: a
// smaller stub may fit.
template <typename Module, typename IsEntered>
size_t add_module(PatchPlan* plan, const penna_patch_question& question, const Module& module, IsEntered&& is_entered) {
  PlanAnswer answer(plan, question);
  NearMemory& near = answer.near;
  size_t left = module.sites.size() + module.detours.size() + module.imports.size();
  const auto add = [&](const std::optional<penna_patch>& patch) {
    if (patch) left -= answer.add(patch->address, patch);
  };
  if (near.has_entrance()) {
    for (const CallSite& site : module.sites) add(patch_call_site(site, question.bias, near));
    for (const auto& site : module.detours)
      if (is_entered(site))
        --left;
      else
        add(patch_detour(site, question.bias, &near));
    for (const ImportSite& site : module.imports) add(patch_import(site, question.bias, &near, plan));
  }
  answer.finish();
  append_captures(module.captures, question.bias, &plan->captures, &plan->values, &plan->text);
  return left;
}

bool asks_for_function(const penna_patch_question& question) {
  return question.instead != 0 && question.symbol[0] != '\0' && question.function != 0;
}

constexpr const char* kIsResolver =
    "is an ifunc, of which one form is chosen when the program starts (--libcalls records its calls from other files)";
// Where functions begin, by the file's own symbols; sorted.
std::vector<uint64_t> starts_in(const ElfFile& file) {
  std::vector<uint64_t> starts;
  for (const FunctionRange& function : functions_in(file)) starts.push_back(function.start);
  return starts;
}

// Whether other files may call what begins there.
bool is_exported(const ElfFile& file, uint64_t start) {
  const ElfSection* section = file.section_of_type(SHT_DYNSYM);
  Elf_Data* data = section != nullptr ? file.data(*section) : nullptr;
  GElf_Sym symbol;
  for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i)
    if (symbol.st_shndx != SHN_UNDEF && symbol.st_value == start) return true;
  return false;
}

// All names that people may use for it; the one that is shown comes first.
std::vector<std::string> names_of(SymbolFile& file, const Symbol& symbol) {
  std::vector<std::string> names = file.names(symbol.start);
  return names.empty() ? std::vector<std::string>{std::string(symbol.name)} : names;
}

}  // namespace

PatchPlanner::PatchPlanner(PatchRequests requests) : requests_(std::move(requests)) {}
PatchPlanner::~PatchPlanner() = default;

// The file that is mapped there; otherwise reports why nothing in it is entered.
std::optional<ElfFile> PatchPlanner::open_file(const penna_patch_question& question, const std::string& root) {
  const std::string path = path_of(question);
  auto file = ElfFile::open(root + path);
  // `root` leads through /proc/PID/root: the same path may be another file in a container, or have been replaced
  // since.
  if (file && file->build_id() == build_id_of(question)) return std::move(*file);
  struct stat status {};
  if (file || (::stat((root + path).c_str(), &status) == 0 && S_ISREG(status.st_mode)))
    refuse_file(path, "what is there now is not the file that the process has mapped");
  return {};
}

// Checked after all reading: what half of a file says is worse than nothing.
bool PatchPlanner::has_changed(const ElfFile& file, const std::string& path) {
  if (file.unchanged()) return false;
  refuse_file(path, "the file changed while it was read");
  return true;
}

void PatchPlanner::refuse_file(const std::string& path, std::string reason) {
  if (refused_pointers_.insert(path + '\0').second)
    refused_.push_back({"", path, std::move(reason), RefusedFunction::kFile});
}

PatchPlanner::Module& PatchPlanner::module_of(const penna_patch_question& question, const std::string& root) {
  const std::string path = path_of(question), key = key_of(question);
  // Without a build ID nothing shows that it is the same file: it is read for each process.
  if (auto known = modules_.find(key); known != modules_.end() && question.build_id_bytes != 0) return *known->second;
  auto module = std::make_unique<Module>();
  if (auto file = open_file(question, root)) {
    read_module(*file, path, module.get());
    if (has_changed(*file, path)) module = std::make_unique<Module>();
  }
  return *(modules_[key] = std::move(module));
}

// Patches nothing there; reports it if anything would have been patched, or calls the hook itself.
void PatchPlanner::refuse_module(PatchPlan* plan, const penna_patch_question& question, const std::string& root) {
  PlanAnswer(plan, question).finish();
  const std::string path = path_of(question);
  const auto file = open_file(question, root);
  if (!file) return;
  const Module& module = module_of(question, root);
  const bool any = !module.sites.empty() || !module.imports.empty() || !module.detours.empty();
  if (any || calls_hooks(*file, kReturning)) refuse_file(path, kStackIsRead);
}

void PatchPlanner::read_module(const ElfFile& file, const std::string& path, Module* module) {
  // Without patterns, all functions that a compiler has prepared; detours only for functions that were requested by
  // name, because finding them takes all of the file's code.
  CallSites found = find_call_sites(file, starts_in(file));
  if (requests_.wanted || requests_.also) choose_functions(file, path, found.sites, module);
  if (!requests_.wanted) module->sites = std::move(found.sites);
  if (requests_.values) {
    PlannedValues planned = plan_values(file, path, requests_.values, calls_hooks(file, kSelfReporting));
    module->captures = std::move(planned.captures);
    for (RefusedValues& one : planned.refused)
      refused_.push_back({std::move(one.name), path, std::move(one.reason), RefusedFunction::kValues});
  }
  if (!requests_.libcalls || calls_are_internal(file)) return;
  module->imports = find_import_sites(file);
  std::erase_if(module->imports, [&](const ImportSite& site) {
    if (site.hidden)
      refused_.push_back({site.name, path, "is called through a pointer that is used as a value, too (-fno-plt)"});
    return site.hidden;
  });
  if (requests_.wanted)
    std::erase_if(module->imports, [&](const ImportSite& site) {
      const auto others = exported_names_.find(site.name);
      std::vector<std::string> all{demangle(site.name, Demangle::kFull)};
      if (others != exported_names_.end()) all.insert(all.end(), others->second.begin(), others->second.end());
      return std::none_of(all.begin(), all.end(),
                          [&](const std::string& name) { return requests_.wanted(name, path); });
    });
}

// A function that a file calls in another one is known there by one name, and may be requested by another: the file
// that defines it knows all.
void PatchPlanner::learn_exports(const penna_patch_question& question, const std::string& root) {
  if (!known_exports_.insert(key_of(question)).second) return;
  const auto file = ElfFile::open(root + path_of(question));
  const ElfSection* section =
      file && file->build_id() == build_id_of(question) ? file->section_of_type(SHT_DYNSYM) : nullptr;
  if (section == nullptr) return;
  SymbolTable table;
  table.add(*file, *section);
  table.finish(*file);
  for (const RawSymbol& function : table.functions()) {
    const std::span<const RawSymbol> names = table.names_at(function.start);
    for (const RawSymbol& one : names)
      for (const RawSymbol& other : names)
        if (&one != &other)
          exported_names_[std::string(one.name)].insert(demangle(std::string(other.name), Demangle::kFull));
  }
}

// The name by which a function is requested; nothing: none. All are tried, so that each pattern sees its matches.
std::optional<std::string> PatchPlanner::asked_for(const std::vector<std::string>& names,
                                                   const std::string& path) const {
  std::optional<std::string> asked;
  for (const std::string& name : names) {
    const bool wanted = requests_.wanted && requests_.wanted(name, path);
    if ((wanted || (requests_.also && requests_.also(name, path))) && !asked) asked = name;
  }
  return asked;
}

// Of the functions that are asked for by name: those that a compiler has prepared, and detours into the others.
void PatchPlanner::choose_functions(const ElfFile& file, const std::string& path, const std::vector<CallSite>& prepared,
                                    Module* module) {
  auto names = SymbolFile::open({path, file.build_id()}, {});
  if (!names) return;
  std::vector<FunctionRange> all, wanted;
  std::vector<std::string> wanted_names;
  const bool has_hooks = calls_hooks(file, kHooks);
  std::vector<uint64_t> counters;
  for (const Symbol& symbol : (*names)->functions())
    if (std::find(kReturning.begin(), kReturning.end(), symbol.raw) != kReturning.end())
      counters.push_back(symbol.start);
  for (const Symbol& symbol : (*names)->functions()) {
    // Its symbol is that of the resolver, which runs once, when the program is relocated.
    if (symbol.kind == SymbolKind::kIfunc)
      if (const std::optional<std::string> name = asked_for(names_of(**names, symbol), path);
          name && !(requests_.libcalls && is_exported(file, symbol.start)))
        refused_.push_back({*name, path, kIsResolver});
    if (symbol.kind != SymbolKind::kFunction || symbol.raw.find(".cold") != symbol.raw.npos)
      continue;  // parts of others
    all.push_back({symbol.start, symbol.start + symbol.size});
    const std::optional<std::string> name = asked_for(names_of(**names, symbol), path);
    if (!name) continue;
    const auto site = std::find_if(prepared.begin(), prepared.end(),
                                   [&](const CallSite& one) { return one.function == symbol.start; });
    if (site != prepared.end()) {
      if (requests_.wanted) module->sites.push_back(*site);
    } else if (!has_hooks) {  // else its own hooks report it
      if (const char* reason = why_not_entered(file, symbol.raw))
        refused_.push_back({*name, path, reason});
      else if (counts_for_gprof(file, symbol.start, symbol.size, counters))
        refused_.push_back({*name, path, "counts its calls for gprof (-pg), by a hook that is linked statically"});
      else
        wanted.push_back(all.back()), wanted_names.push_back(*name);
    }
  }
  const std::vector<DetourOffer> offers = DetourFinder(file, std::move(all)).find(wanted);
  for (size_t i = 0; i < offers.size(); ++i) {
    if (offers[i].site)
      module->detours.push_back({*offers[i].site, wanted_names[i]});
    else
      refused_.push_back({wanted_names[i], path, offers[i].refusal});
  }
}

size_t PatchPlanner::add_calls(PatchPlan* plan, const penna_patch_question& question, const std::string& root) {
  return add_module(plan, question, module_of(question, root), [&](const Module::Detour& detour) {
    if (entered_.count({root, detour.place + question.bias}) == 0) return false;
    if (refused_pointers_.insert(path_of(question) + '\0' + detour.name).second)
      refused_.push_back({detour.name, path_of(question),
                          "is entered already, to record what it does (leave alloc or locks out of -k)"});
    return true;
  });
}

void PatchPlanner::note_entered(const std::string& root, const std::optional<penna_patch>& patch) {
  if (patch && requests_.attaches) entered_.insert({root, patch->address});
}

PatchPlanner::Pointers* PatchPlanner::pointers_of(const penna_patch_question& question, const std::string& root) {
  Module& module = module_of(question, root);
  if (module.pointers) return module.pointers.get();
  const std::string path = path_of(question);
  auto file = open_file(question, root);
  if (!file || calls_hooks(*file, kHooks) || has_changed(*file, path)) return nullptr;  // its hooks report it
  // Kept for as long as the recording: dlsym may be asked for many functions of one library.
  module.pointers = std::make_unique<Pointers>(std::move(*file));
  Pointers& pointers = *module.pointers;
  std::vector<FunctionRange> all;
  auto names = SymbolFile::open({path, pointers.file.build_id()}, {});
  if (names)
    for (const Symbol& symbol : (*names)->functions()) {
      if (symbol.kind != SymbolKind::kFunction) continue;
      all.push_back({symbol.start, symbol.start + symbol.size});
      pointers.functions.try_emplace(symbol.start,
                                     Pointers::Function{names_of(**names, symbol), std::string(symbol.raw)});
    }
  pointers.finder.emplace(pointers.file, std::move(all));
  for (const CallSite& site : module.sites) pointers.known.insert(site.function);
  for (const DetourSite& site : module.detours) pointers.known.insert(site.function);
  return &pointers;
}

// A function that dlsym has found in another module than its caller's. One that is not wanted, or reports itself, gets
// no patch and is not refused.
void PatchPlanner::add_pointer(PatchPlan* plan, const penna_patch_question& question, const std::string& root) {
  PlanAnswer answer(plan, question);
  Pointers* pointers = requests_.libcalls ? pointers_of(question, root) : nullptr;
  const uint64_t start = question.function - question.bias;
  const char* reason = nullptr;
  std::string name = fmt::format("0x{:x}", start);
  if (pointers != nullptr && pointers->known.count(start) == 0) {
    const auto named = pointers->functions.find(start);
    if (named == pointers->functions.end()) {
      reason = "is not a function that its file names";
    } else if (const auto asked = asked_for(named->second.names, path_of(question)); asked || !requests_.wanted) {
      name = asked.value_or(named->second.names.front());
      reason = why_not_entered(pointers->file, named->second.raw);
      if (reason == nullptr) reason = enter(*pointers, start, question, &answer);
    }
  }
  answer.finish();
  if (reason != nullptr && refused_pointers_.insert(path_of(question) + '\0' + name).second)
    refused_.push_back({name, path_of(question), reason});
}

// Null: as for open_file().
std::shared_ptr<FileToEnter> PatchPlanner::file_to_enter(const penna_patch_question& question,
                                                         const std::string& root) {
  if (const auto known = files_to_enter_.find(build_id_of(question)); known != files_to_enter_.end())
    return known->second;
  auto file = open_file(question, root);
  return file ? std::make_shared<FileToEnter>(std::move(*file)) : nullptr;
}

// Kept by the build-id of what is there: whether that is what the process has mapped is seen when it asks.
void PatchPlanner::read_ahead(const std::string& path, const std::string& root) {
  auto file = ElfFile::open(root + path);
  if (!file || file->build_id().empty() || calls_hooks(*file, kHooks)) return;
  const auto entered = std::make_shared<FileToEnter>(std::move(*file));
  entered->finder().read_ahead();
  if (entered->is_to_be_kept() && !has_changed(entered->file, path))
    files_to_enter_.try_emplace(entered->file.build_id(), entered);
}

// Without a build ID nothing shows that another process maps the same file.
void PatchPlanner::keep(const penna_patch_question& question, const std::shared_ptr<FileToEnter>& file) {
  if (question.build_id_bytes != 0 && file->is_to_be_kept()) files_to_enter_[build_id_of(question)] = file;
}

// Questions about libc functions that the agent would interpose if it were loaded in time: each is patched alone.
// Returns how many they were.
size_t PatchPlanner::add_functions(PatchPlan* plan, std::span<const penna_patch_question> questions,
                                   const std::string& root) {
  const penna_patch_question& first = questions[0];
  const std::string path = path_of(first);
  std::vector<uint64_t> starts;
  for (const penna_patch_question& question : questions) {
    if (!asks_for_function(question) || question.start != first.start) break;
    starts.push_back(question.function - question.bias);
  }
  std::vector<DetourOffer> offers(starts.size(), {{}, "is not a function that its file names"});
  if (const auto entered = file_to_enter(first, root); entered && !calls_hooks(entered->file, kHooks)) {
    offers = entered->finder().find_at(starts);
    keep(first, entered);
  }
  for (size_t i = 0; i < offers.size(); ++i) {
    const penna_patch_question& question = questions[i];
    PlanAnswer answer(plan, question);
    const char* reason = why_not_now(question);
    if (reason == nullptr && !offers[i].site) reason = offers[i].refusal;
    if (reason == nullptr) {
      answer.near = near_memory_of(question, question.instead);
      const auto patch = patch_instead(*offers[i].site, question.bias, &answer.near);
      if (!patch) reason = kOutOfReach;
      answer.add(question.function, patch);
      note_entered(root, patch);
    }
    answer.finish();
    const std::string name = symbol_of(question);
    if (reason != nullptr && refused_pointers_.insert(path + '\0' + name).second)
      refused_.push_back({name, path, reason, RefusedFunction::kLibc});
  }
  return starts.size();
}

// Adds the detour into it; returns why there is none.
const char* PatchPlanner::enter(const Pointers& pointers, uint64_t start, const penna_patch_question& question,
                                PlanAnswer* answer) {
  const DetourOffer offer = pointers.finder->find_at(start);
  if (!offer.site) return offer.refusal;
  if (!answer->near.has_entrance()) return "has no free memory within reach of a jump";
  const bool added =
      answer->add(offer.site->place + question.bias, patch_detour(*offer.site, question.bias, &answer->near));
  return added ? nullptr : kOutOfReach;
}

std::vector<PreparedBeginning> PatchPlanner::beginnings_of(const ElfFile& file, const penna_patch_question& question,
                                                           const std::string& root) {
  std::vector<PreparedBeginning> beginnings;
  if (requests_.wanted || requests_.also)
    for (const DetourSite& site : module_of(question, root).detours) beginnings.push_back({site.function, 0});
  for (const CallSite& site : find_call_sites(file, starts_in(file)).sites)
    beginnings.push_back({site.function, site.place + (site.kind == CallSiteKind::kSled ? kSledBytes : kBranchBytes)});
  return beginnings;
}

// What a question is about is shown by which of its fields are set (penna_patch_question):
//    values                       the module's probes
//    instead, no symbol           all of its lock functions
//    instead, symbol, function    one function of libc, for the agent's own hook; several in a row
//    instead, symbol              an allocator's functions: one for each, in a row
//    function                     one function, which dlsym returned
//    nothing                      calls
std::vector<uint8_t> PatchPlanner::answer(std::span<const penna_patch_question> questions, const std::string& root) {
  PatchPlan plan;
  uint32_t locks = 0;
  // First all names, then imports: a file is asked about before or after the one that it calls.
  if (requests_.wanted && requests_.libcalls)
    for (const penna_patch_question& question : questions)
      if (question.values == 0 && question.instead == 0 && question.function == 0) learn_exports(question, root);
  for (size_t i = 0; i < questions.size(); ++i) {
    const penna_patch_question& question = questions[i];
    if (question.values != 0)
      add_probes(&plan, question, root);
    else if (question.instead != 0 && question.symbol[0] == '\0')
      add_locks(&plan, question, root, &locks);
    else if (asks_for_function(question))
      i += add_functions(&plan, questions.subspan(i), root) - 1;
    else if (question.instead != 0)
      i += add_allocator(&plan, questions.subspan(i), root) - 1;
    else if (question.function != 0)
      add_pointer(&plan, question, root);
    else if (question.unless == PENNA_UNLESS_READ)
      refuse_module(&plan, question, root);
    else if (const size_t left = add_calls(&plan, question, root); left != 0)
      refuse_file(path_of(question), fmt::format("{} places have no free memory within reach of a jump", left));
  }
  plan.sort_captures();
  return plan.encode();
}

}  // namespace penna
