# Build rules shared by all folders.
include_guard()
include(GNUInstallDirs)
find_package(fmt REQUIRED)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# How installed programs and libraries find one another: by relative paths, so that the tree can be moved.
file(RELATIVE_PATH PENNA_LIB_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH PENNA_BIN_FROM_LIB ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_BINDIR})

find_program(PENNA_CCACHE ccache)
if(PENNA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${PENNA_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PENNA_CCACHE})
endif()

# PENNA_SANITIZE: comma list for -fsanitize (only tool side and tests: the agent lives in other people's programs).
set(PENNA_SANITIZE "" CACHE STRING "sanitizers for tool side and tests, e.g. address,undefined or thread")
option(PENNA_TESTS "everything below tests/, which needs the packages of the group test" OFF)
set(PENNA_FUZZ OFF CACHE BOOL "the targets of fuzz/, and coverage for libFuzzer in what they link (clang)")
# Distinguishes the builds in the names of tests: one ctest runs those of several builds.
set(PENNA_TEST_PREFIX "")
if(PENNA_SANITIZE MATCHES thread)
  set(PENNA_TEST_PREFIX tsan.)
elseif(PENNA_SANITIZE)
  set(PENNA_TEST_PREFIX asan.)
endif()
# Everything that unit tests need and nothing else: ninja unit_tests.
add_custom_target(unit_tests)
set(PENNA_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror)

# Compiles 32 files of a target together: headers are read, templates instantiated and sanitized once for all of them,
# which takes a third of the time. So names in unnamed namespaces differ within a target. Without it (presets dev and
# clang) each file is compiled separately: less to do after a change, and clang-tidy sees that each includes what it
# uses.
option(PENNA_UNITY "compile files of the tool side and the tests together" OFF)

# Adds each folder that has a CMakeLists.txt.
function(penna_add_folders)
  foreach(folder IN LISTS ARGN)
    if(EXISTS ${CMAKE_SOURCE_DIR}/${folder}/CMakeLists.txt AND NOT folder STREQUAL "")
      add_subdirectory(${CMAKE_SOURCE_DIR}/${folder} ${CMAKE_BINARY_DIR}/obj/${folder})
    endif()
  endforeach()
endfunction()

# Tool-side options: warnings, sanitizers, no exceptions of our own. -g1 (functions and lines, no variables) compiles a
# quarter faster; use the dev preset to step through code.
function(penna_tool_options target)
  target_compile_options(${target} PRIVATE ${PENNA_WARNINGS} $<$<CONFIG:RelWithDebInfo>:-g1>)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include;${CMAKE_SOURCE_DIR}/src>")
  if(PENNA_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # it takes what a .cc file includes for a header
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PENNA_UNITY} UNITY_BUILD_BATCH_SIZE 32)
  if(PENNA_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${PENNA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${PENNA_SANITIZE})
  endif()
endfunction()

# penna_library(name [HOT] SOURCES a.cc ... LIBS x y ...): a static library of one folder. With sanitizers it is
# compiled with -O0, in less than half the time; HOT: with -O1 if there are fuzz targets, because those spend their time
# there.
function(penna_library name)
  cmake_parse_arguments(ARG "HOT" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  penna_tool_options(${name})
  if(PENNA_SANITIZE AND NOT (ARG_HOT AND PENNA_FUZZ))
    target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LIBS})
endfunction()

# penna_unit_test(name [OPTIMIZED] [ONE_THREAD] SOURCES ... LIBS ...): a GoogleTest binary under ctest label "unit". Its
# own code is compiled with -O0, in half the time; OPTIMIZED: with -O2, because included target-side code runs that way.
# ONE_THREAD: not built with ThreadSanitizer, which finds nothing with one thread.
function(penna_unit_test name)
  cmake_parse_arguments(ARG "OPTIMIZED;ONE_THREAD" "" "SOURCES;LIBS" ${ARGN})
  if(ARG_ONE_THREAD AND PENNA_SANITIZE STREQUAL "thread")
    return()
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  penna_tool_options(${name})
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest_main GTest::gmock)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_dependencies(unit_tests ${name})
  add_test(NAME ${PENNA_TEST_PREFIX}unit.${name} COMMAND ${name})
  set_tests_properties(${PENNA_TEST_PREFIX}unit.${name} PROPERTIES LABELS "${PENNA_TEST_PREFIX}unit" TIMEOUT 300)
endfunction()
