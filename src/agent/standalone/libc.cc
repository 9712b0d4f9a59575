// SPDX-License-Identifier: MIT
// Standalone agent: replaces what the other agent uses of libc and the dynamic linker, for a program without them.
//
// Why a separate file: all other sources are the same in both agents. Functions that are called only by hooks that are
// not installed here (hooks/libc_functions.cc) do nothing.
// Invariant: no libc is called; async-signal-safe.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "agent/core/lifecycle.h"
#include "agent/core/state.h"
#include "agent/core/text.h"
#include "agent/modules/own_code.h"
#include "agent/standalone/standalone.h"
#include "penna/detail/attach.h"
#include "unwind/arch.h"
#include "unwind/module.h"
#include "unwind/program_headers.h"

extern "C" void* __libc_stack_end;

#define PENNA_OURS extern "C" __attribute__((visibility("hidden"), used))

extern "C" {
__attribute__((visibility("default"))) penna_standalone penna_agent_standalone;
}

namespace penna::agent {
namespace {

struct OwnModule {
  uintptr_t start, end;
  const void* frames;  // .eh_frame_hdr
  link_map map;
};
enum { kProgram, kKernels, kOurs, kModules };
OwnModule modules[kModules];  // in the linker's order
char program_name[1], kernels_name[] = "linux-vdso.so.1";

// Fills in the rest from the module's own headers: for the vDSO and the agent.
void describe(OwnModule* module, uintptr_t start) {
  module->start = start;
  const unwind::ProgramHeaders headers = unwind::program_headers_at(start);
  for (const ElfW(Phdr) & part : headers)
    if (part.p_type == PT_LOAD && part.p_offset == 0) module->map.l_addr = start - part.p_vaddr;
  for (const ElfW(Phdr) & part : headers) {
    const uintptr_t at = module->map.l_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && at + part.p_memsz > module->end) module->end = at + part.p_memsz;
    if (part.p_type == PT_GNU_EH_FRAME) module->frames = reinterpret_cast<const void*>(at);
    if (part.p_type == PT_DYNAMIC) module->map.l_ld = reinterpret_cast<ElfW(Dyn)*>(at);
  }
}

}  // namespace

void begin_standalone(const char* our_path) {
  const penna_standalone& facts = penna_agent_standalone;
  OwnModule& program = modules[kProgram];
  program.start = facts.program;
  program.end = facts.program_end;
  program.frames = reinterpret_cast<const void*>(facts.frames);
  program.map.l_addr = facts.bias;
  program.map.l_name = program_name;
  // It has no dynamic section: the padding of e_ident serves as an empty list.
  program.map.l_ld = reinterpret_cast<ElfW(Dyn)*>(facts.program + EI_ABIVERSION);
  unwind::made_table = {reinterpret_cast<const uint8_t*>(facts.frames), facts.frame_bytes, facts.frames};
  if (facts.vdso != 0) describe(&modules[kKernels], facts.vdso);
  modules[kKernels].map.l_name = kernels_name;
  describe(&modules[kOurs], reinterpret_cast<uintptr_t>(__ehdr_start));
  modules[kOurs].map.l_name = const_cast<char*>(our_path);
  __libc_stack_end = reinterpret_cast<void*>(facts.stack_end);
  program_fork = reinterpret_cast<Fork>(program_function("fork"));
  program_find_frame = reinterpret_cast<FindFrame>(program_function("_Unwind_Find_FDE"));
  link_map* before = nullptr;
  for (OwnModule& module : modules) {
    if (module.end == 0) continue;
    module.map.l_prev = before;
    if (before != nullptr) before->l_next = &module.map;
    before = &module.map;
  }
}

Fork program_fork;

int entered_fork() {
  before_fork();
  const int child = program_fork();
  if (child != 0)
    after_fork();
  else if (armed() == 0)
    after_fork_or_start();
  return child;
}

uintptr_t program_function(const char* name) {
  for (const penna_standalone_symbol* one = penna_agent_symbols; one->name[0] != '\0'; ++one)
    if (text_begins(one->name, name, text_length(name) + 1)) return one->address;
  return 0;
}

}  // namespace penna::agent

// ---- libc's names ---------------------------------------------------------------------------------------------------

using namespace penna::agent;

extern "C" {
#define PENNA_REAL(name) {#name, 0},
#define PENNA_REAL_UNDECLARED(name, ...) PENNA_REAL(name)
__attribute__((visibility("default"))) penna_standalone_symbol penna_agent_symbols[] = {
#include "agent/modules/real.inc"
    {"_Unwind_Find_FDE", 0}, {"fork", 0}, {"", 0}};
#undef PENNA_REAL_UNDECLARED
#undef PENNA_REAL

__attribute__((visibility("hidden"))) char** environ;
__attribute__((visibility("hidden"))) void* __libc_stack_end;
// Unknown, so code that needs it to be true waits, or is left alone.
__attribute__((visibility("hidden"))) char __libc_single_threaded;
}
__attribute__((visibility("hidden"))) r_debug _r_debug = {1, &modules[kProgram].map, 0, r_debug::RT_CONSISTENT, 1};

PENNA_OURS int* __errno_location() noexcept {
  return reinterpret_cast<int*>(penna::unwind::thread_pointer() +
                                static_cast<uintptr_t>(penna_agent_standalone.errno_at));
}

PENNA_OURS int _dl_find_object(void* address, dl_find_object* found) noexcept {
  const auto pc = reinterpret_cast<uintptr_t>(address);
  for (OwnModule& module : modules) {
    if (pc - module.start >= module.end - module.start) continue;
    *found = {};
    found->dlfo_map_start = reinterpret_cast<void*>(module.start);
    found->dlfo_map_end = reinterpret_cast<void*>(module.end);
    found->dlfo_link_map = &module.map;
    found->dlfo_eh_frame = const_cast<void*>(module.frames);
    return 0;
  }
  return -1;
}

PENNA_OURS unsigned long getauxval(unsigned long what) noexcept {
  switch (what) {
    case AT_PHDR: return penna_agent_standalone.phdrs;
    case AT_PHNUM: return penna_agent_standalone.phdr_count;
    case AT_SYSINFO_EHDR: return penna_agent_standalone.vdso;
    default: return 0;
  }
}

// A thread's end is detected by its id (threads.h); fork is hooked.
PENNA_OURS int pthread_atfork(void (*)(), void (*)(), void (*)()) noexcept { return 0; }
PENNA_OURS int pthread_key_create(pthread_key_t*, void (*)(void*)) noexcept { return -1; }
PENNA_OURS int pthread_key_delete(pthread_key_t) noexcept { return -1; }
PENNA_OURS int pthread_setspecific(pthread_key_t, const void*) noexcept { return -1; }
PENNA_OURS void* pthread_getspecific(pthread_key_t) noexcept { return nullptr; }

// Called only by hooks that are not installed.
PENNA_OURS void pthread_testcancel() {}
PENNA_OURS void __pthread_register_cancel(__pthread_unwind_buf_t*) {}
PENNA_OURS void __pthread_unregister_cancel(__pthread_unwind_buf_t*) {}
PENNA_OURS void __pthread_unwind_next(__pthread_unwind_buf_t*) { __builtin_trap(); }
