# Installs tilec, then builds and runs a project that uses it:
#   cmake -D BUILD=... -D SOURCE=... -D WORK=... -D COMPILER=... -P install.cmake

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status)
    message(FATAL_ERROR "${ARGV}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${WORK}/build)
# The standard library of the source tree would hide that of the installation.
file(GLOB_RECURSE installed ${WORK}/prefix/*/norms.tile)
if(NOT installed)
  message(FATAL_ERROR "the standard library is not installed")
endif()
run(${WORK}/build/consumer)
