# Functions of the test folders: end-to-end scripts and programs of the torture corpus.
include_guard()

# penna_e2e_test(name): tests/e2e/NAME.sh under ctest label "e2e". The script finds penna in $PENNA.
# No skipping: a script whose package is missing installs it or fails.
function(penna_e2e_test name)
  if(PENNA_SANITIZE)
    return()
  endif()
  add_test(NAME e2e.${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${name}.sh)
  set_tests_properties(e2e.${name} PROPERTIES LABELS e2e TIMEOUT 120
    ENVIRONMENT "PENNA=${CMAKE_BINARY_DIR}/bin/penna;PENNA_SOURCE=${CMAKE_SOURCE_DIR}")
endfunction()

# penna_torture_program(file OPTIONS... LIBS... COMPILE...): one program of tests/torture/programs, built as users build
# theirs: no options of ours, instrumented, optimised.
function(penna_torture_program file)
  cmake_parse_arguments(ARG "PLAIN" "" "COMPILE;LINK;LIBS" ${ARGN})
  get_filename_component(name ${file} NAME_WE)
  add_executable(torture_${name} ${file})
  set_target_properties(torture_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/torture POSITION_INDEPENDENT_CODE ON C_EXTENSIONS ON)
  if(NOT ARG_PLAIN)
    target_compile_options(torture_${name} PRIVATE -finstrument-functions)
  endif()
  target_compile_options(torture_${name} PRIVATE -O2 -g -Wall -Wextra ${ARG_COMPILE})
  target_compile_definitions(torture_${name} PRIVATE _GNU_SOURCE)
  target_include_directories(torture_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_link_options(torture_${name} PRIVATE ${ARG_LINK})
  target_link_libraries(torture_${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} ${ARG_LIBS})
endfunction()
