# The man page, and what is installed beside the program.
include(GNUInstallDirs)
find_program(SCDOC_PROGRAM scdoc REQUIRED)
set(man_page ${PROJECT_BINARY_DIR}/looptask.1)
add_custom_command(
  OUTPUT ${man_page}
  COMMAND sh -c "${SCDOC_PROGRAM} <\"$1\" >\"$2\"" sh ${PROJECT_SOURCE_DIR}/docs/looptask.1.scd ${man_page}
  DEPENDS ${PROJECT_SOURCE_DIR}/docs/looptask.1.scd
  COMMENT "Making the man page"
  VERBATIM)
add_custom_target(man ALL DEPENDS ${man_page})

file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
