# looptask_layer(NAME FOLDERS ... [EXCLUDE file ...] [LINKS ...] [PRIVATE_LINKS ...]): the static library looptask_NAME of all
# sources in src/FOLDER. LINKS are the layers below; PRIVATE_LINKS are libraries whose headers stay inside. That includes
# point downwards only is checked by tools/lint/layers.
function(looptask_layer name)
  cmake_parse_arguments(LAYER "" "" "FOLDERS;EXCLUDE;LINKS;PRIVATE_LINKS" ${ARGN})
  set(sources)
  foreach(folder IN LISTS LAYER_FOLDERS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  foreach(file IN LISTS LAYER_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "/${file}$")
  endforeach()
  if(sources)
    add_library(looptask_${name} STATIC ${sources})
    target_include_directories(looptask_${name}
      PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
      PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(looptask_${name} PUBLIC ${LAYER_LINKS} PRIVATE ${LAYER_PRIVATE_LINKS})
    looptask_compile_options(looptask_${name})
  else()
    add_library(looptask_${name} INTERFACE)
    target_include_directories(looptask_${name} INTERFACE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(looptask_${name} INTERFACE ${LAYER_LINKS})
  endif()
endfunction()
