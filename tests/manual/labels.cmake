set(labels real)
set(links SQLite::SQLite3)
set(depends looptask)
list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/cli/program.cpp)
