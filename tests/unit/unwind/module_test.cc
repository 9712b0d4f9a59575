// SPDX-License-Identifier: MIT
// Libraries that are loaded and unloaded: stacks through them, and the state of the cache and the hooks afterwards.
#include "unwind/module.h"

#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "support.h"

namespace penna::unwind {
namespace {

using PluginCall = int (*)(void (*)(void*), void*);

struct Seen {
  Unwinder unwinder;
  WalkResult result;
  std::vector<uintptr_t> ours, reference;
};

[[gnu::noinline]] void look(void* raw) {
  auto& seen = *static_cast<Seen*>(raw);
  seen.result = seen.unwinder.walk(caller_registers());
  seen.ours = seen.unwinder.tree.stack(seen.result.node);
  seen.reference = reference_stack();
}

// Two libraries with different frame sizes: at the same address, one's rules would be wrong for the other.
TEST(Module, LibrariesLoadedAndUnloaded) {
  Seen seen;
  size_t same_place = 0;
  void* last_base = nullptr;
  for (int round = 0; round < 60; ++round) {
    void* library = dlopen(round % 2 ? PENNA_PLUGIN_LARGE : PENNA_PLUGIN_SMALL, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    const auto call = reinterpret_cast<PluginCall>(dlsym(library, "penna_test_plugin_call"));
    ASSERT_TRUE(call);
    Dl_info info;
    dladdr(reinterpret_cast<void*>(call), &info);
    same_place += info.dli_fbase == last_base;
    last_base = info.dli_fbase;
    const size_t before = seen.unwinder.tree.new_pcs;
    for (int i = 0; i < 2; ++i) {
      call(look, &seen);
      ASSERT_EQ(seen.result.end, End::complete);
      ASSERT_EQ(seen.ours, seen.reference) << describe(seen.ours) << "\n" << describe(seen.reference);
    }
    EXPECT_GT(seen.unwinder.tree.new_pcs, before) << "the new module was not announced";
    dlclose(library);
    seen.unwinder.walker.cache.clear();
  }
  EXPECT_GT(same_place, 10U) << "no library was loaded at another's address: nothing was tested";
}

TEST(Module, VdsoHasRules) {
  const uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso == 0) GTEST_SKIP() << "no vDSO";
  dl_find_object module;
  if (!find_module(vdso + 0x800, module)) GTEST_SKIP() << "glibc does not report the vDSO";
  size_t rules = 0;
  for (uintptr_t pc = vdso; pc < reinterpret_cast<uintptr_t>(module.dlfo_map_end); ++pc)
    rules += !rule_of_module(pc, module).is(FrameRule::kNone);
  EXPECT_GT(rules, 100U);
}

TEST(Module, SectionsLieInsideTheModule) {
  size_t modules = 0;
  for (const char* symbol : {"malloc", "unw_step", "_ZNSt6localeC1Ev"}) {
    void* address = dlsym(RTLD_DEFAULT, symbol);
    if (!address) continue;
    dl_find_object module;
    ASSERT_TRUE(find_module(reinterpret_cast<uintptr_t>(address), module));
    const auto begin = reinterpret_cast<uintptr_t>(module.dlfo_map_start);
    const auto end = reinterpret_cast<uintptr_t>(module.dlfo_map_end);
    const EhFrame eh_frame = eh_frame_of(module);
    for (const Section& section : {eh_frame.header, eh_frame.frame}) {
      EXPECT_GT(section.size, 0U);
      EXPECT_GE(section.address, begin);
      EXPECT_LE(section.address + section.size, end);
      EXPECT_EQ(section.address, reinterpret_cast<uintptr_t>(section.data));
    }
    const auto pc = reinterpret_cast<uintptr_t>(address);
    EXPECT_TRUE(is_code(module, pc, pc + 1));
    EXPECT_FALSE(is_code(module, begin, begin + 1)) << "the ELF header was taken for code";
    EXPECT_FALSE(is_code(module, pc, end + 1));
    ++modules;
  }
  EXPECT_GE(modules, 2U);
}

}  // namespace
}  // namespace penna::unwind
