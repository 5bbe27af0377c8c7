# The CUDA backend: a library of its own that libtensor opens on first use of a CUDA device.
# Built when a toolkit is found; nothing links against it.
if(NOT TENSOR_CUDA)
  message(STATUS "CUDA plugin: off (TENSOR_CUDA=OFF)")
  return()
endif()

find_program(NVCC nvcc HINTS $ENV{CUDACXX} $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
file(GLOB_RECURSE CUDA_PLUGIN_SOURCES CONFIGURE_DEPENDS c10/cuda/*.cpp aten/native/cuda/*.cu aten/native/cuda/*.cpp
  aten/cuda/*.cpp csrc/cuda/*.cpp)
file(GLOB_RECURSE CUDA_COMPAT_SOURCES CONFIGURE_DEPENDS csrc/compat/*.cpp csrc/compat/*.cu)
list(FILTER CUDA_COMPAT_SOURCES INCLUDE REGEX "/csrc/compat/.*/cuda/")
list(APPEND CUDA_PLUGIN_SOURCES ${CUDA_COMPAT_SOURCES})
if(NOT NVCC OR NOT CUDA_PLUGIN_SOURCES)
  message(STATUS "CUDA plugin: not built, no nvcc found on PATH, in CUDA_HOME or /usr/local/cuda")
  return()
endif()

set(CMAKE_CUDA_COMPILER ${NVCC})
set(default_architectures "80-real;90-real;90-virtual")
if(DEFINED ENV{CUDAARCHS})
  set(default_architectures "$ENV{CUDAARCHS}")
endif()
set(TENSOR_CUDA_ARCHITECTURES "${default_architectures}" CACHE STRING "CUDA architectures of the plugin")
set(CMAKE_CUDA_ARCHITECTURES ${TENSOR_CUDA_ARCHITECTURES})
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
set(CMAKE_CUDA_FLAGS_RELEASE "-O2 -DNDEBUG")
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
message(STATUS "CUDA plugin: ${NVCC}, architectures ${TENSOR_CUDA_ARCHITECTURES}")

file(GLOB GENERATED_CUDA_SOURCES ${GENERATED}/cuda/*.cpp ${GENERATED}/cuda/*.cu)
add_library(tensor_cuda SHARED ${CUDA_PLUGIN_SOURCES} ${GENERATED_CUDA_SOURCES})
set_target_properties(tensor_cuda PROPERTIES CUDA_STANDARD 17 CUDA_VISIBILITY_PRESET hidden
  INSTALL_RPATH "$ORIGIN;${CUDAToolkit_LIBRARY_DIR}"
  BUILD_RPATH "$ORIGIN" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(tensor_cuda PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(tensor_cuda PRIVATE tensor CUDA::cudart CUDA::cublas CUDA::cublasLt)
target_compile_options(tensor_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --compress-mode=size -diag-suppress=186 -Xcompiler=-Wall>
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>)
if(TENSOR_PRECOMPILE)
  target_precompile_headers(tensor_cuda PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/aten/core/Tensor.h>
    $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/aten/core/TensorOperators.h>
    $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/aten/core/dispatch/BuiltinRegistration.h>)
  file(GLOB_RECURSE C10_CUDA_SOURCES CONFIGURE_DEPENDS c10/cuda/*.cpp)
  set_source_files_properties(${C10_CUDA_SOURCES} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
if(TENSOR_BATCHES)
  set(batched ${CUDA_PLUGIN_SOURCES})
  list(FILTER batched INCLUDE REGEX "/(aten/native|csrc)/cuda/[^/]*[.]cpp$")
  list(FILTER batched EXCLUDE REGEX "_plan[.]cpp$") # arithmetic that compiles without the other headers
  compile_in_batches(tensor_cuda 6 "" ${batched})
endif()
target_link_options(tensor_cuda PRIVATE -Wl,-Bsymbolic -Wl,--no-undefined)
install(TARGETS tensor_cuda EXPORT TensorTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Programs that are linked by hand say -ltorch_cuda -lc10_cuda.
foreach(name torch_cuda c10_cuda)
  file(CREATE_LINK libtensor_cuda.so ${PROJECT_BINARY_DIR}/lib${name}.so SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/lib${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
