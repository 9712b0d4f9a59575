// SPDX-License-Identifier: MIT
// Functions recognized by name as called by code whose runtime looks up return addresses.
#include "plan/walked_code.h"

#include <gtest/gtest.h>

#include "symbols/programs.h"

namespace penna {
namespace {

// OCaml's start has no name like a module's functions: it is known by where it lies. Since OCaml 5.1 there is a point in these symbols.
TEST(WalkedCode, OfOcamlIsKnownByWhereItLies) {
  for (const std::string mark : {"__", "."}) {
    const std::string path = test::build_text(
        "gcc -shared -nostdlib -x assembler", "ocaml" + std::to_string(mark.size()) + ".s",
        ".text\n.type caml_alloc, @function\n.globl caml_alloc\ncaml_alloc: nop\nret\n.size caml_alloc, 2\n"
        ".globl caml_startup" +
            mark + "code_begin\ncaml_startup" + mark +
            "code_begin:\n"
            ".type caml_program, @function\n.globl caml_program\ncaml_program: nop\nret\n.size caml_program, 2\n"
            ".globl caml_startup" +
            mark + "code_end\ncaml_startup" + mark + "code_end: nop\n");
    auto file = ElfFile::open(path);
    ASSERT_TRUE(file) << path;
    const WalkedCode walked(*file);
    EXPECT_NE(walked.refusal(test::address_of(path, "caml_program")), nullptr) << mark;
    EXPECT_EQ(walked.refusal(test::address_of(path, "caml_alloc")), nullptr) << mark;
  }
}

TEST(WalkedCode, IsKnownByName) {
  for (const char* name : {"camlStdlib__List__map_483", "camlMain", "Builtins_CallFunction_ReceiverIsAny",
                           "_ZN2v88internal19Runtime_ThrowErrorEiPmPNS0_7IsolateE",
                           "_ZN2v88internal23Builtin_ArrayPrototypeEiPmPNS0_7IsolateE",
                           "_ZN4node2fsL6AccessERKN2v820FunctionCallbackInfoINS1_5ValueEEE",
                           "_ZN2v88internal19RegExpMacroAssembler20CheckStackGuardStateEPNS0_7IsolateE",
                           "_ZN18InterpreterRuntime4_newEP10JavaThreadP12ConstantPooli",
                           "_ZN13SharedRuntime26handle_wrong_method_abstractEP10JavaThread"})
    EXPECT_NE(why_walked(name), nullptr) << name;
}

TEST(WalkedCode, LeavesOthersAlone) {
  for (const char* name : {"", "caml", "caml_alloc_small", "camlp4", "malloc", "_ZN2v88internal4Heap14CollectGarbageEv",
                           "_ZN4node11EnvironmentD1Ev", "Builtins", "Runtime_Thing", "JVM_CurrentTimeMillis"})
    EXPECT_EQ(why_walked(name), nullptr) << name;
}

}  // namespace
}  // namespace penna
