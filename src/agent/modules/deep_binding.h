// SPDX-License-Identifier: MIT
// dlopen with RTLD_DEEPBIND: such a library resolves its calls in itself and its own dependencies first, which include
// libc. It would bypass the hooks, which precede libc's functions for all other modules, and blocks would seem to be
// allocated and never freed.
//
// Invariant: a pointer is redirected to a hook only if it led, or would have led, to the function that the hook
// replaces.
#pragma once

namespace penna::agent {

// Called before a dlopen with RTLD_DEEPBIND.
void expect_deep_binding();

// Called after a dlopen, with its handle; null: unknown. The library's constructors have run with libc's functions. Not
// in signal handlers.
void redirect_deep_bindings(void* opened);

// If the agent was loaded late, everything else is patched in place. Only the hooks that compilers call (-pg,
// -finstrument-functions) are redirected in this way: in the modules that are loaded, and from here on in those that
// are loaded later. Not in signal handlers.
void redirect_hooks();

// The same for the function by which destructors of modules with points announce that they are unloaded. Not at once:
// until the recorder has written what is planned, modules come and go unnoticed, and something else may lie where one
// was. So before the first dlclose from then on, and after each dlopen. Not in signal handlers.
void expect_module_ends();
void redirect_module_ends(void* opened);

}  // namespace penna::agent
