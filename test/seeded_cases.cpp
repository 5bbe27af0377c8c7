// In every Catch2 program: numbers that a test case draws begin at the seed of the test data, so that a failure
// repeats.
#include <ATen/random.h>

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

#include "test/support/random.h"

namespace {

struct SeededCases : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TestEventListenerBase::testCaseStarting(info);
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    generator.set_current_seed(test::seed());
  }
};

CATCH_REGISTER_LISTENER(SeededCases)

} // namespace
