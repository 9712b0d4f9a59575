# Functions of the test folders: end-to-end scripts and programs of the torture corpus.
include_guard()

# penna_e2e_test(name): tests/e2e/NAME.sh under ctest label "e2e"; also with a sanitized penna (its agent never is). The
# script finds penna in $PENNA. No skipping: a test whose package is missing installs it or fails.
function(penna_e2e_test name)
  if(PENNA_SANITIZE MATCHES thread)
    return()
  endif()
  set(test ${PENNA_TEST_PREFIX}e2e.${name})
  add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${name}.sh)
  set_tests_properties(${test} PROPERTIES LABELS ${PENNA_TEST_PREFIX}e2e TIMEOUT 900
    ENVIRONMENT "PENNA=${CMAKE_BINARY_DIR}/bin/penna;PENNA_SOURCE=${CMAKE_SOURCE_DIR}")
endfunction()

# Programs and libraries of the torture corpus are built as users build theirs: optimized, instrumented (except PLAIN),
# with none of our options. They are built in BUILD/torture/NAME.
function(penna_torture_options target)
  set_target_properties(${target} PROPERTIES PREFIX "" C_EXTENSIONS ON CXX_EXTENSIONS ON
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/torture LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/torture)
  if(NOT ARG_PLAIN)
    target_compile_options(${target} PRIVATE -finstrument-functions)
  endif()
  target_compile_options(${target} PRIVATE -O2 -g -Wall -Wno-unused-result -Wno-infinite-recursion ${ARG_COMPILE})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_link_options(${target} PRIVATE ${ARG_LINK})
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${ARG_NAME})
  add_dependencies(torture_programs ${target})
endfunction()

# penna_torture_program(file [NAME name] [PLAIN] [COMPILE options...] [LINK options...])
function(penna_torture_program file)
  cmake_parse_arguments(ARG "PLAIN" "NAME" "COMPILE;LINK" ${ARGN})
  if(NOT ARG_NAME)
    get_filename_component(ARG_NAME ${file} NAME_WE)
  endif()
  add_executable(torture_${ARG_NAME} ${file})
  penna_torture_options(torture_${ARG_NAME})
endfunction()

# penna_torture_library(file NAME name ...): the same, as BUILD/torture/NAME.so.
function(penna_torture_library file)
  cmake_parse_arguments(ARG "PLAIN" "NAME" "COMPILE;LINK" ${ARGN})
  add_library(torture_${ARG_NAME} MODULE ${file})
  penna_torture_options(torture_${ARG_NAME})
endfunction()
