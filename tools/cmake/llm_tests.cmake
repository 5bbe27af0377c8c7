# Tests of torch::llm, where it is built.
if(TARGET tensor_llm)
  file(GLOB_RECURSE LLM_TESTS CONFIGURE_DEPENDS test/llm/*.cpp)
  tensor_test(llm SOURCES ${LLM_TESTS} LIBRARIES tensor_llm)
  target_compile_definitions(test_llm PRIVATE TEST_LLM_DATA="${PROJECT_SOURCE_DIR}/test/llm/data")
endif()
