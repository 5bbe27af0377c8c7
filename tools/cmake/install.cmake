# find_package(Tensor) -> tensor::tensor, and find_package(Torch) -> ${TORCH_LIBRARIES} beside it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(tensor PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS tensor EXPORT TensorTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder c10 aten autograd csrc)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION include
    FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh" PATTERN "api" EXCLUDE PATTERN "onednn" EXCLUDE)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/csrc/api/ DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
install(DIRECTORY ${GENERATED}/include/ DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")

set(PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Tensor)
install(EXPORT TensorTargets NAMESPACE tensor:: DESTINATION ${PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TensorConfig.cmake.in ${PROJECT_BINARY_DIR}/TensorConfig.cmake
  INSTALL_DESTINATION ${PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TensorConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TensorConfig.cmake ${PROJECT_BINARY_DIR}/TensorConfigVersion.cmake
  DESTINATION ${PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TorchConfig.cmake.in ${PROJECT_BINARY_DIR}/TorchConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Torch)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TorchConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TorchConfig.cmake ${PROJECT_BINARY_DIR}/TorchConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Torch)
