// SPDX-License-Identifier: MIT
// The loaded module of a pc: its CFI and its code, with bounds taken from its own program headers.
//
// `_dl_find_object` (glibc >= 2.35) finds it without locks, from signal handlers too; `dl_iterate_phdr` would deadlock
// inside malloc. It returns the address of .eh_frame_hdr but not its size: the PT_LOAD segment around it bounds every
// read, so holes between the segments of a module are never touched.
// Invariant: a Section made here lies inside one readable PT_LOAD segment of the module. Thread- and signal-safe.
#pragma once

#include <dlfcn.h>

#include "unwind/cfi.h"

namespace penna::unwind {

// Finds the module of pc. False: no module (generated code, or a stale value that never was a pc).
bool find_module(uintptr_t pc, dl_find_object& module);

// The CFI of a module; both sections are empty when it has none or its headers make no sense.
EhFrame eh_frame_of(const dl_find_object& module);

// The rule at pc by the CFI of its module, or by the code itself in a stub of its PLT: kNone without module or CFI.
// About a microsecond; nothing is cached. kEnd where no function is, but the next one starts right after: no call ends
// there, so the return address that led here was planted under the first frame of a stack, as makecontext() does.
FrameRule rule_of_module(uintptr_t pc, const dl_find_object& module);
FrameRule rule_of_pc(uintptr_t pc);

// A table made to replace the .eh_frame_hdr of a module (dlfo_eh_frame), because statically linked programs have none;
// it may lie anywhere within reach. Empty: none. Set before the first lookup.
inline Section made_table;

// True when [from, to) lies in one executable segment of the module, so that its instructions can be read.
bool is_code(const dl_find_object& module, uintptr_t from, uintptr_t to);

}  // namespace penna::unwind
