// SPDX-License-Identifier: MIT
// Whether something in this process reads return addresses directly from the stack: the runtimes of AddressSanitizer,
// LeakSanitizer, MemorySanitizer and ThreadSanitizer.
//
// Why it matters: such a runtime follows frame pointers, or takes the return address of an instrumented function, each
// time the program allocates or calls, without asking the unwinder. A return trampoline in place of a caller would be
// printed in its reports. UndefinedBehaviorSanitizer asks the unwinder, which backtrace.cc answers.
// Invariant: decided once per process, before its first call is recorded; a forked child inherits the answer.
#pragma once

namespace penna::agent {

// Not in signal handlers, and before other threads record.
void look_for_stack_readers();
bool return_addresses_are_read();

}  // namespace penna::agent
