# Debian's packages only; nothing is fetched. Each has its line in docs/dependencies.md.
find_package(Threads REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)

# Debian's cctz brings no CMake or pkg-config file.
find_library(CCTZ_LIBRARY cctz REQUIRED)
find_path(CCTZ_INCLUDE cctz/time_zone.h REQUIRED)
add_library(cctz::cctz UNKNOWN IMPORTED)
set_target_properties(cctz::cctz PROPERTIES IMPORTED_LOCATION ${CCTZ_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${CCTZ_INCLUDE})
