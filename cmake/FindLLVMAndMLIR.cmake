# Finds LLVM and MLIR 22 and provides one target, `tilec_mlir`, that stands for
# all of both: the two shared libraries, or with TILEC_STATIC every archive the
# linker may draw from (unused sections are dropped).

set(TILEC_LLVM_PREFIX "/usr/lib/llvm-22" CACHE PATH
    "Where LLVM and MLIR 22 are installed")
list(PREPEND CMAKE_PREFIX_PATH ${TILEC_LLVM_PREFIX})

# The packaged version files accept only an exact "22.1", so the version is
# checked by hand.
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "tilec needs LLVM and MLIR 22, found "
                      "${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}. "
                      "scripts/setup installs them.")
endif()

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# The packaged configuration names mlir-tblgen, but not llvm-tblgen, which
# command-line options are written for.
set(LLVM_TABLEGEN_EXE ${LLVM_TOOLS_BINARY_DIR}/llvm-tblgen)
# TableGen searches the folders' include directories, not those of targets.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

add_library(tilec_mlir INTERFACE)
target_include_directories(tilec_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS}
                                                       ${MLIR_INCLUDE_DIRS})
separate_arguments(TILEC_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(tilec_mlir INTERFACE ${TILEC_LLVM_DEFINITIONS})

if(TILEC_STATIC)
  # The packaged targets of the archives name the shared libraries as their
  # dependencies, so they are of no use here. All archives are listed instead:
  # lld takes from them only the members that are referred to, whatever their
  # order.
  file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a
                     ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  target_link_libraries(tilec_mlir INTERFACE ${archives}
    -l:libz.a -l:libzstd.a dl m pthread)
  target_link_options(tilec_mlir INTERFACE
    -fuse-ld=lld -Wl,--gc-sections -static-libstdc++ -static-libgcc)
else()
  target_link_libraries(tilec_mlir INTERFACE MLIR LLVM)
endif()
