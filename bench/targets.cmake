# The list of benchmarks: google-benchmark programs, and the small programs that bench/report.py records.

# penna_bench_program(name SOURCES... [COMPILE options...] [LIBS...]): a program to be recorded, built as a user would
# build it, in BUILD/bench/programs/NAME.
function(penna_bench_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;COMPILE" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND programs/)
  add_executable(bench_${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_compile_options(bench_${name} PRIVATE -O2 -g -Wall -Wextra ${ARG_COMPILE})
  target_include_directories(bench_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/programs)
  target_link_libraries(bench_${name} PRIVATE Threads::Threads ${ARG_LIBS})
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench/programs)
  add_dependencies(bench bench_${name})
endfunction()

find_package(Threads REQUIRED)
penna_bench_program(limits SOURCES limits.cc)
penna_bench_program(ring SOURCES ring.cc)
# The loop around a point is aligned to a line of decoded instructions, whatever it contains: alignment is not what is
# measured.
set(aligned -falign-loops=32)
penna_bench_program(points_none SOURCES points.cc COMPILE -DBENCH_POINT=0 ${aligned})
penna_bench_program(points_nop SOURCES points.cc COMPILE -DBENCH_POINT=1 ${aligned})
penna_bench_program(points SOURCES points.cc COMPILE -DBENCH_POINT=2 ${aligned})
penna_bench_program(calls_plain SOURCES calls.cc)
penna_bench_program(calls SOURCES calls.cc COMPILE -finstrument-functions)
penna_bench_program(calls_pg SOURCES calls.cc COMPILE -pg LIBS -pg)
# penna_bench_calls(name compiler options...): calls.cc by a compiler that supports the options, whichever builds the
# rest.
function(penna_bench_calls name compiler)
  set(program ${CMAKE_BINARY_DIR}/bench/programs/${name})
  add_custom_command(OUTPUT ${program} DEPENDS programs/calls.cc programs/harness.h
    COMMAND ${compiler} -O2 -g -I${CMAKE_CURRENT_SOURCE_DIR}/programs ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/programs/calls.cc
            -o ${program} -lpthread VERBATIM)
  add_custom_target(bench_${name} DEPENDS ${program})
  add_dependencies(bench bench_${name})
endfunction()
penna_bench_calls(calls_fentry g++ -pg -mfentry)
penna_bench_calls(calls_nops g++ -pg -mfentry -mnop-mcount -fno-pie -no-pie)
penna_bench_calls(calls_patchable g++ -fpatchable-function-entry=5)
penna_bench_calls(calls_plain_clang clang++)
penna_bench_calls(calls_hooks_clang clang++ -finstrument-functions-after-inlining)
penna_bench_calls(calls_patchable_clang clang++ -fpatchable-function-entry=5)
penna_bench_calls(calls_xray clang++ -fxray-instrument -fxray-instruction-threshold=1)
penna_bench_program(alloc SOURCES alloc.cc)
penna_bench_program(attached SOURCES attached.cc)
penna_bench_program(sizes SOURCES sizes.cc)
penna_bench_program(own_time SOURCES own_time.cc)
penna_bench_program(locks SOURCES locks.cc)
# Preloaded into it: the cost of a hand-written proxy.
add_library(lock_proxy MODULE EXCLUDE_FROM_ALL programs/lock_proxy.c)
target_compile_options(lock_proxy PRIVATE -O2 -Wall -Wextra)
set_target_properties(lock_proxy PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench/programs)
add_dependencies(bench lock_proxy)
penna_bench_program(threads SOURCES threads.cc)
# For page_lag.mjs.
penna_bench_program(viewed SOURCES viewed.cc COMPILE -finstrument-functions)

# Peers that must be compiled in; report.py says so if the program is missing.
find_library(PENNA_BENCH_LTTNG lttng-ust)
if(PENNA_BENCH_LTTNG)
  penna_bench_program(points_lttng SOURCES points.cc lttng_provider.c
    COMPILE -DBENCH_POINT=3 ${aligned} LIBS ${PENNA_BENCH_LTTNG} ${CMAKE_DL_LIBS})
endif()
include(CheckIncludeFileCXX)
check_include_file_cxx(sys/sdt.h PENNA_BENCH_SDT_H)
if(PENNA_BENCH_SDT_H)
  penna_bench_program(points_sdt SOURCES points.cc COMPILE -DBENCH_POINT=4 ${aligned})
endif()

# Tools of this folder's own, from one source of the same name.
function(penna_bench_tool name)
  add_executable(${name} EXCLUDE_FROM_ALL ${name}.cc)
  penna_tool_options(${name})
  target_compile_options(${name} PRIVATE -O2)
  target_link_libraries(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(bench ${name})
endfunction()
penna_bench_tool(recording_facts penna_recording)
penna_bench_tool(recorder_cost penna_collect)
penna_bench_tool(make_recording penna_recording fmt::fmt)
penna_bench_tool(read_schedule penna_analysis fmt::fmt)

penna_bench(agent_bench LIBS Threads::Threads)
penna_bench(switch_bench LIBS Threads::Threads)
penna_bench(recording_bench LIBS penna_recording)
penna_bench(model_bench LIBS penna_model)

# Its peer is libunwind (Debian: libunwind-dev).
find_library(PENNA_BENCH_LIBUNWIND NAMES unwind)
if(PENNA_BENCH_LIBUNWIND)
  penna_bench(unwind_bench COMPILE -fno-unroll-loops LIBS penna_unwind ${PENNA_BENCH_LIBUNWIND})
endif()
