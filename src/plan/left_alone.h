// SPDX-License-Identifier: MIT
// What is left alone when calls are planned: files whose calls are internal, functions that must not get a detour, and
// files whose compiler has made their functions report their own calls.
//
// Invariant: by names only. Whether a function's code has room for a jump is decided by DetourFinder.
#pragma once

#include <span>
#include <string_view>

#include "symbols/elf/elf_file.h"

namespace penna {

// libc, the dynamic linker, unwinders and sanitizers: what they call elsewhere is part of how they work.
bool calls_are_internal(const ElfFile& file);

// What compilers let functions call by name: -finstrument-functions, -pg -mfentry, -pg.
inline constexpr std::string_view kHooks[] = {"__cyg_profile_func_enter", "__fentry__", "mcount", "_mcount"};
// Called with only the function's address: arguments are not available there.
inline constexpr std::span<const std::string_view> kSelfReporting = std::span(kHooks).first(1);
// These record a return only through a trampoline in place of the return address.
inline constexpr std::span<const std::string_view> kReturning = std::span(kHooks).subspan(1);
// Whether the file is built with one of them.
bool calls_hooks(const ElfFile& file, std::span<const std::string_view> hooks);

// Whether a function counts its calls for gprof with one of these, linked into the same file. `counters`: their
// addresses. A detour would replace the return address that is counted.
bool counts_for_gprof(const ElfFile& file, uint64_t function, uint64_t bytes, std::span<const uint64_t> counters);

// Why no detour may lead to the function of this name, as it stands in the symbol table; null: one may.
const char* why_not_entered(const ElfFile& file, std::string_view name);

}  // namespace penna
