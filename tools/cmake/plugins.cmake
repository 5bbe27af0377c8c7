# Backends of process groups over engines of the system, each in a library of its own that libtensor opens when a group asks for
# it: built where the engine's development files are.
find_path(GLOO_INCLUDE_DIR gloo/context.h)
find_library(GLOO_LIBRARY gloo)
find_package(MPI QUIET COMPONENTS CXX)

# backend_plugin(NAME SOURCE...): libtensor_NAME.so
function(backend_plugin name)
  add_library(tensor_${name} SHARED ${ARGN})
  set_target_properties(tensor_${name} PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_compile_options(tensor_${name} PRIVATE -O1 -Wall -Wextra)
  target_link_libraries(tensor_${name} PUBLIC tensor)
  install(TARGETS tensor_${name} EXPORT TensorTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

if(GLOO_INCLUDE_DIR AND GLOO_LIBRARY)
  message(STATUS "Gloo plugin: ${GLOO_LIBRARY}")
  backend_plugin(gloo csrc/distributed/plugins/gloo/GlooCarrier.cpp)
  target_include_directories(tensor_gloo SYSTEM PRIVATE ${GLOO_INCLUDE_DIR})
  target_link_libraries(tensor_gloo PRIVATE ${GLOO_LIBRARY})
else()
  message(STATUS "Gloo plugin: not built, no libgloo-dev found")
endif()

if(MPI_CXX_FOUND)
  message(STATUS "MPI plugin: MPI ${MPI_CXX_VERSION}, ${MPI_CXX_LIBRARIES}")
  backend_plugin(mpi csrc/distributed/plugins/mpi/ProcessGroupMPI.cpp csrc/distributed/plugins/mpi/MpiCarrier.cpp)
  target_link_libraries(tensor_mpi PRIVATE MPI::MPI_CXX) # programs that use its class bring MPI themselves
else()
  message(STATUS "MPI plugin: not built, no libopenmpi-dev or libmpich-dev found")
endif()

# NCCL itself is opened at run time: its header is enough.
find_path(CUDA_HEADERS cuda_runtime_api.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDA_HEADERS})
file(GLOB NCCL_SOURCES CONFIGURE_DEPENDS csrc/distributed/plugins/nccl/*.cpp)
if(TARGET tensor_cuda AND NCCL_INCLUDE_DIR)
  message(STATUS "NCCL plugin: ${NCCL_INCLUDE_DIR}/nccl.h")
  backend_plugin(nccl ${NCCL_SOURCES})
  target_include_directories(tensor_nccl SYSTEM PRIVATE ${NCCL_INCLUDE_DIR} ${CUDA_HEADERS})
  target_link_libraries(tensor_nccl PRIVATE tensor_cuda CUDA::cudart)
else()
  message(STATUS "NCCL plugin: not built, it needs the CUDA plugin and nccl.h")
endif()
