// SPDX-License-Identifier: MIT
// What is left alone when calls are planned: files whose calls are their own business, functions that no detour may
// lead to, and files whose compiler has made their functions tell of themselves.
//
// Invariant: by names only. Whether a function's code has room for a jump is the DetourFinder's business.
#pragma once

#include <span>
#include <string_view>

#include "symbols/elf/elf_file.h"

namespace penna {

// libc, the dynamic linker, unwinders and sanitizers: what they call elsewhere is part of how they work.
bool calls_are_its_own(const ElfFile& file);

// What compilers let functions call by name: -finstrument-functions, -pg -mfentry, -pg.
inline constexpr std::string_view kHooks[] = {"__cyg_profile_func_enter", "__fentry__", "mcount", "_mcount"};
// It is called with nothing but the function's address: arguments cannot be had from there.
inline constexpr std::span<const std::string_view> kSelfTelling = std::span(kHooks).first(1);
// These see a return only by a trampoline in the place of the return address.
inline constexpr std::span<const std::string_view> kReturning = std::span(kHooks).subspan(1);
// Is it built with one of them?
bool calls_hooks(const ElfFile& file, std::span<const std::string_view> hooks);

// Does a function count its calls for gprof by one of these, linked into the same file? `counters`: where they are. A
// detour would put our return address in the place of the one that is counted.
bool counts_for_gprof(const ElfFile& file, uint64_t function, uint64_t bytes, std::span<const uint64_t> counters);

// Why no detour may lead to the function of this name, as it stands in the symbol table; null: one may.
const char* why_not_entered(const ElfFile& file, std::string_view name);

}  // namespace penna
