set(labels real)
set(depends looptask)
list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/kill9/service_process.cpp)  # to see what is alive
