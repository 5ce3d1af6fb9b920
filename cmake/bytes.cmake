# cmake -DIMAGE=file -DTO=file -P bytes.cmake: the bytes of IMAGE as C++ literals, separated by commas.
file(READ ${IMAGE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${TO} "${bytes}\n")
