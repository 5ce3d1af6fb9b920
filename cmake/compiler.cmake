# How everything is compiled: language, warnings, sanitizers, and a compiler cache that also serves another clone.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "kind of build" FORCE)
endif()
# Nothing in LoopTask is a debug-only check, so no build defines NDEBUG.
foreach(language_flags CMAKE_CXX_FLAGS_RELEASE CMAKE_CXX_FLAGS_RELWITHDEBINFO CMAKE_CXX_FLAGS_MINSIZEREL)
  string(REPLACE "-DNDEBUG" "" ${language_flags} "${${language_flags}}")
endforeach()

function(looptask_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror ${LOOPTASK_QUIETER})
endfunction()

# Paths in debug information and in __FILE__ are relative to the sources: the same object wherever the clone lies.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)

set(LOOPTASK_SANITIZE "" CACHE STRING "empty, address (with undefined behaviour) or thread")
if(LOOPTASK_SANITIZE STREQUAL "address")
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(LOOPTASK_SANITIZE STREQUAL "thread")
  set(sanitize -fsanitize=thread)
elseif(LOOPTASK_SANITIZE)
  message(FATAL_ERROR "LOOPTASK_SANITIZE is '${LOOPTASK_SANITIZE}'; it is empty, address or thread")
endif()
if(LOOPTASK_SANITIZE)
  add_compile_options(${sanitize} -fno-omit-frame-pointer -O1)
  add_link_options(${sanitize})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # These guess from data flow, which instrumentation changes; the plain builds have them on.
    set(LOOPTASK_QUIETER -Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  add_library(sanitizer_options OBJECT cmake/sanitizer_options.cpp)
  link_libraries($<TARGET_OBJECTS:sanitizer_options>)
endif()
option(LOOPTASK_COVERAGE "compile and link for gcov" OFF)
if(LOOPTASK_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# ccache: the sloppiness is what precompiled headers need (their time stamps differ in each clone, their content does not);
# the base directory makes paths below the sources relative before they are hashed.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache"))
  find_program(ENV_PROGRAM env REQUIRED)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ENV_PROGRAM}
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE_PROGRAM})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
