# `cpack -G DEB`: penna (programs and libraries) and libpenna-dev (headers, pkg-config, CMake). tools/package calls it.
include_guard()
set(CPACK_PACKAGE_NAME penna)
set(CPACK_PACKAGE_CONTACT "Penna's authors <penna@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "records calls, allocations, locks and points of programs")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/package)

set(CPACK_COMPONENTS_ALL runtime library dev)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_RUNTIME_GROUP penna)
set(CPACK_COMPONENT_LIBRARY_GROUP penna)
set(CPACK_COMPONENT_DEV_GROUP dev)
set(CPACK_COMPONENT_GROUP_PENNA_DESCRIPTION "Calls, allocations, locks and static tracepoints of C and C++ programs,
 each with its stack, on one clock; in programs that are started or run already.")
set(CPACK_COMPONENT_GROUP_DEV_DESCRIPTION "Headers of points and of the recorder within a program, and what pkg-config
 and CMake know of them.")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_PENNA_PACKAGE_NAME penna)
set(CPACK_DEBIAN_PENNA_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PENNA_PACKAGE_RECOMMENDS "libdebuginfod1t64 | libdebuginfod1")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libpenna-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "penna (= ${PROJECT_VERSION})")
# Libraries of the package itself that others of it need.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
