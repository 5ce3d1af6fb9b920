set(labels e2e)
set(links SQLite::SQLite3)
set(depends looptask page-server fetch-page)
# From their neighbours: a program whose output is caught, and what is alive in the system.
list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/cli/program.cpp ${CMAKE_CURRENT_SOURCE_DIR}/kill9/service_process.cpp)
