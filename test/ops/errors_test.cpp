// Wrong use is refused with the words the entries promise, and dtypes without a kernel by name.

#include <catch2/catch.hpp>

#include "test/ops/runner.h"
#include "test/support/elements.h"
#include "test/support/refusals.h"

namespace test {

namespace {

void expect_error(
    const std::string& note, const std::string& says, Failures& failures, const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& e) {
    if (!is_refusal(e)) {
      throw;
    }
    const std::string text = refusal_text(e);
    if (text.find(says) == std::string::npos) {
      failures.add(note + ": says \"" + text + "\", not \"" + says + "\"");
    }
    return;
  }
  failures.add(note + ": no error, want \"" + says + "\"");
}

} // namespace

TEST_CASE("error samples raise what their entries say", "[ops][errors]") {
  for_each_row([](const OpRow& row, const BoxedOp&, Failures& failures) {
    for (const ErrorSample& sample : row.errors) {
      expect_error("error sample", sample.says, failures, sample.call);
    }
  });
}

TEST_CASE("a dtype without a kernel is refused by the operator's name", "[ops][errors]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (!row.pointwise || row.dtypes == 0) {
      return;
    }
    OpRow refused = row;
    refused.dtypes = kAll & ~row.dtypes;
    if (refused.dtypes == 0) {
      return;
    }
    const std::string base = std::string(row.name).substr(0, std::string(row.name).find('.'));
    for (const c10::ScalarType dtype : dtypes_of(refused, Purpose::Values)) {
      const bool is_promoted = row.result == Result::Float && c10::isIntegralType(dtype, /*includeBool=*/true);
      if (is_promoted) {
        continue;
      }
      const Sample sample = samples_of(refused, op, dtype, Purpose::Gradient).at(0);
      expect_error(dtype_name(dtype), base, failures, [&] { op.call(sample.args); });
    }
  });
}

} // namespace test
