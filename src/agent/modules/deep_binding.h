// SPDX-License-Identifier: MIT
// dlopen with RTLD_DEEPBIND: such a library resolves its calls in itself and its own dependencies first, which include
// libc. It would bypass our functions, which come before libc's for everyone else, and blocks would seem to be
// allocated and never freed.
//
// Invariant: a pointer is redirected to ours only if it led, or would have led, to the function that ours replaces.
#pragma once

namespace penna::agent {

// Called before a dlopen with RTLD_DEEPBIND.
void expect_deep_binding();

// Called after a dlopen, with its handle; null: unknown. The library's constructors have run with libc's functions. Not
// in signal handlers.
void lead_deep_bindings_to_ours(void* opened);

// Where we came late, all else is entered where it lies. Only the hooks that compilers call (-pg,
// -finstrument-functions) are led to ours in this way: those of the modules that are there, and from here on of those
// that come. Not in signal handlers.
void lead_hooks_to_ours();

// The same of what the destructors of modules with points call, by which they say that they go. Not at once: until the
// recorder has written what is planned, modules come and go unseen, and something else may lie where one was. So in
// front of the first dlclose from then on, and after each dlopen. Not in signal handlers.
void expect_module_ends();
void lead_module_ends_to_ours(void* opened);

}  // namespace penna::agent
