# What `cmake --install` brings for programs that use the library: headers, the static library, and what finds them by CMake
# (find_package(LoopTask), target LoopTask::core) and by pkg-config (looptask-core). Alone: `--component library`. Everything in
# it is relative, so that the installed tree can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(LoopTask::core ALIAS looptask_core)
set_target_properties(looptask_core PROPERTIES EXPORT_NAME core)
target_compile_features(looptask_core INTERFACE cxx_std_20)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/LoopTask)
install(TARGETS looptask_core EXPORT LoopTask ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/looptask DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT LoopTask NAMESPACE LoopTask:: FILE LoopTaskTargets.cmake DESTINATION ${package_dir} COMPONENT library)

# Before 1.0 a new minor version may break what was built for the one before.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/LoopTaskConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/LoopTaskConfig.cmake.in ${PROJECT_BINARY_DIR}/package/LoopTaskConfig.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/LoopTaskConfig.cmake ${PROJECT_BINARY_DIR}/package/LoopTaskConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT library)

# The prefix as seen from the folder of the .pc file.
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/looptask-core.pc.in ${PROJECT_BINARY_DIR}/package/looptask-core.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/looptask-core.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
