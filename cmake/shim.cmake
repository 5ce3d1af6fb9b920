# The shim (src/host/shim): a program of a few kilobytes without a C library, which the core library carries as bytes. Built with
# options of its own: no sanitizer, no coverage, nothing that needs a library or a start-up.
# looptask_shim_image(TARGET): lets TARGET include "host/shim_image.inc", the bytes of the shim separated by commas; none where the
# shim has no system calls for the processor, and then there is no containment by it.
function(looptask_shim_image target)
  set(folder ${PROJECT_BINARY_DIR}/generated)
  set(image ${folder}/host/shim_image.inc)
  target_include_directories(${target} PRIVATE ${folder})
  file(MAKE_DIRECTORY ${folder}/host)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
    file(WRITE ${image} "")
    return()
  endif()
  add_executable(looptask_shim ${PROJECT_SOURCE_DIR}/src/host/shim/shim.cpp)
  # Not added to those of the folder, but in their place.
  set_target_properties(looptask_shim PROPERTIES LINK_LIBRARIES "" LINK_OPTIONS "" COMPILE_OPTIONS
    "-Os;-ffreestanding;-fno-exceptions;-fno-rtti;-fno-stack-protector;-fno-asynchronous-unwind-tables;-fno-pic;-fno-pie;-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
  target_compile_options(looptask_shim PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
  target_link_options(looptask_shim PRIVATE -static -nostdlib -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,-s)
  target_include_directories(looptask_shim PRIVATE ${PROJECT_SOURCE_DIR}/src)
  add_custom_command(OUTPUT ${image}
    COMMAND ${CMAKE_COMMAND} -DIMAGE=$<TARGET_FILE:looptask_shim> -DTO=${image} -P ${PROJECT_SOURCE_DIR}/cmake/bytes.cmake
    DEPENDS looptask_shim ${PROJECT_SOURCE_DIR}/cmake/bytes.cmake VERBATIM)
  target_sources(${target} PRIVATE ${image})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/host/process_shim.cpp PROPERTIES OBJECT_DEPENDS ${image})
endfunction()
