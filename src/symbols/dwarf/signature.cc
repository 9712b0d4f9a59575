// SPDX-License-Identifier: MIT
// See signature.h.
#include "symbols/dwarf/signature.h"

#include <dwarf.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "penna/event.h"
#include "symbols/demangle.h"
#include "symbols/dwarf/parameter_home.h"
#include "symbols/dwarf/value_list.h"

namespace penna {
namespace {

constexpr size_t kMaxParameters = 256;

struct Parameter {
  Dwarf_Die die{};
  DwarfType type;
  std::string name;
  ParameterLocation home;
  std::optional<Passing> passing;   // nullopt: its type is not fully known
  std::optional<ValuePlace> place;  // according to the ABI; nullopt: unknown
};

struct Function {
  Dwarf_Die die{};
  std::vector<Parameter> parameters;
  DwarfType result;
  std::optional<Passing> result_passing;  // for a non-void result
  bool is_of_clang = false;
  bool is_changed_by_llvm = false;  // as LLVM says since 17: only what is stated for each value counts
};

// How far the compiler may have departed from the ABI.
struct Trust {
  bool lacks_parameters = false;  // in the debug information
  bool is_changed = false;        // only places that are stated for a parameter count
  bool keeps_result = false;
};

bool is_c(int language) {
  return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 || language == DW_LANG_C11;
}

bool is_cxx(int language) {
  return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 || language == DW_LANG_C_plus_plus_11 ||
         language == DW_LANG_C_plus_plus_14 || language == DW_LANG_ObjC_plus_plus || language == DW_LANG_ObjC;
}

// The major version of the clang that produced the unit; 0: another compiler.
unsigned clang_version(Dwarf_Die* unit) {
  constexpr std::string_view kMark = "clang version ";
  const std::string_view producer = text_of(unit, DW_AT_producer);
  const size_t at = producer.find(kMark);
  if (at == std::string_view::npos) return producer.find("clang") == std::string_view::npos ? 0 : 1;
  unsigned version = 1;
  // 1 stands for a clang of unknown version: the rules of old ones apply.
  std::from_chars(producer.data() + at + kMark.size(), producer.data() + producer.size(), version);
  return version;
}

// The parameters below a function; gcc nests those of a parameter pack one level deeper. False: too many.
bool list_parameters(TypeReader* reader, Dwarf_Die parent, std::vector<Dwarf_Die>* all, bool pack = false) {
  Dwarf_Die child;
  for (int found = ::dwarf_child(&parent, &child); found == 0; found = ::dwarf_siblingof(&child, &child)) {
    if (!reader->spend() || all->size() > kMaxParameters) return false;
    const int tag = ::dwarf_tag(&child);
    if (tag == DW_TAG_formal_parameter) all->push_back(child);
    if (tag == DW_TAG_GNU_formal_parameter_pack && !pack && !list_parameters(reader, child, all, true)) return false;
  }
  return true;
}

bool origin_of(Dwarf_Die* die, Dwarf_Die* origin) {
  Dwarf_Attribute attribute;
  return ::dwarf_formref_die(::dwarf_attr(die, DW_AT_abstract_origin, &attribute), origin) != nullptr;
}

// What the compiler passes to constructors and destructors of classes with virtual bases.
bool is_vtt(Dwarf_Die* die) {
  const std::string_view name = text_of(die, DW_AT_name);
  return flag_of(die, DW_AT_artificial) && (name == "__vtt_parm" || name == "vtt");
}

// Declared parameters in order, each with the entry that says where it is kept. An out-of-line instance lists its own,
// in clones in another order; its abstract origin has all of them, and for constructors some that are never passed.
bool pair_parameters(TypeReader* reader, Function* function, uint64_t entry) {
  std::vector<Dwarf_Die> own, declared;
  Dwarf_Die origin;
  if (!list_parameters(reader, function->die, &own)) return false;
  if (origin_of(&function->die, &origin) && !list_parameters(reader, origin, &declared)) return false;
  if (declared.empty()) declared = own;
  for (Dwarf_Die& die : declared) {
    Parameter parameter;
    parameter.die = die;
    bool listed = false;
    for (Dwarf_Die& instance : own) {
      Dwarf_Die its_origin;
      if (instance.addr == die.addr || (origin_of(&instance, &its_origin) && its_origin.addr == die.addr)) {
        parameter.home = home_of(&instance, entry);
        listed = true;
        break;
      }
    }
    const bool artificial = flag_of(&die, DW_AT_artificial);
    if (artificial && (text_of(&die, DW_AT_name) == "__in_chrg" || (is_vtt(&die) && !listed))) continue;
    parameter.type = reader->type_of(&die);
    parameter.name = text_of(&die, DW_AT_name);
    if (parameter.name.empty()) parameter.name = fmt::format("arg{}", function->parameters.size() + 1);
    function->parameters.push_back(std::move(parameter));
  }
  return true;
}

// Places by the ABI. After a parameter of unknown type nothing is known.
void place_parameters(TypeReader* reader, Function* function, bool promoted, const AbiVariant& variant) {
  ArgumentPlaces places;
  bool known = function->result.kind == TypeKind::kVoid || function->result_passing;
  if (function->result_passing && result_takes_pointer(*function->result_passing)) places.skip_integer();
  for (Parameter& parameter : function->parameters) {
    // A float passed to a function without prototype is promoted to double (C11, 6.5.2.2).
    if (promoted && parameter.type.kind == TypeKind::kFloat && parameter.type.bytes == 4) parameter.type.bytes = 8;
    parameter.passing = classify(reader, parameter.type, variant);
    known = known && parameter.passing;
    if (known) parameter.place = places.next(*parameter.passing);
  }
}

// clang 14 without optimisation omits parameters that are passed by reference and not used; the places of those that
// follow are then wrong. The mangled name still counts them.
bool lacks_parameters(Function* function) {
  const std::string_view raw = text_of(&function->die, DW_AT_linkage_name);
  if (raw.substr(0, 2) != "_Z") return false;
  auto stated = parameter_count(demangle(raw, Demangle::kFull));
  const auto listed = std::count_if(function->parameters.begin(), function->parameters.end(),
                                    [](Parameter& parameter) { return !flag_of(&parameter.die, DW_AT_artificial); });
  return stated && *stated != static_cast<size_t>(listed);
}

// Whether the compiler moved or removed parameters: see the invariant in signature.h.
bool is_changed(const Function& function, bool others_call) {
  return std::any_of(function.parameters.begin(), function.parameters.end(), [&](const Parameter& parameter) {
    if (!parameter.place) return !others_call;
    return others_call ? parameter.home.contradicts(*parameter.place) : !parameter.home.confirms(*parameter.place);
  });
}

// The place of a parameter of a changed function: a single register named by DWARF.
std::optional<ValuePlace> stated_place(const Parameter& parameter) {
  if (!parameter.passing || parameter.home.words[0].place == 0 || parameter.home.words[1].place != 0)
    return std::nullopt;
  ValuePlace place;
  place.words = parameter.home.words;
  if (parameter.home.kind == ParameterLocation::Kind::kBehind && parameter.passing->by_reference) {
    place.kind = ValuePlace::Kind::kBehind;
    return place;
  }
  const bool one_word = parameter.passing->words == 1 && !parameter.passing->memory && !parameter.passing->by_reference;
  if (parameter.home.kind != ParameterLocation::Kind::kRegisters || !one_word) return std::nullopt;
  place.kind = ValuePlace::Kind::kRegisters;
  return place;
}

bool all_in_memory(const Function& function) {
  return !function.parameters.empty() &&
         std::all_of(function.parameters.begin(), function.parameters.end(), [](const Parameter& parameter) {
           return parameter.home.kind == ParameterLocation::Kind::kMemory;
         });
}

// Optimised functions list their calls (DWARF 5, 3.3.1.3), or with DWARF 4 as a GNU extension.
bool lists_calls(Dwarf_Die* die) {
  return flag_of(die, DW_AT_call_all_calls) || flag_of(die, DW_AT_GNU_all_call_sites);
}

void read_source(Dwarf_Die* die, Signature* signature) {
  signature->line = static_cast<uint32_t>(std::min<uint64_t>(number_of(die, DW_AT_decl_line).value_or(0), UINT32_MAX));
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  // The number refers to the unit that has the attribute, which may not be the function's.
  if (::dwarf_formudata(::dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &index) != 0 ||
      ::dwarf_cu_die(attribute.cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr ||
      ::dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count) {
    return;
  }
  const char* file = ::dwarf_filesrc(files, index, nullptr, nullptr);
  if (file != nullptr) signature->file = source_path(text_of(&unit, DW_AT_comp_dir), file);
}

bool is_clone_name(std::string_view name) {
  for (std::string_view mark : {".isra.", ".constprop.", ".part.", ".cold"}) {
    if (name.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

bool contains(const std::vector<uint64_t>& sorted, uint64_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

// The function that begins at `entry`, with each value where the ABI puts it. The error says why its values cannot be
// known.
Result<Function> read_function(TypeReader* reader, Dwarf_Die unit, Dwarf_Die die, uint64_t entry) {
  const int language = ::dwarf_srclang(&unit);
  if (!is_c(language) && !is_cxx(language)) {
    return Error{"it is not written in C or C++: name its values by register, as in NAME@arg1,arg2/x"};
  }
  Function function;
  function.die = die;
  const uint64_t convention = number_of(&function.die, DW_AT_calling_convention).value_or(DW_CC_normal);
  function.is_changed_by_llvm = convention == DW_CC_nocall;
  if (convention > DW_CC_program && !function.is_changed_by_llvm) {
    return Error{"it has a calling convention of its own: name its values by register, as in NAME@arg1,arg2/x"};
  }
  if (!pair_parameters(reader, &function, entry)) {
    return Error{
        fmt::format("it has more than {} parameters: name some of them, as in NAME@arg1,arg2/x", kMaxParameters)};
  }
  const unsigned clang = clang_version(&unit);
  function.is_of_clang = clang != 0;
  const AbiVariant variant = AbiVariant::of_clang(clang);
  function.result = reader->type_of(&function.die);
  if (function.result.kind != TypeKind::kVoid) function.result_passing = classify(reader, function.result, variant);
  place_parameters(reader, &function, is_c(language) && !flag_of(&function.die, DW_AT_prototyped), variant);
  return function;
}

// As every function looks with -g1.
bool is_bare(Function* function) {
  Dwarf_Die origin;
  return function->parameters.empty() && function->result.kind == TypeKind::kVoid &&
         !origin_of(&function->die, &origin);
}

// `others_call`: code that was compiled separately calls it. `is_clone`: by its symbol's name.
Trust judge(Function* function, bool others_call, bool is_clone) {
  Trust trust;
  trust.lacks_parameters = function->is_of_clang && lacks_parameters(function);
  trust.is_changed = trust.lacks_parameters || function->is_changed_by_llvm || is_changed(*function, others_call);
  const bool optimised = lists_calls(&function->die) && !all_in_memory(*function);
  // DWARF has no location for results: only who may call the function tells whether the result survived.
  trust.keeps_result = (others_call && !function->is_changed_by_llvm) ||
                       (!trust.is_changed && !is_clone && !(function->is_of_clang && optimised));
  return trust;
}

void add_arguments(Function* function, const Trust& trust, ValueList* arguments) {
  for (Parameter& parameter : function->parameters) {
    if (is_vtt(&parameter.die)) continue;
    const auto place = trust.is_changed || !parameter.place ? stated_place(parameter) : parameter.place;
    if (place)
      arguments->add(parameter.name, parameter.type, *place);
    else
      arguments->leave_out();
  }
}

void add_result(const Function& function, const Trust& trust, ValueList* results) {
  if (function.result.kind == TypeKind::kVoid) return;
  const auto& passing = function.result_passing;
  if (passing && trust.keeps_result && (!trust.is_changed || passing->words == 1))
    results->add("return", function.result, result_place(*passing));
  else
    results->leave_out();
}

std::string note_of(const Trust& trust, bool some_left_out) {
  if (trust.lacks_parameters)
    return "its debug information lacks parameters, so some of its values are left out: name them by register, as in "
           "NAME@arg1,arg2/x";
  if (trust.is_changed || !trust.keeps_result)
    return "the compiler changed how it is called, so some of its values are left out: mark it "
           "__attribute__((noipa)), or build without optimisation";
  return some_left_out ? "some of its values are of types that are not copied" : "";
}

}  // namespace

Result<std::unique_ptr<Signatures>> Signatures::open(const ElfFile& module, const DebugSearch& search) {
  if (module.header().e_machine != EM_X86_64) {
    return Error{fmt::format("{} is for another machine: arguments are read on x86-64 only", module.path())};
  }
  std::unique_ptr<Signatures> result(new Signatures());
  const ElfFile* dwarf = &module;
  if (!has_dwarf(module)) {
    result->debug_ = find_debug_file(module.path(), module.build_id(), &module, search);
    if (!result->debug_ || !has_dwarf(*result->debug_)) {
      return Error{
          fmt::format("{} has no debug information, so the types of its functions are not known: build it with -g, "
                      "install its -dbgsym package or pass --debug-dir",
                      module.path())};
    }
    dwarf = &*result->debug_;
  }
  std::string missing;
  result->alt_ = find_alt_file(*dwarf, search, &missing);
  result->units_ = DwarfUnits::open(*dwarf, result->alt_ ? &*result->alt_ : nullptr, module.code_ranges());
  if (result->units_ == nullptr) {
    PENNA_TRY(dwarf->unchanged());
    return Error{fmt::format("the debug information of {} is damaged: rebuild or reinstall it", dwarf->path())};
  }
  for (const ElfFile* file : {&module, dwarf}) {
    for (uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
      if (const ElfSection* section = file->section_of_type(type)) result->add_symbols(*file, *section);
    }
  }
  PENNA_TRY(module.unchanged());
  PENNA_TRY(dwarf->unchanged());
  if (result->alt_) PENNA_TRY(result->alt_->unchanged());
  std::sort(result->called_by_others_.begin(), result->called_by_others_.end());
  std::sort(result->clones_.begin(), result->clones_.end());
  return result;
}

void Signatures::add_symbols(const ElfFile& file, const ElfSection& section) {
  Elf_Data* data = file.data(section);
  if (data == nullptr) return;
  GElf_Sym symbol;
  for (int i = 0; ::gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    const int type = GELF_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    any_symbol_ = true;
    // A hidden function is local after linking, but other files called it.
    if (GELF_ST_BIND(symbol.st_info) != STB_LOCAL || GELF_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT) {
      called_by_others_.push_back(symbol.st_value);
    } else if (const char* name = file.string(section.link, symbol.st_name); name != nullptr && is_clone_name(name)) {
      clones_.push_back(symbol.st_value);
    }
  }
}

UnitFunctions& Signatures::functions_of(Dwarf_Die unit) {
  auto [entry, added] = functions_.try_emplace(unit.cu);
  if (added) entry.value() = std::make_unique<UnitFunctions>(unit, units_->code());
  return *entry->second;
}

// With -g1 no function has parameters or a result. A type in the unit, or another unit that it refers to, shows whether
// there are types.
bool Signatures::has_types(Dwarf_Die unit) {
  auto [entry, added] = has_types_.try_emplace(unit.cu, false);
  if (!added) return entry->second;
  Dwarf_Die child;
  TypeReader reader;
  for (int found = ::dwarf_child(&unit, &child); found == 0 && reader.spend();
       found = ::dwarf_siblingof(&child, &child)) {
    switch (::dwarf_tag(&child)) {
      case DW_TAG_subprogram:
      case DW_TAG_namespace:
      case DW_TAG_variable:
      case DW_TAG_label:
      case DW_TAG_dwarf_procedure: continue;
      default: return entry.value() = true;
    }
  }
  return entry->second;
}

Result<Signature> Signatures::of(uint64_t address) {
  DwarfUnits::Unit* unit = units_->find(address);
  UnitFunctions::Function* found = unit == nullptr ? nullptr : functions_of(unit->functions).find(address);
  if (found == nullptr || found->entry != address) return Error{"it has no debug information: build it with -g"};
  TypeReader reader;
  Function function = PENNA_TRY(read_function(&reader, unit->functions, found->die, address));
  if (is_bare(&function) && !has_types(unit->functions)) {
    return Error{"its debug information has no types: build it with -g instead of -g1 or -gline-tables-only"};
  }
  // Without any symbol DWARF must do: "external" is what the source said, before link-time optimisation.
  const bool others_call = any_symbol_ ? contains(called_by_others_, address) : flag_of(&function.die, DW_AT_external);
  const Trust trust = judge(&function, others_call, contains(clones_, address));
  ValueList arguments(&reader), results(&reader);
  add_arguments(&function, trust, &arguments);
  add_result(function, trust, &results);
  // Checked last: until then a type that ran out of budget looks like an unknown one.
  if (reader.exhausted())
    return Error{"its types are damaged or too large to read: name its values by register, as in NAME@arg1"};
  Signature signature;
  signature.note = note_of(trust, arguments.anything_left_out() || results.anything_left_out());
  signature.arguments = arguments.release();
  signature.results = results.release();
  read_source(&function.die, &signature);
  return signature;
}

}  // namespace penna
