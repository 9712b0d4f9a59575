# Build rules shared by all folders.
include_guard()
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

# PENNA_SANITIZE: comma list for -fsanitize (tool side and tests only: the agent lives in other people's programs).
set(PENNA_SANITIZE "" CACHE STRING "sanitizers for tool side and tests, e.g. address,undefined or thread")
set(PENNA_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror)

# Adds each folder that has a CMakeLists.txt.
function(penna_add_folders)
  foreach(folder IN LISTS ARGN)
    if(EXISTS ${CMAKE_SOURCE_DIR}/${folder}/CMakeLists.txt AND NOT folder STREQUAL "")
      add_subdirectory(${CMAKE_SOURCE_DIR}/${folder} ${CMAKE_BINARY_DIR}/obj/${folder})
    endif()
  endforeach()
endfunction()

# Tool-side options: warnings, sanitizers, no exceptions of our own.
function(penna_tool_options target)
  target_compile_options(${target} PRIVATE ${PENNA_WARNINGS})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
  if(PENNA_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${PENNA_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${PENNA_SANITIZE})
  endif()
endfunction()

# penna_library(name SOURCES a.cc ... LIBS x y ...): a static library of one folder.
function(penna_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  penna_tool_options(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LIBS})
endfunction()

# penna_unit_test(name SOURCES ... LIBS ...): a GoogleTest binary under ctest label "unit".
function(penna_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  penna_tool_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest_main GTest::gmock)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
