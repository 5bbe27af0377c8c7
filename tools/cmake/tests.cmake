# Catch2 programs, one for each folder of test/, and how ctest runs them:
# fast cases by default, [slow] ones under the label "slow", [threads] ones also under "threads" (for ThreadSanitizer).
find_package(Catch2 REQUIRED)

file(GLOB SUPPORT_SOURCES CONFIGURE_DEPENDS test/support/*.cpp)
add_library(test_support STATIC ${SUPPORT_SOURCES})
target_include_directories(test_support PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(test_support PUBLIC tensor Catch2::Catch2)
target_compile_options(test_support PRIVATE -O1 -Wall -Wextra)
set_target_properties(test_support PROPERTIES CXX_VISIBILITY_PRESET default)

add_library(test_seeded_cases OBJECT test/seeded_cases.cpp)
target_link_libraries(test_seeded_cases PRIVATE test_support)

# The programs whose sources mostly begin with these headers; the first of them precompiles them for all.
set(PRECOMPILED_TESTS aten autograd api backend nn optim amp profiler data serialize sparse ops jit cuda_emulated distributed fx capture
  aot compile cuda_plugin func)
set(PRECOMPILED_TEST_HEADERS <catch2/catch.hpp> <torch/torch.h>)

# compile_quickly(TARGET): for what is compiled more often than it runs long; its sources share the precompiled headers of the tests.
function(compile_quickly target)
  target_compile_options(${target} PRIVATE -O0 -Wall -Wextra)
  target_link_libraries(${target} PRIVATE fmt::fmt) # whose definitions the precompiled headers saw
  if(TENSOR_PRECOMPILE)
    list(GET PRECOMPILED_TESTS 0 first)
    target_precompile_headers(${target} REUSE_FROM test_${first})
  endif()
endfunction()

function(tensor_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(test_${name} ${TEST_SOURCES} $<TARGET_OBJECTS:test_seeded_cases>)
  target_link_libraries(test_${name} PRIVATE test_support tensor Catch2::Catch2WithMain fmt::fmt ${CMAKE_DL_LIBS} ${TEST_LIBRARIES})
  # Tests are compiled more often than they are run: their references, which do the work, are optimized in test_support.
  target_compile_options(test_${name} PRIVATE -O0 -Wall -Wextra)
  list(FIND PRECOMPILED_TESTS ${name} place)
  if(TENSOR_PRECOMPILE AND place EQUAL 0)
    target_precompile_headers(test_${name} PRIVATE ${PRECOMPILED_TEST_HEADERS})
  elseif(TENSOR_PRECOMPILE AND place GREATER 0)
    list(GET PRECOMPILED_TESTS 0 first)
    target_precompile_headers(test_${name} REUSE_FROM test_${first})
  endif()
  add_test(NAME ${name} COMMAND test_${name} "~[slow]~[.]" --rng-seed 1)
  add_test(NAME ${name}_slow COMMAND test_${name} "[slow]" --rng-seed 1)
  add_test(NAME ${name}_threads COMMAND test_${name} "[threads]" --rng-seed 1)
  set_tests_properties(${name}_slow PROPERTIES LABELS slow)
  set_tests_properties(${name}_threads PROPERTIES LABELS "threads;slow")
endfunction()

set(tested_folders c10 aten autograd api backend nn optim amp data serialize sparse quantized profiler jit distributed fx capture aot compile func)
foreach(folder ${tested_folders})
  file(GLOB sources CONFIGURE_DEPENDS test/${folder}/*.cpp)
  if(sources)
    tensor_test(${folder} SOURCES ${sources})
    # Those of the others use the same names for different things.
    if(TENSOR_BATCHES AND NOT folder MATCHES "^(c10|api|jit|distributed)$")
      compile_in_batches(test_${folder} 4 "" ${sources})
    endif()
  endif()
endforeach()
target_sources(test_backend PRIVATE test/distributed/ranks.cpp test/distributed/expect.cpp)

# Replays recorded calls.
target_sources(test_func PRIVATE test/conformance/arguments.cpp test/conformance/compare.cpp test/conformance/corpus.cpp
  test/conformance/json.cpp test/conformance/tensors.cpp)
target_compile_definitions(test_func PRIVATE FUNC_TEST_FOLDER="${PROJECT_SOURCE_DIR}/test/func")

# Backends in libraries of their own, where they are built.
if(TARGET tensor_gloo)
  add_dependencies(test_distributed tensor_gloo)
endif()
if(TARGET tensor_mpi)
  add_executable(test_distributed_mpi test/distributed/mpi/mpi_test.cpp test/distributed/backend_cases.cpp
    test/distributed/expect.cpp)
  target_link_libraries(test_distributed_mpi PRIVATE test_support tensor_mpi tensor MPI::MPI_CXX
    Catch2::Catch2WithMain fmt::fmt)
  target_compile_options(test_distributed_mpi PRIVATE -O0 -Wall -Wextra)
  foreach(ranks 1 2 4)
    add_test(NAME distributed_mpi_${ranks} COMMAND ${MPIEXEC_EXECUTABLE} --allow-run-as-root --oversubscribe
      --mca btl_vader_single_copy_mechanism none -np ${ranks} $<TARGET_FILE:test_distributed_mpi>)
    set_tests_properties(distributed_mpi_${ranks} PROPERTIES TIMEOUT 120)
  endforeach()
endif()

# The NCCL plugin's own code on a device whose streams are threads, over a stand-in for NCCL: needs headers of both, no compiler for kernels.
if(NCCL_INCLUDE_DIR AND CUDA_HEADERS)
  file(GLOB NCCL_TESTS CONFIGURE_DEPENDS test/cuda/nccl/*.cpp)
  file(GLOB STREAM_SOURCES CONFIGURE_DEPENDS c10/cuda/*.cpp c10/cuda/impl/*.cpp)
  add_library(standin_nccl MODULE test/cuda/nccl/standin/nccl.cpp)
  target_include_directories(standin_nccl PRIVATE ${PROJECT_SOURCE_DIR} SYSTEM ${NCCL_INCLUDE_DIR} ${CUDA_HEADERS})
  target_link_libraries(standin_nccl PRIVATE tensor)
  target_compile_options(standin_nccl PRIVATE -O1 -Wall -Wextra)
  set_target_properties(standin_nccl PROPERTIES CXX_VISIBILITY_PRESET default)
  tensor_test(nccl SOURCES ${NCCL_TESTS} ${NCCL_SOURCES} ${STREAM_SOURCES} test/distributed/ranks.cpp test/distributed/expect.cpp)
  target_include_directories(test_nccl SYSTEM PRIVATE ${NCCL_INCLUDE_DIR} ${CUDA_HEADERS})
  target_compile_definitions(test_nccl PRIVATE STANDIN_NCCL="$<TARGET_FILE:standin_nccl>"
    REAL_NCCL="${NCCL_INCLUDE_DIR}/../lib64/libnccl.so.2")
  set_target_properties(test_nccl PROPERTIES ENABLE_EXPORTS ON CXX_VISIBILITY_PRESET default) # for the stand-in
  add_dependencies(test_nccl standin_nccl)
endif()

# Programs without NDEBUG get assertions from the headers.
add_executable(test_c10_debug test/c10/debug/reference_counts_test.cpp)
target_link_libraries(test_c10_debug PRIVATE tensor Catch2::Catch2WithMain)
target_compile_options(test_c10_debug PRIVATE -O0 -UNDEBUG -Wall -Wextra)
add_test(NAME c10_debug COMMAND test_c10_debug)

# A library that registers operators, to be opened and closed again.
add_library(dispatcher_plugin MODULE test/aten/plugin/dispatcher_plugin.cpp)
target_link_libraries(dispatcher_plugin PRIVATE tensor)
target_compile_options(dispatcher_plugin PRIVATE -O0)
add_dependencies(test_aten dispatcher_plugin)
set_source_files_properties(test/aten/dispatcher_registration_test.cpp PROPERTIES
  COMPILE_DEFINITIONS DISPATCHER_PLUGIN="$<TARGET_FILE:dispatcher_plugin>")

if(TARGET test_profiler)
  target_sources(test_profiler PRIVATE test/conformance/json.cpp) # to read traces
endif()
if(TARGET test_serialize)
  target_compile_definitions(test_serialize PRIVATE TEST_SERIALIZE_DATA="${PROJECT_SOURCE_DIR}/test/serialize/data")
endif()
if(TARGET test_fx)
  target_compile_definitions(test_fx PRIVATE TEST_PROGRAMS_DATA="${PROJECT_SOURCE_DIR}/test/programs/data")
endif()
target_compile_definitions(test_quantized PRIVATE TEST_QUANTIZED_DATA="${PROJECT_SOURCE_DIR}/test/quantized/data")
target_compile_definitions(test_jit PRIVATE TEST_JIT_DATA="${PROJECT_SOURCE_DIR}/test/jit/data")
set_source_files_properties(test/distributed/pytorch_test.cpp test/distributed/docs_test.cpp PROPERTIES
  COMPILE_DEFINITIONS TEST_DISTRIBUTED_DATA="${PROJECT_SOURCE_DIR}/test/distributed/data")

# sources_without(RESULT REGEX SOURCE...): those whose includes, and those of their own header, do not match.
function(sources_without result regex)
  set(kept "")
  foreach(source ${ARGN})
    string(REGEX REPLACE "[.]cpp$" ".h" header ${source})
    file(STRINGS ${source} found REGEX "#include <${regex}" LIMIT_COUNT 1)
    if(NOT found AND EXISTS ${header})
      file(STRINGS ${header} found REGEX "#include <${regex}" LIMIT_COUNT 1)
    endif()
    if(NOT found)
      list(APPEND kept ${source})
    endif()
  endforeach()
  set(${result} ${kept} PARENT_SCOPE)
endfunction()

# The logic of the CUDA plugin that needs neither a device nor the toolkit: plans of kernels, and what sees no header of the toolkit
# (or of ours around one, which begin with CUDA).
file(GLOB CUDA_HOST_TESTS CONFIGURE_DEPENDS test/cuda/host/*.cpp)
file(GLOB host_logic CONFIGURE_DEPENDS c10/cuda/impl/*.cpp aten/cuda/impl/*.cpp csrc/cuda/*.cpp)
sources_without(host_logic "(cu[a-z_]*[.]h|.*/CUDA[A-Z])" ${host_logic})
file(GLOB kernel_plans CONFIGURE_DEPENDS aten/native/cuda/*_plan.cpp)
tensor_test(cuda_host SOURCES ${CUDA_HOST_TESTS} ${host_logic} ${kernel_plans} aten/native/cuda/image.cpp)

# The plugin itself. Cases that need a GPU pass at once without one.
if(TARGET tensor_cuda)
  file(GLOB CUDA_PLUGIN_TESTS CONFIGURE_DEPENDS test/cuda/plugin/*.cpp)
  tensor_test(cuda_plugin SOURCES ${CUDA_PLUGIN_TESTS} LIBRARIES tensor_cuda CUDA::cudart CUDA::cublas)
  target_compile_definitions(test_cuda_plugin PRIVATE CUDA_PLUGIN="$<TARGET_FILE:tensor_cuda>")
  # What fails on a device, which libraries that do nothing stand for.
  add_test(NAME cuda_failures COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/cuda/idle_cuda/idle_cuda.py
    ${PROJECT_BINARY_DIR}/idle_cuda $<TARGET_FILE:test_cuda_plugin> "[idle]")
  set_tests_properties(cuda_failures PROPERTIES ENVIRONMENT IDLE_CUDA_DEVICES=2)
  # An allocator of the program's takes the place of the library's for good.
  add_test(NAME cuda_allocator COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/cuda/idle_cuda/idle_cuda.py
    ${PROJECT_BINARY_DIR}/idle_cuda $<TARGET_FILE:test_cuda_plugin> "[allocator]")
  # An extension with the headers that those of programs include, compiled as they are.
  file(GLOB CUDA_CLIENT_KERNELS CONFIGURE_DEPENDS test/cuda/clients/*.cu)
  file(GLOB CUDA_CLIENT_TESTS CONFIGURE_DEPENDS test/cuda/clients/*.cpp)
  add_library(test_cuda_client_kernels OBJECT ${CUDA_CLIENT_KERNELS})
  set_target_properties(test_cuda_client_kernels PROPERTIES CUDA_STANDARD 17)
  target_compile_options(test_cuda_client_kernels PRIVATE --expt-relaxed-constexpr --extended-lambda
    -Xcompiler=-O0 -Xcicc=-O1 -Xptxas=-O0) # that they compile and run is what is tested
  target_link_libraries(test_cuda_client_kernels PRIVATE tensor CUDA::cudart CUDA::cublas)
  tensor_test(cuda_clients SOURCES ${CUDA_CLIENT_TESTS} $<TARGET_OBJECTS:test_cuda_client_kernels>
    LIBRARIES tensor_cuda CUDA::cudart CUDA::cublas)
  # A driver that cannot do anything: then libtensor opens the plugin, which must say so.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/no_driver/empty.cpp CONTENT "")
  add_library(no_driver SHARED ${PROJECT_BINARY_DIR}/no_driver/empty.cpp)
  set_target_properties(no_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/no_driver)
  add_test(NAME cuda_unusable_driver COMMAND test_aten "[cuda]")
  set_tests_properties(cuda_unusable_driver PROPERTIES ENVIRONMENT LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/no_driver)
endif()

file(GLOB OPS_SOURCES CONFIGURE_DEPENDS test/ops/*.cpp test/ops/samples/*.cpp)
if(OPS_SOURCES AND EXISTS ${GENERATED}/test/op_rows.cpp)
  file(GLOB OP_ROWS ${GENERATED}/test/*.cpp)
  tensor_test(ops SOURCES ${OPS_SOURCES} ${OP_ROWS})
  target_compile_definitions(test_ops PRIVATE TEST_OPS_FOLDER="${PROJECT_SOURCE_DIR}/test/ops")
  if(TENSOR_BATCHES)
    compile_in_batches(test_ops 5 "" ${OP_ROWS})
  endif()
endif()

file(GLOB CONFORMANCE_SOURCES CONFIGURE_DEPENDS test/conformance/*.cpp)
add_executable(conformance ${CONFORMANCE_SOURCES})
target_link_libraries(conformance PRIVATE test_support tensor)
target_compile_definitions(conformance PRIVATE CONFORMANCE_DATA="${PROJECT_SOURCE_DIR}/test/conformance/data")
target_include_directories(conformance PRIVATE ${PROJECT_SOURCE_DIR})
compile_quickly(conformance)
add_test(NAME conformance COMMAND conformance ${PROJECT_SOURCE_DIR}/test/conformance/data)

# Recorded TorchScript programs; see test/programs/README.md.
file(GLOB PROGRAMS_SOURCES CONFIGURE_DEPENDS test/programs/*.cpp)
add_executable(programs ${PROGRAMS_SOURCES} test/conformance/compare.cpp test/conformance/corpus.cpp
  test/conformance/json.cpp test/conformance/tensors.cpp test/conformance/workers.cpp)
target_link_libraries(programs PRIVATE test_support tensor)
target_include_directories(programs PRIVATE ${PROJECT_SOURCE_DIR})
compile_quickly(programs)
add_test(NAME programs COMMAND programs ${PROJECT_SOURCE_DIR}/test/programs/data)

# The levels of instruction sets below the processor's: recorded calls, values of operators, and what threads must not change.
# tools/dev/check --isa runs all tests so.
foreach(level v2 v3)
  add_test(NAME conformance_${level} COMMAND conformance ${PROJECT_SOURCE_DIR}/test/conformance/data)
  add_test(NAME threads_${level} COMMAND test_aten "[threads]" --rng-seed 1)
  set_tests_properties(conformance_${level} threads_${level} PROPERTIES ENVIRONMENT LIBTENSOR_CPU_ISA=${level})
endforeach()
if(TARGET test_ops)
  add_test(NAME ops_values_v3 COMMAND test_ops "[values]" --rng-seed 1)
  set_tests_properties(ops_values_v3 PROPERTIES ENVIRONMENT LIBTENSOR_CPU_ISA=v3)
endif()

# Calls of all operators with arguments nobody would write; see docs/testing.md.
file(GLOB FUZZ_SOURCES CONFIGURE_DEPENDS test/fuzz/*.cpp)
add_executable(fuzz_ops ${FUZZ_SOURCES} test/ops/boxed_op.cpp test/ops/determined.cpp
  test/conformance/arguments.cpp test/conformance/corpus.cpp test/conformance/json.cpp test/conformance/tensors.cpp)
target_link_libraries(fuzz_ops PRIVATE test_support tensor)
target_compile_definitions(fuzz_ops PRIVATE CONFORMANCE_DATA="${PROJECT_SOURCE_DIR}/test/conformance/data")
target_include_directories(fuzz_ops PRIVATE ${PROJECT_SOURCE_DIR})
compile_quickly(fuzz_ops)
add_test(NAME fuzz COMMAND fuzz_ops --calls 12000 --time 15)
file(GLOB FUZZ_MODULES CONFIGURE_DEPENDS test/fuzz/modules/*.cpp)
add_executable(fuzz_modules ${FUZZ_MODULES} test/fuzz/forked_cases.cpp)
target_link_libraries(fuzz_modules PRIVATE test_support tensor)
target_include_directories(fuzz_modules PRIVATE ${PROJECT_SOURCE_DIR})
compile_quickly(fuzz_modules)
add_test(NAME fuzz_modules COMMAND fuzz_modules --cases 5000)
set_tests_properties(fuzz_modules PROPERTIES ENVIRONMENT OMP_NUM_THREADS=1)

# Sources of TorchScript, changed; see docs/testing.md.
file(GLOB FUZZ_TORCHSCRIPT CONFIGURE_DEPENDS test/fuzz/sources/*.cpp)
add_executable(fuzz_sources ${FUZZ_TORCHSCRIPT} test/fuzz/forked_cases.cpp test/fuzz/attempt.cpp test/ops/boxed_op.cpp test/conformance/json.cpp)
target_link_libraries(fuzz_sources PRIVATE test_support tensor)
target_include_directories(fuzz_sources PRIVATE ${PROJECT_SOURCE_DIR})
compile_quickly(fuzz_sources)
target_compile_definitions(fuzz_sources PRIVATE FUZZ_SOURCES="${PROJECT_SOURCE_DIR}/test/programs/data/source/source.jsonl")
add_test(NAME fuzz_sources COMMAND fuzz_sources --cases 20000 --time 10)
set_tests_properties(fuzz_sources PROPERTIES ENVIRONMENT OMP_NUM_THREADS=1)

# The readers of files with damaged ones; see docs/testing.md. The plain driver runs everywhere.
set(FUZZ_READERS test/fuzz/readers/readers.cpp test/fuzz/readers/inputs.cpp)
add_executable(fuzz_readers ${FUZZ_READERS} test/fuzz/readers/replay.cpp csrc/utils/crc32.cpp)
target_link_libraries(fuzz_readers PRIVATE tensor)
target_include_directories(fuzz_readers PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(fuzz_readers PRIVATE -O1 -Wall -Wextra)
target_compile_definitions(fuzz_readers PRIVATE FUZZ_PROGRAMS="${PROJECT_SOURCE_DIR}/test/jit/data/import")
add_test(NAME fuzz_readers COMMAND fuzz_readers --changes 20000 --time 10)
set_tests_properties(fuzz_readers PROPERTIES ENVIRONMENT OMP_NUM_THREADS=1)

# The same under libFuzzer, whatever compiler builds the rest: the readers' sources are compiled once more, with clang, its
# coverage and AddressSanitizer, and stand before those of the library.
option(TENSOR_FUZZERS "Build libFuzzer's target of the readers; needs clang++" OFF)
if(TENSOR_FUZZERS)
  find_program(CLANGXX NAMES clang++ clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 REQUIRED)
  file(GLOB READER_SOURCES CONFIGURE_DEPENDS csrc/serialize/*.cpp)
  list(APPEND READER_SOURCES ${PROJECT_SOURCE_DIR}/csrc/utils/crc32.cpp
    ${PROJECT_SOURCE_DIR}/csrc/data/datasets/mnist.cpp ${PROJECT_SOURCE_DIR}/csrc/data/datasets/cifar.cpp
    ${PROJECT_SOURCE_DIR}/csrc/data/datasets/byte_images.cpp)
  foreach(source ${FUZZ_READERS} test/fuzz/readers/fuzzer.cpp)
    list(APPEND READER_SOURCES ${PROJECT_SOURCE_DIR}/${source})
  endforeach()
  foreach(source ${READER_SOURCES})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    string(REPLACE "/" "_" name ${name})
    set(object ${PROJECT_BINARY_DIR}/fuzzers/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/fuzzers
      COMMAND ${CLANGXX} -std=c++20 -O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address -I${PROJECT_SOURCE_DIR}
        -I${GENERATED}/api -I${GENERATED}/include "-DFUZZ_PROGRAMS=\"${PROJECT_SOURCE_DIR}/test/jit/data/import\"" -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
    list(APPEND READER_OBJECTS ${object})
  endforeach()
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/fuzz_readers_libfuzzer
    COMMAND ${CLANGXX} -fsanitize=fuzzer,address ${READER_OBJECTS} $<TARGET_FILE:tensor> -lfmt
      -Wl,-rpath,${PROJECT_BINARY_DIR} -o ${PROJECT_BINARY_DIR}/fuzz_readers_libfuzzer
    DEPENDS ${READER_OBJECTS} tensor VERBATIM)
  add_custom_target(libfuzzer ALL DEPENDS ${PROJECT_BINARY_DIR}/fuzz_readers_libfuzzer)
endif()

# The kernels of the plugin run by an emulator: their sources made ordinary C++, CPU tensors in place of GPU ones.
if(TARGET tensor_cuda)
  set(EMULATED ${PROJECT_BINARY_DIR}/emulated)
  # Not CUB's sorting, and not what works with events, guards or allocators of the runtime. Nothing that is emulated calls the three
  # sources that are named.
  file(GLOB emulated_kernels CONFIGURE_DEPENDS aten/native/cuda/*.cu)
  file(GLOB host_sources CONFIGURE_DEPENDS aten/native/cuda/*.cpp)
  foreach(name sort.cu join.cpp random_sobol.cpp operator_errors.cpp)
    set(source ${PROJECT_SOURCE_DIR}/aten/native/cuda/${name})
    if(NOT EXISTS ${source})
      message(FATAL_ERROR "test_cuda_emulated leaves out ${source}, which is not there: give its new name in tools/cmake/tests.cmake")
    endif()
    list(REMOVE_ITEM emulated_kernels ${source})
    list(REMOVE_ITEM host_sources ${source})
  endforeach()
  sources_without(host_sources "(c10/cuda/(CUDAEvent|CUDAGuard|CUDACachingAllocator|impl/)|aten/cuda/CachingHostAllocator)" ${host_sources})
  set(kernel_sources ${emulated_kernels} ${PROJECT_SOURCE_DIR}/test/cuda/emulated/functors.cu
    ${PROJECT_SOURCE_DIR}/test/cuda/clients/toolbox.cu ${PROJECT_SOURCE_DIR}/test/cuda/clients/borrowed.cu
    ${PROJECT_SOURCE_DIR}/test/outside/fused_norm/kernels.cu)
  list(TRANSFORM kernel_sources REPLACE "^${PROJECT_SOURCE_DIR}/(.+)[.]cu$" "${EMULATED}/\\1_cu.cpp" OUTPUT_VARIABLE translated)
  file(GLOB kernel_headers CONFIGURE_DEPENDS aten/native/cuda/*.cuh csrc/compat/aten/native/cuda/*.cuh
    csrc/compat/aten/native/cuda/DistributionTemplates.h csrc/compat/aten/cuda/CUDAApplyUtils.cuh)
  list(TRANSFORM kernel_headers REPLACE "${PROJECT_SOURCE_DIR}" "${EMULATED}" OUTPUT_VARIABLE translated_headers)
  add_custom_command(OUTPUT ${translated} BYPRODUCTS ${translated_headers} # else a changed header is seen one build late
    COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/cuda/emulated/translate.py ${PROJECT_SOURCE_DIR} ${EMULATED}
      ${kernel_sources} ${kernel_headers} # leaves alone what stays the same, so that only the others compile
    DEPENDS test/cuda/emulated/translate.py ${kernel_sources} ${kernel_headers})
  # Those of clients come with headers of their own; the library's share the emulator's.
  set(translated_clients ${EMULATED}/test/cuda/clients/toolbox_cu.cpp ${EMULATED}/test/cuda/clients/borrowed_cu.cpp
    ${EMULATED}/test/outside/fused_norm/kernels_cu.cpp)
  set(translated_kernels ${translated})
  list(REMOVE_ITEM translated_kernels ${translated_clients})
  set(translated_warnings -Wno-unknown-pragmas -Wno-type-limits -Wno-unused-parameter)
  add_library(test_emulated_kernels OBJECT ${translated_kernels})
  target_compile_options(test_emulated_kernels PRIVATE -O0 -Wall -Wextra ${translated_warnings})
  target_include_directories(test_emulated_kernels BEFORE PRIVATE ${EMULATED})
  target_include_directories(test_emulated_kernels PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(test_emulated_kernels PRIVATE test_support tensor)
  if(TENSOR_PRECOMPILE)
    target_precompile_headers(test_emulated_kernels PRIVATE ${PROJECT_SOURCE_DIR}/test/cuda/emulated/emulator.h
      ${PROJECT_SOURCE_DIR}/aten/core/Tensor.h)
  else()
    target_compile_options(test_emulated_kernels PRIVATE -include ${PROJECT_SOURCE_DIR}/test/cuda/emulated/emulator.h)
  endif()
  set_source_files_properties(${translated_clients} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/test/outside/fused_norm"
    COMPILE_OPTIONS "-include;${PROJECT_SOURCE_DIR}/test/cuda/emulated/warp_functions.h;${translated_warnings}")
  file(GLOB EMULATOR_SOURCES CONFIGURE_DEPENDS test/cuda/emulated/*.cpp)
  list(APPEND EMULATOR_SOURCES test/cuda/emulated/plugin/device_thread.cpp test/cuda/emulated/plugin/streams.cpp test/cuda/emulated/plugin/work.cpp)
  tensor_test(cuda_emulated SOURCES ${EMULATOR_SOURCES} ${translated_clients} $<TARGET_OBJECTS:test_emulated_kernels> ${host_sources}
    aten/cuda/CUDAGeneratorImpl.cpp csrc/compat/aten/native/cuda/loop_dtypes.cpp
    aten/cuda/CudnnHandles.cpp test/cuda/clients/toolbox_test.cpp test/cuda/clients/borrowed_test.cpp
    test/outside/fused_norm/ops.cpp)
  set_tests_properties(cuda_emulated PROPERTIES COST 100) # the longest begins first
  if(TENSOR_BATCHES)
    set_target_properties(test_cuda_emulated PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP) # the batches of tensor_cuda
  endif()
  target_include_directories(test_cuda_emulated BEFORE PRIVATE ${EMULATED})
  target_include_directories(test_cuda_emulated PRIVATE ${CUDAToolkit_INCLUDE_DIRS} test/cuda/clients)
endif()

# What needs a GPU: without one ctest says "Skipped".
file(GLOB CUDA_SOURCES CONFIGURE_DEPENDS test/cuda/device/*.cpp)
if(TARGET tensor_cuda AND CUDA_SOURCES)
  add_executable(test_cuda ${CUDA_SOURCES} $<TARGET_OBJECTS:test_seeded_cases>)
  target_link_libraries(test_cuda PRIVATE test_support tensor Catch2::Catch2)
  compile_quickly(test_cuda)
  set_source_files_properties(test/cuda/device/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # asks Catch2 for its runner
  add_dependencies(test_cuda tensor_cuda)
  add_test(NAME cuda COMMAND test_cuda --rng-seed 1)
  set_tests_properties(cuda PROPERTIES SKIP_RETURN_CODE 77)
endif()

# Kernels that every training step runs spill no registers; without cuobjdump ctest says "Skipped".
if(TARGET tensor_cuda)
  add_test(NAME cuda_audit COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/tools/dev/cuda_audit --check $<TARGET_FILE:tensor_cuda>)
  set_tests_properties(cuda_audit PROPERTIES SKIP_RETURN_CODE 77)
endif()

# What calls cost in instructions, counted by callgrind; without valgrind ctest says "Skipped".
if(NOT TENSOR_SANITIZER)
  add_executable(call_counts tools/bench/call_counts.cpp)
  target_link_libraries(call_counts PRIVATE tensor)
  add_test(NAME call_counts COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/tools/bench/call_counts $<TARGET_FILE:call_counts>)
  set_tests_properties(call_counts PROPERTIES SKIP_RETURN_CODE 77)
endif()

# Bytes of the library as programs ship it. Other options give other sizes.
if(NOT TENSOR_SANITIZER AND CMAKE_BUILD_TYPE STREQUAL Release)
  add_test(NAME library_size COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/tools/bench/library_size $<TARGET_FILE:tensor>)
  set_tests_properties(library_size PROPERTIES SKIP_RETURN_CODE 77)
endif()

# Programs that open the library while they run; sanitizers must be there from the start.
if(NOT TENSOR_SANITIZER)
  add_test(NAME opened_later COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/api/opened_later.py $<TARGET_FILE:tensor>)
endif()

# What it costs to include the whole library: a ratio, which other tests beside it leave as it is.
if(NOT TENSOR_SANITIZER)
  add_test(NAME include_cost COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/tools/bench/include_cost
    ${CMAKE_CXX_COMPILER} ${PROJECT_BINARY_DIR})
endif()

# What the generator and the daily scripts promise.
add_test(NAME touched_entry COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/touched_entry.py ${PROJECT_BINARY_DIR})
add_test(NAME cuda_check COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/cuda_check.py)
add_test(NAME layers COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/layers.py)
add_test(NAME one_definition COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/one_definition.py)
add_test(NAME kernel_files COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/kernel_files.py)
add_test(NAME where_places COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/where_places.py ${PROJECT_BINARY_DIR})
add_test(NAME entry_fields COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/entry_fields.py)
add_test(NAME entry_errors COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/entry_errors.py)
add_test(NAME test_names COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/test_names.py)
# Skipped where clang-format-16 is not installed; the gate installs it.
add_test(NAME formatted COMMAND ${PROJECT_SOURCE_DIR}/tools/dev/format --check)
set_tests_properties(touched_entry formatted PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME documented_headers COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/documented.py)
add_test(NAME doc_paths COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/tools/doc_paths.py)

# Headers that programs include compile alone, and together.
if(NOT TENSOR_SANITIZER)
  add_test(NAME headers_alone COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/api/headers_alone.py
    ${CMAKE_CXX_COMPILER} ${PROJECT_BINARY_DIR})
  set_tests_properties(headers_alone PROPERTIES LABELS slow)
  add_test(NAME entry_headers COMMAND ${CODEGEN_PYTHON} ${PROJECT_SOURCE_DIR}/test/api/headers_alone.py
    ${CMAKE_CXX_COMPILER} ${PROJECT_BINARY_DIR} --entry)
endif()
