// SPDX-License-Identifier: MIT
// dlopen with RTLD_DEEPBIND: what such a library calls is looked up in itself and what it needs first, libc among that.
// So our functions, which stand in front of libc's for everyone else, would be passed by, and blocks be seen to come
// and not to go.
//
// Invariant: a pointer is led to ours only where it led, or would have led, to the function behind it.
#pragma once

namespace penna::agent {

// A dlopen asks for it: before it is called.
void expect_deep_binding();

// After a dlopen, what it has brought; null: its handle is not known. Its constructors have run, with libc's functions.
// Not in signal handlers.
void lead_deep_bindings_to_ours(void* opened);

}  // namespace penna::agent
