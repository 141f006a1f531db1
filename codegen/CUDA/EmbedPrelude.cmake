# Writes OUTPUT, a C++ file that holds the texts of FILES.
set(text "// Generated from prelude/*.cuh.\n#include \"codegen/CUDA/Prelude.h\"\n\n")
string(APPEND text "const char *const tilec::cuda::preludeFiles[] = {\n")
set(count 0)
foreach(file ${FILES})
  # As hexadecimal first: CMake's lists would trip over semicolons and brackets.
  file(READ ${file} content HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" content "${content}")
  # One literal a line of 8 bytes, which compilers join.
  string(REGEX REPLACE "((\\\\x..)(\\\\x..)?(\\\\x..)?(\\\\x..)?(\\\\x..)?(\\\\x..)?(\\\\x..)?(\\\\x..)?)" "\"\\1\"\n" content "${content}")
  string(APPEND text "${content},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "};\nconst unsigned tilec::cuda::preludeFileCount = ${count};\n")
file(WRITE ${OUTPUT} "${text}")
