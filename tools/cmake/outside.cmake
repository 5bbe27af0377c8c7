# The outside project: built against an install, as a user of the library would.
add_test(NAME outside COMMAND bash ${PROJECT_SOURCE_DIR}/test/outside/run.sh ${PROJECT_BINARY_DIR})
set_tests_properties(outside PROPERTIES TIMEOUT 600)
