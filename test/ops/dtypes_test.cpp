// The dtypes that entries name are those that their kernels take, so that the table tries every one of them.

#include <catch2/catch.hpp>

#include "test/ops/runner.h"
#include "test/support/elements.h"
#include "test/support/refusals.h"

namespace test {

namespace {

bool takes(const OpRow& row, const BoxedOp& op, c10::ScalarType dtype) {
  try {
    for (const Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
      op.call(sample.args);
    }
  } catch (const std::exception& e) {
    if (!is_refusal(e)) {
      throw;
    }
    return false;
  }
  return true;
}

} // namespace

TEST_CASE("entries name the dtypes that their kernels take", "[ops][dtypes]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (row.pointwise || !row.has_kernel || SampleSet::find(row.name) == nullptr) {
      return;
    }
    OpRow any = row;
    any.dtypes = kAll;
    DTypes taken = 0;
    std::string names;
    for (const c10::ScalarType dtype : dtypes_of(any, Purpose::Values)) {
      if (!takes(row, op, dtype)) {
        continue;
      }
      taken |= dtype_bit(dtype);
      names += " " + dtype_name(dtype);
    }
    if (taken != (row.dtypes & kAll)) {
      failures.add("the entry's `dtypes` differ from what the kernel takes:" + names);
    }
  });
}

} // namespace test
