# find_package(Tensor) -> tensor::tensor, and find_package(Torch) -> ${TORCH_LIBRARIES} beside it.
include(CMakePackageConfigHelpers)

set_target_properties(tensor PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS tensor EXPORT TensorTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder c10 aten autograd csrc)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION include
    FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh" PATTERN "api" EXCLUDE PATTERN "onednn" EXCLUDE)
endforeach()
install(DIRECTORY ${GENERATED}/api/ DESTINATION include)
install(DIRECTORY ${GENERATED}/include/ DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")

# Programs that are linked by hand say -ltorch -ltorch_cpu -lc10: all of it is one library here.
foreach(name torch torch_cpu c10)
  file(CREATE_LINK libtensor.so ${PROJECT_BINARY_DIR}/lib${name}.so SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/lib${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()

# The packages of the installed library, and those of the build folder: -DTorch_DIR=build serves a program, too.
set(TENSOR_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Tensor)
set(TORCH_PACKAGE_DIR share/cmake/Torch) # as in libtorch: build scripts hand -DTorch_DIR=.../share/cmake/Torch
install(EXPORT TensorTargets NAMESPACE tensor:: DESTINATION ${TENSOR_PACKAGE_DIR})
export(EXPORT TensorTargets NAMESPACE tensor:: FILE ${PROJECT_BINARY_DIR}/TensorTargets.cmake)
foreach(package Tensor Torch)
  string(TOUPPER ${package} variable)
  set(folder ${${variable}_PACKAGE_DIR})
  set(made ${PROJECT_BINARY_DIR}/installed)
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/${package}Config.cmake.in ${made}/${package}Config.cmake
    INSTALL_DESTINATION ${folder} PATH_VARS TENSOR_PACKAGE_DIR)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/${package}ConfigVersion.cmake COMPATIBILITY AnyNewerVersion)
  install(FILES ${made}/${package}Config.cmake ${PROJECT_BINARY_DIR}/${package}ConfigVersion.cmake DESTINATION ${folder})
endforeach()
set(TENSOR_PACKAGE_DIR ${PROJECT_BINARY_DIR})
foreach(package Tensor Torch)
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/${package}Config.cmake.in ${PROJECT_BINARY_DIR}/${package}Config.cmake
    INSTALL_PREFIX ${PROJECT_BINARY_DIR} INSTALL_DESTINATION ${PROJECT_BINARY_DIR} PATH_VARS TENSOR_PACKAGE_DIR)
endforeach()
