penna_fuzz_target(channel_fuzz LIBS penna_collect)
penna_fuzz_target(pages_fuzz LIBS penna_collect RUNS 800)
target_sources(pages_fuzz PRIVATE guarded_maps.cc)
target_link_options(pages_fuzz PRIVATE -Wl,--wrap=mmap,--wrap=munmap)
penna_fuzz_target(stream_fuzz LIBS penna_collect)
penna_fuzz_target(rtrace_fuzz LIBS penna_collect)
penna_fuzz_target(recording_fuzz LIBS penna_recording)
penna_fuzz_target(where_fuzz LIBS penna_filter)
penna_fuzz_target(elf_fuzz LIBS penna_plan)
# From its sources: penna_unwind itself is never sanitized, because the agent links it.
penna_fuzz_target(eh_frame_fuzz)
target_sources(eh_frame_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/src/unwind/cfi_rule.cc
  ${CMAKE_SOURCE_DIR}/src/unwind/cfi_program.cc ${CMAKE_SOURCE_DIR}/src/unwind/expression.cc)
# From its source, too: etrace itself is not built with sanitizers.
penna_fuzz_target(text_trace_fuzz LIBS penna_collect RUNS 3000)
target_sources(text_trace_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/compat/etrace/text_trace.cc)
target_include_directories(text_trace_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/compat/etrace)
penna_fuzz_target(wire_fuzz LIBS penna_recording)
target_sources(wire_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/compat/etrace/wire.cc)
target_include_directories(wire_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/compat/etrace)
# From its sources: linking all of the view would be much.
penna_fuzz_target(view_index_fuzz LIBS penna_recording)
target_sources(view_index_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/src/view/tracks/span_node.cc ${CMAKE_SOURCE_DIR}/src/view/tracks/packed_numbers.cc)
