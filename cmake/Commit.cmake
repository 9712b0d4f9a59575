# Writes OUT, a header with the commit of SOURCE, if it changed: cmake -D SOURCE=... -D OUT=... -P Commit.cmake. No
# commit if git knows none, or if SOURCE is inside another tree.
cmake_minimum_required(VERSION 3.25)
set(commit "")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty=+ --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define PENNA_COMMIT \"@commit@\"\n" @ONLY)
