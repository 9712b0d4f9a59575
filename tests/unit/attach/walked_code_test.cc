// SPDX-License-Identifier: MIT
// Functions that are known by their names to be called by code whose runtime looks up return addresses.
#include "attach/walked_code.h"

#include <gtest/gtest.h>

namespace penna {
namespace {

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
