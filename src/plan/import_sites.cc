// SPDX-License-Identifier: MIT
// See import_sites.h. Reference: LSB core 5.0, 10.7 (symbol versions).
#include "plan/import_sites.h"

#include <algorithm>
#include <array>
#include <map>

#include "plan/arch.h"

namespace penna {
namespace {

// Sorted, for binary search. They return twice (setjmp, vfork), switch stacks (swapcontext, longjmp), look at who
// calls them (dlopen and dlsym: its namespace, RTLD_NEXT), never return, or are the hooks of compilers themselves.
constexpr std::array<std::string_view, 36> kNotWrapped{"_ITM_deregisterTMCloneTable",
                                                       "_ITM_registerTMCloneTable",
                                                       "__cxa_finalize",
                                                       "__cxa_rethrow",
                                                       "__cxa_throw",
                                                       "__cyg_profile_func_enter",
                                                       "__cyg_profile_func_exit",
                                                       "__fentry__",
                                                       "__gmon_start__",
                                                       "__libc_start_main",
                                                       "__longjmp_chk",
                                                       "__sigsetjmp",
                                                       "__stack_chk_fail",
                                                       "__tls_get_addr",
                                                       "__vfork",
                                                       "_dl_find_object",
                                                       "_exit",
                                                       "_longjmp",
                                                       "_mcount",
                                                       "_setjmp",
                                                       "abort",
                                                       "backtrace",
                                                       "dlmopen",
                                                       "dlopen",
                                                       "dlsym",
                                                       "dlvsym",
                                                       "getcontext",
                                                       "longjmp",
                                                       "makecontext",
                                                       "mcount",
                                                       "setcontext",
                                                       "setjmp",
                                                       "siglongjmp",
                                                       "sigsetjmp",
                                                       "swapcontext",
                                                       "vfork"};

// How functions of a sanitizer's runtime begin: their reports start with the caller.
constexpr std::array<std::string_view, 14> kOfSanitizers{
    "__asan_",    "__hwasan_",    "__lsan_",    "__msan_",    "__sanitizer_", "__tsan_",     "__ubsan_",
    "_ZN6__asan", "_ZN8__hwasan", "_ZN6__lsan", "_ZN6__msan", "_ZN6__tsan",   "_ZN7__ubsan", "_ZN11__sanitizer"};

// How the code uses the slots that are not the linkage table's.
struct SlotUse {
  bool called = false;
  bool taken = false;  // its value may go elsewhere
  uint64_t entry = 0;  // the linkage table's jump through it
};

// Bytes that only look like an instruction count as one: a slot that seems to be taken stays as it is.
void look_for_uses(const ElfFile& file, std::map<uint64_t, SlotUse>* slots) {
  if (slots->empty()) return;
  // Every four bytes of the code come here: two comparisons avoid the search for nearly all of them.
  const uint64_t low = slots->begin()->first, high = slots->rbegin()->first;
  for (const ElfSection& section : file.sections()) {
    if (!section.executable() || section.range().end == 0) continue;
    for_each_seeming_use(file.raw(section), section.address, [&](uint64_t to, SeemingUse use, uint64_t from) {
      if (to < low || to > high) return;
      const auto slot = slots->find(to);
      if (slot == slots->end()) return;
      (use == SeemingUse::kOther ? slot->second.taken : slot->second.called) = true;
      if (use == SeemingUse::kJump && section.name.substr(0, 4) == ".plt") slot->second.entry = from;
    });
  }
}

// Names of the symbols of .dynsym, and their requested versions.
// Tables of the file are linked lists by distance: a damaged one may run in circles, so each walk has a limit.
class DynamicNames {
 public:
  DynamicNames(const ElfFile& file, const ElfSection& symbols)
      : file_(file), symbols_(symbols), data_(file.data(symbols)) {
    if (const ElfSection* section = file.section_of_type(SHT_GNU_versym)) versions_ = file.data(*section);
    if (const ElfSection* section = file.section_of_type(SHT_GNU_verneed)) read_needed(*section);
    if (const ElfSection* section = file.section_of_type(SHT_GNU_verdef)) read_defined(*section);
  }
  // Empty: no such symbol, or not a function.
  std::string name(uint64_t index) const {
    GElf_Sym symbol;
    if (data_ == nullptr || index == 0 || index > INT32_MAX ||
        gelf_getsym(data_, static_cast<int>(index), &symbol) == nullptr)
      return {};
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC) return {};
    const char* text = file_.string(symbols_.link, symbol.st_name);
    return text == nullptr ? std::string() : std::string(text);
  }
  std::string version(uint64_t index) const {
    GElf_Versym number;
    if (versions_ == nullptr || gelf_getversym(versions_, static_cast<int>(index), &number) == nullptr) return {};
    // Bit 15 of a version number marks a hidden symbol; 0 and 1 (local, global) have no name.
    const auto found = names_.find(number & 0x7fff);
    return found == names_.end() ? std::string() : found->second;
  }

 private:
  void read_needed(const ElfSection& section) {
    Elf_Data* data = file_.data(section);
    GElf_Verneed need;
    constexpr int kMostFiles = 4096;
    int at = 0;
    for (int files = 0; data != nullptr && files < kMostFiles && gelf_getverneed(data, at, &need) != nullptr; ++files) {
      int aux_at = at + static_cast<int>(need.vn_aux);
      GElf_Vernaux aux;
      for (int i = 0; i < need.vn_cnt && gelf_getvernaux(data, aux_at, &aux) != nullptr; ++i) {
        if (const char* text = file_.string(section.link, aux.vna_name)) names_[aux.vna_other & 0x7fff] = text;
        aux_at += static_cast<int>(aux.vna_next);
      }
      if (need.vn_next == 0) break;
      at += static_cast<int>(need.vn_next);
    }
  }

  // A file's own functions that it calls may have several versions, too.
  void read_defined(const ElfSection& section) {
    Elf_Data* data = file_.data(section);
    GElf_Verdef version;
    GElf_Verdaux aux;
    constexpr int kMostVersions = 4096;
    int at = 0;
    for (int i = 0; data != nullptr && i < kMostVersions && gelf_getverdef(data, at, &version) != nullptr; ++i) {
      const bool is_name = (version.vd_flags & VER_FLG_BASE) == 0;
      if (is_name && gelf_getverdaux(data, at + static_cast<int>(version.vd_aux), &aux) != nullptr)
        if (const char* text = file_.string(section.link, aux.vda_name)) names_[version.vd_ndx & 0x7fff] = text;
      if (version.vd_next == 0) break;
      at += static_cast<int>(version.vd_next);
    }
  }

  const ElfFile& file_;
  const ElfSection& symbols_;
  Elf_Data* data_;
  Elf_Data* versions_ = nullptr;
  std::map<uint16_t, std::string> names_;
};

}  // namespace

bool may_be_wrapped(std::string_view function) {
  // Unwinders have their own: _Ux86_64_getcontext, __unw_getcontext, unw_backtrace.
  for (const std::string_view end : {"getcontext", "setcontext", "swapcontext", "backtrace"})
    if (function.ends_with(end)) return false;
  if (function.starts_with("_Unwind_")) return false;  // called by personality routines, for frames that they rely on
  for (const std::string_view begin : kOfSanitizers)
    if (function.starts_with(begin)) return false;
  return !std::binary_search(kNotWrapped.begin(), kNotWrapped.end(), function);
}

std::vector<ImportSite> find_import_sites(const ElfFile& file) {
  std::vector<ImportSite> sites;
  const ElfSection* symbols = file.section_of_type(SHT_DYNSYM);
  if (symbols == nullptr || file.header().e_machine != kMachine) return sites;
  const DynamicNames names(file, *symbols);
  std::map<uint64_t, SlotUse> others;  // slots outside of the linkage table
  for (const ElfSection& section : file.sections()) {
    Elf_Data* data = section.type == SHT_RELA && section.allocated() ? file.data(section) : nullptr;
    GElf_Rela relocation;
    for (int i = 0; data != nullptr && gelf_getrela(data, i, &relocation) != nullptr; ++i) {
      const auto type = GELF_R_TYPE(relocation.r_info);
      if (type != kJumpSlot && type != kGlobDat) continue;
      const uint64_t symbol = GELF_R_SYM(relocation.r_info);
      std::string name = names.name(symbol);
      if (name.empty() || !may_be_wrapped(name)) continue;
      if (type == kGlobDat) others[relocation.r_offset] = {};
      sites.push_back({relocation.r_offset, 0, false, std::move(name), names.version(symbol)});
    }
  }
  // JUMP_SLOTs are the linkage table's, and only jumps use them. A GLOB_DAT may be used only as a value (never called:
  // dropped), only for calls (-fno-plt: the slot is changed), or for both (the slot stays).
  look_for_uses(file, &others);
  std::erase_if(sites, [&](ImportSite& site) {
    const auto other = others.find(site.slot);
    if (other == others.end()) return false;
    if (other->second.taken) site.entry = other->second.entry;
    site.hidden = other->second.taken && site.entry == 0;
    return !other->second.called;
  });
  std::sort(sites.begin(), sites.end(), [](auto& a, auto& b) { return a.slot < b.slot; });
  return sites;
}

}  // namespace penna
