# SPDX-License-Identifier: MIT
# A program built with the sanitizers of gcc and clang, with their runtimes as libraries and linked in, in
# BUILD/torture-sanitized.
include_guard()

execute_process(COMMAND clang -print-file-name=libclang_rt.asan-x86_64.so OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
cmake_path(GET runtime PARENT_PATH runtimes)

# penna_torture_sanitized(name compiler options...)
function(penna_torture_sanitized name compiler)
  penna_torture_build(sanitized ${compiler} ../../programs/sanitized.c ${name} COMPILE -w ${ARGN})
endfunction()

foreach(kind IN ITEMS address thread undefined)
  penna_torture_sanitized(gcc_${kind} gcc -fsanitize=${kind})
  penna_torture_sanitized(clang_${kind} clang -fsanitize=${kind})
endforeach()
penna_torture_sanitized(gcc_address_static gcc -fsanitize=address -static-libasan)
penna_torture_sanitized(gcc_thread_static gcc -fsanitize=thread -static-libtsan)
penna_torture_sanitized(gcc_undefined_static gcc -fsanitize=undefined -static-libubsan)
foreach(kind IN ITEMS address undefined)
  penna_torture_sanitized(clang_${kind}_shared clang -fsanitize=${kind} -shared-libsan -Wl,-rpath,${runtimes})
endforeach()
# Tags addresses by mapping aliases: the other mode needs a kernel and a processor that support tags.
penna_torture_sanitized(clang_hwaddress clang -fsanitize=hwaddress -fsanitize-hwaddress-experimental-aliasing -Wl,--no-relax)
