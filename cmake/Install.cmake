# What `cmake --install` copies, in components: `runtime` is the programs and what they preload, `library` what programs
# that record themselves load, `dev` what those are built with. `runtime` needs `library`.
# Invariant: no installed file contains a path of this machine, so that the tree works wherever it is moved.
include_guard()
if(PENNA_SANITIZE)
  return()  # not for use
endif()
include(CMakePackageConfigHelpers)
set(docs ${CMAKE_INSTALL_DATADIR}/doc/penna)
set(packages ${CMAKE_INSTALL_LIBDIR}/cmake/Penna)
set(generated ${CMAKE_BINARY_DIR}/install)

# Penna::point: only the headers. Penna::recorder: libpenna.so. Penna::agent: the hooks, for programs that link them
# too.
add_library(penna_point INTERFACE)
target_compile_features(penna_point INTERFACE c_std_11 cxx_std_17)
set_target_properties(penna_point PROPERTIES EXPORT_NAME point)
set_target_properties(penna_recorder PROPERTIES EXPORT_NAME recorder)
set_target_properties(penna_agent PROPERTIES EXPORT_NAME agent)

install(TARGETS penna etrace functracer mutex_trace mutex_ft2csv RUNTIME COMPONENT runtime)
install(TARGETS penna_etrace penna_functracer LIBRARY COMPONENT runtime)
install(TARGETS penna_point penna_recorder penna_agent EXPORT Penna
  LIBRARY COMPONENT library NAMELINK_COMPONENT dev INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS penna_agent_standalone LIBRARY COMPONENT library)
install(TARGETS penna_http penna_http_client LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(EXPORT Penna NAMESPACE Penna:: FILE PennaTargets.cmake DESTINATION ${packages} COMPONENT dev)

install(DIRECTORY include/penna DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
# Headers named like those of other projects, which a compiler finds only with -I PREFIX/include/penna-compat.
set(compat ${CMAKE_INSTALL_INCLUDEDIR}/penna-compat)
install(FILES compat/usdt.h DESTINATION ${compat} COMPONENT dev)
install(DIRECTORY compat/folly DESTINATION ${compat} COMPONENT dev)
set(feather_headers feather_trace.h feather_buffer.h feather_userspace.h ft_event.h ft_userspace.h gcc-helper.h)
list(TRANSFORM feather_headers PREPEND compat/feather-trace/)
install(FILES ${feather_headers} DESTINATION ${compat}/feather-trace COMPONENT dev)

configure_package_config_file(cmake/PennaConfig.cmake.in ${generated}/PennaConfig.cmake INSTALL_DESTINATION ${packages}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${generated}/PennaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH PENNA_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" PENNA_PREFIX_FROM_PC ${PENNA_PREFIX_FROM_PC})
configure_file(cmake/penna.pc.in ${generated}/penna.pc @ONLY)
install(FILES ${generated}/PennaConfig.cmake ${generated}/PennaConfigVersion.cmake DESTINATION ${packages} COMPONENT dev)
install(FILES ${generated}/penna.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# Made by the target manual.
set(made ${CMAKE_BINARY_DIR}/share)
install(DIRECTORY ${made}/man/man1 ${made}/man/man5 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT runtime)
install(DIRECTORY ${made}/man/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT dev)
install(FILES ${made}/bash/penna DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime)
install(FILES ${made}/zsh/_penna DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT runtime)
install(FILES ${made}/fish/penna.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT runtime)

install(FILES README.md LICENSE DESTINATION ${docs} COMPONENT runtime)
install(DIRECTORY docs DESTINATION ${docs} COMPONENT runtime)
install(DIRECTORY examples DESTINATION ${docs} COMPONENT runtime USE_SOURCE_PERMISSIONS PATTERN CMakeLists.txt EXCLUDE)
include(Package)
