// SPDX-License-Identifier: MIT
// See left_alone.h.
#include "plan/left_alone.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>

#include "plan/arch.h"
#include "plan/import_sites.h"
#include "plan/patch_planner.h"
#include "plan/walked_code.h"

namespace penna {

bool calls_are_internal(const ElfFile& file) {
  const std::string name = std::filesystem::path(file.path()).filename();
  constexpr std::string_view kTheirs[] = {"libc.so",  "ld-linux", "libgcc_s.", "libunwind", "libasan.",
                                          "liblsan.", "libtsan.", "libubsan.", "libhwasan", "libclang_rt."};
  return std::any_of(std::begin(kTheirs), std::end(kTheirs),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

bool calls_hooks(const ElfFile& file, std::span<const std::string_view> hooks) {
  const ElfSection* symbols = file.section_of_type(SHT_DYNSYM);
  Elf_Data* data = symbols != nullptr ? file.data(*symbols) : nullptr;
  GElf_Sym symbol;
  for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    const char* name = symbol.st_shndx == SHN_UNDEF ? file.string(symbols->link, symbol.st_name) : nullptr;
    for (const std::string_view hook : hooks)
      if (name != nullptr && hook == name) return true;
  }
  return false;
}

// The call is the first, right after the frame is set up.
bool counts_for_gprof(const ElfFile& file, uint64_t function, uint64_t bytes, std::span<const uint64_t> counters) {
  constexpr uint64_t kBegin = 64;
  bool counts = false;
  if (counters.empty()) return false;
  for_each_seeming_branch(file.bytes_at(function, std::min(bytes, kBegin)), function, [&](uint64_t, uint64_t target) {
    counts |= std::find(counters.begin(), counters.end(), target) != counters.end();
  });
  return counts;
}

const char* why_not_entered(const ElfFile& file, std::string_view name) {
  // They have no caller to return to, or begin on another stack.
  constexpr std::string_view kStarts[] = {"_start", "_init",    "_fini",  "__restore_rt",   "__clone",
                                          "clone",  "__clone3", "clone3", "__start_context"};
  // The hook would enter itself.
  constexpr std::string_view kUsed[] = {
      "__cxa_finalize", "__tls_get_addr",      "_dl_find_object",     "dlsym",
      "dlvsym",         "pthread_getspecific", "pthread_setspecific", "pthread_key_create",
      "getauxval",      "__errno_location",    "__register_atfork"};
  const auto is_in = [name](const auto& list) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
  };
  if (std::filesystem::path(file.path()).filename().string().rfind("ld-linux", 0) == 0) return kOfLinker;
  if (name.starts_with("uw_") || name.starts_with("_Unwind_")) return "is part of the exception unwinder";
  if (is_in(kStarts)) return "is not called like a function";
  if (is_in(kUsed)) return "is used to record calls";
  if (const char* reason = why_walked(name)) return reason;
  return may_be_wrapped(name) ? nullptr : "returns twice, or looks at its caller";
}

}  // namespace penna
