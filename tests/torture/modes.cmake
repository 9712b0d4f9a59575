# SPDX-License-Identifier: MIT
# Programs of the corpus as built by gcc and clang for each kind of call tracing, in BUILD/torture-MODE. The compilers
# are called as users call them, whichever compiler builds the rest. run.py --mode MODE runs them.
include_guard()

set(mode_programs exceptions.cc terminate.cc coroutines.cc coroutine_throws.cc throws_across.cc jumps.c own_setjmp.c signals.c
  cancel.c fork_threads.c constructors.c handlers.c small_stack.c processes.c tree.c vforks.c threads.c dlopen_loop.c exit_ways.c
  die_by.c look_back.c leave_amid.c tail_calls.c passing.c deep.c own_locks.cc
  nested.c)
set(mode_flags -O2 -g -D_GNU_SOURCE -Wno-unused-result -Wno-infinite-recursion -I${CMAKE_SOURCE_DIR}/include)

# penna_torture_build(mode compiler source name COMPILE options... LINK options...): one file, compiled and linked.
# OBJECT other: only linked, from the object file of the mode's program `other`. LIBRARY other: linked with that library
# of the mode.
function(penna_torture_build mode compiler source name)
  cmake_parse_arguments(ARG "" "OBJECT;LIBRARY" "COMPILE;LINK" ${ARGN})
  set(language)
  if(source MATCHES "\\.cc$")
    string(REPLACE "gcc" "g" compiler ${compiler})
    set(compiler ${compiler}++)
    set(language -std=c++20)
  endif()
  set(from ${CMAKE_CURRENT_SOURCE_DIR}/programs/${source})
  set(folder ${CMAKE_BINARY_DIR}/torture-${mode})
  set(to ${folder}/${name})
  set(object ${to}.o)
  if(ARG_OBJECT)
    set(object ${folder}/${ARG_OBJECT}.o)
  else()
    add_custom_command(OUTPUT ${object} DEPENDS ${from} DEPFILE ${object}.d
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${compiler} ${language} ${mode_flags} ${ARG_COMPILE} -MD -MF ${object}.d -MT ${object}
              -c ${from} -o ${object}
      COMMENT "Building torture-${mode}/${name}.o" VERBATIM)
  endif()
  set(library)
  if(ARG_LIBRARY)
    set(library ${folder}/${ARG_LIBRARY})
  endif()
  add_custom_command(OUTPUT ${to} DEPENDS ${object} ${library}
    COMMAND ${compiler} ${ARG_COMPILE} ${object} ${library} -o ${to} ${ARG_LINK} -lpthread -ldl
    COMMENT "Linking torture-${mode}/${name}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY PENNA_TORTURE_MODE_FILES ${to})
endfunction()

# penna_torture_mode(mode compiler options... [LIBRARY options...]): libraries get the latter options, if there are any.
function(penna_torture_mode mode compiler)
  cmake_parse_arguments(ARG "" "" "LIBRARY" ${ARGN})
  set(options ${ARG_UNPARSED_ARGUMENTS})
  foreach(source IN LISTS mode_programs)
    get_filename_component(name ${source} NAME_WE)
    set(more)
    if(name STREQUAL look_back)
      set(more -lunwind)
    elseif(name STREQUAL leave_amid)
      set(more -static-libgcc)
    endif()
    penna_torture_build(${mode} ${compiler} ${source} ${name} COMPILE ${options} LINK ${more})
  endforeach()
  # With a bundled unwinder that exports none of its functions, and with one other than gcc's.
  penna_torture_build(${mode} ${compiler} exceptions.cc exceptions_static OBJECT exceptions COMPILE ${options} LINK -static-libgcc -static-libstdc++)
  penna_torture_build(${mode} ${compiler} exceptions.cc exceptions_llvm OBJECT exceptions COMPILE ${options} LINK ${PENNA_LINK_LLVM_UNWIND})
  penna_torture_build(${mode} ${compiler} threads.c threads_jemalloc OBJECT threads COMPILE ${options} LINK -Wl,-z,lazy -l:libjemalloc_pic.a -lm)
  foreach(way IN ITEMS SPINNING LOCKED ASKING)
    string(TOLOWER ${way}_malloc name)
    penna_torture_build(${mode} ${compiler} spinning_malloc.c ${name} LIBRARY malloc_user.so COMPILE ${options} -fno-builtin -D${way} LINK -Wl,-z,lazy)
  endforeach()
  if(ARG_LIBRARY)
    set(options ${ARG_LIBRARY})
  endif()
  list(APPEND options -fPIC -Wno-unused-command-line-argument)
  penna_torture_build(${mode} ${compiler} malloc_user.c malloc_user.so COMPILE ${options} -fno-builtin LINK -shared -Wl,-z,lazy)
  penna_torture_build(${mode} ${compiler} plugin.c plugin.so COMPILE ${options} LINK -shared)
  penna_torture_build(${mode} ${compiler} thrower.cc thrower_traced.so COMPILE ${options} LINK -shared)
  penna_torture_build(${mode} ${compiler} thrower.cc thrower_plain.so COMPILE -fPIC LINK -shared)
  penna_torture_build(${mode} ${compiler} thrower.cc thrower_static.so OBJECT thrower_traced.so COMPILE ${options}
    LINK -shared -static-libgcc -static-libstdc++)
  set(PENNA_TORTURE_MODES ${PENNA_TORTURE_MODES} ${mode} PARENT_SCOPE)
endfunction()

set(PENNA_TORTURE_MODES)
penna_torture_mode(pg gcc -pg)
penna_torture_mode(fentry gcc -pg -mfentry)
# gcc leaves nops only in code that is not position-independent.
penna_torture_mode(fentry_nops gcc -pg -mfentry -mnop-mcount -fno-pie -no-pie LIBRARY -pg -mfentry)
penna_torture_mode(patchable gcc -fpatchable-function-entry=5)
penna_torture_mode(patchable_cet gcc -fpatchable-function-entry=8,3 -fcf-protection)
penna_torture_mode(patchable_clang clang -fpatchable-function-entry=5)
penna_torture_mode(xray clang -fxray-instrument -fxray-instruction-threshold=1)
penna_torture_mode(pg_clang clang -pg)
# Without "-after-inlining" clang 14 cannot link C++20 code with libstdc++ 12 at all.
penna_torture_mode(hooks_clang clang -finstrument-functions-after-inlining)
# Not prepared by any compiler: for detours.
penna_torture_mode(plain gcc)

include(sanitized.cmake)

get_property(mode_files GLOBAL PROPERTY PENNA_TORTURE_MODE_FILES)
add_custom_target(torture_modes ALL DEPENDS ${mode_files})
add_dependencies(torture_programs torture_modes)
