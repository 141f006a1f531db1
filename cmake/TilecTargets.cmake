# How tilec's own targets are built: warnings, sanitizers, and two helpers.

add_library(tilec_flags INTERFACE)
target_compile_options(tilec_flags INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wimplicit-fallthrough
  -ffunction-sections -fdata-sections)
# The cache of compiled kernels tells builds of the compiler apart by it.
add_link_options(-Wl,--build-id=sha1)
if(TILEC_WERROR)
  target_compile_options(tilec_flags INTERFACE -Werror)
endif()
if(TILEC_SANITIZE)
  target_compile_options(tilec_flags INTERFACE
    -fsanitize=${TILEC_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(tilec_flags INTERFACE -fsanitize=${TILEC_SANITIZE})
endif()
if(TILEC_BUILD_FUZZERS)
  # Libraries report their coverage, which guides the fuzzers; libFuzzer itself
  # is linked by the fuzzers alone.
  target_compile_options(tilec_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# tilec_add_library(NAME sources... [MLIR] [DEPENDS targets...] [LINK libs...])
# A static library of tilec's. Without MLIR it sees LLVM's support headers
# only, so mathematics cannot come to depend on the IR by accident of linking.
function(tilec_add_library name)
  cmake_parse_arguments(ARG "MLIR" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} tilec_mlir
                                PRIVATE tilec_flags)
  # No exception may cross an LLVM frame: LLVM is built without them.
  target_compile_options(${name} PRIVATE -fno-exceptions)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# tilec_add_tool(NAME sources... [LINK libs...]): an executable in bin/.
function(tilec_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} tilec_mlir tilec_flags)
  target_compile_options(${name} PRIVATE -fno-exceptions)
endfunction()

# tilec_add_unit_test(NAME sources... [LINK libs...]): a Catch2 executable,
# registered with CTest under the label "unit".
function(tilec_add_unit_test name)
  cmake_parse_arguments(ARG "" "LABEL" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} tilec_mlir tilec_flags
                                        tilec_catch_main)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL})
  # test/CMakeLists.txt gathers the executables into targets.
  set_property(GLOBAL APPEND PROPERTY TILEC_TESTS ${name})
  set_property(GLOBAL APPEND PROPERTY TILEC_TESTS_${ARG_LABEL} ${name})
endfunction()
