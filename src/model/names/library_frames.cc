// SPDX-License-Identifier: MIT
// See library_frames.h.
#include "model/names/library_frames.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "model/names/code_map.h"
#include "symbols/demangle.h"

namespace penna {
namespace {

template <size_t kCount>
bool begins_with_any(std::string_view text, const std::string_view (&beginnings)[kCount]) {
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

template <size_t kCount>
bool is_any(std::string_view text, const std::string_view (&words)[kCount]) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

// By name, wherever they are: templates and inlined functions are in the program itself, and in a statically linked
// program all of them are.
bool is_of_language(std::string_view function) {
  constexpr std::string_view kBeginnings[] = {
      "std::",           "__gnu_cxx::", "__gnu_debug::", "__gnu_parallel::", "__cxxabiv1::", "operator new",
      "operator delete", "__cxa_",      "__gxx_",        "__gthread_",       "_Unwind_",     "__libc_"};
  return begins_with_any(function, kBeginnings);
}

// What a user's own file adds to namespace std, such as std::hash<Order>: the language's own templates are in
// directories with the names below. If the file is unknown, as without debug information, it counts as the language's.
bool is_added_by_user(std::string_view function, std::string_view file) {
  constexpr std::string_view kFolders[] = {"/c++/", "libstdc++", "libcxx"};
  return function.starts_with("std::") && !file.empty() &&
         std::none_of(std::begin(kFolders), std::end(kFolders),
                      [&](std::string_view folder) { return file.find(folder) != std::string_view::npos; });
}

// An allocator's internals and its entry points.
bool is_of_allocator(std::string_view function) {
  constexpr std::string_view kFunctions[] = {
      "malloc",        "calloc",       "realloc",       "free",           "cfree",        "memalign",
      "aligned_alloc", "valloc",       "pvalloc",       "posix_memalign", "reallocarray", "_int_malloc",
      "_int_free",     "_int_realloc", "_int_memalign", "sysmalloc",      "systrim",      "tcache_init",
      "ptmalloc_init", "do_malloc",    "do_memalign",   "imalloc",        "ialloc",       "malloc_consolidate"};
  constexpr std::string_view kBeginnings[] = {
      "tcmalloc::",  "tc_malloc",        "tc_calloc", "tc_realloc", "tc_free",  "tc_new",    "tc_delete",
      "tc_memalign", "TCMallocInternal", "je_",       "_rjem_",     "_mi_",     "mi_malloc", "mi_calloc",
      "mi_zalloc",   "mi_realloc",       "mi_free",   "mi_new",     "mi_heap_", "__malloc_"};
  return is_any(function, kFunctions) || begins_with_any(function, kBeginnings);
}

// The first code of a process, of a thread and of a library being loaded.
bool is_start(std::string_view function) {
  constexpr std::string_view kFunctions[] = {"_start",
                                             "__libc_start_main",
                                             "__libc_start_main_impl",
                                             "__libc_start_call_main",
                                             "__libc_csu_init",
                                             "__libc_init_first",
                                             "generic_start_main",
                                             "libc_start_main_stage2",
                                             "start_thread",
                                             "clone",
                                             "__clone",
                                             "clone3",
                                             "__clone3",
                                             "__clone_internal",
                                             "execute_native_thread_routine",
                                             "call_init",
                                             "_dl_init",
                                             "_dl_start",
                                             "_dl_start_user"};
  return is_any(function, kFunctions);
}

}  // namespace

bool is_library_file(const std::string& path) {
  constexpr std::string_view kNames[] = {"ld-linux",    "ld-musl",      "ld-2.",     "libc.so",     "libc-2",
                                         "libc.musl",   "libpthread",   "libm.so",   "libdl.so",    "librt.so",
                                         "libgcc_s.so", "libstdc++.so", "libc++.so", "libc++abi.so"};
  return begins_with_any(file_name_of(path), kNames) || is_allocator_file(path);
}

FrameRole LibraryFrames::role(const std::string& function, const std::string& file, const std::string& module) const {
  if (function.starts_with("_Z")) {  // the user wants mangled names
    const std::string name = demangle(function, Demangle::kFull);
    if (!name.starts_with("_Z")) return role(name, file, module);
  }
  if (is_start(function)) return FrameRole::kStart;
  if (is_of_allocator(function) || is_library_file(module)) return FrameRole::kLibrary;
  if (is_of_language(function) && !is_added_by_user(function, file)) return FrameRole::kLibrary;
  const bool is_meant = std::any_of(more_.begin(), more_.end(),
                                    [&](const LibraryPattern& one) { return one.matches(function, file, module); });
  return is_meant ? FrameRole::kLibrary : FrameRole::kOwn;
}

bool StackFold::shows(FrameRole role) {
  const State before = state_;
  if (role == FrameRole::kOwn) {
    state_ = State::kInOwn;
    return true;
  }
  if (before == State::kInOwn) state_ = State::kInLibrary;
  return before == State::kInOwn;
}

}  // namespace penna
