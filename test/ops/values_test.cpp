// Results against the references, for each dtype, shape and layout.

#include <ATen/core/Tensor.h>

#include <catch2/catch.hpp>

#include "test/ops/runner.h"
#include "test/support/compare.h"
#include "test/support/host_view.h"
#include "test/support/layouts.h"
#include "test/support/reference.h"

namespace test {

namespace {

Tolerance scaled(Tolerance tolerance, double factor) {
  return {tolerance.rtol * factor, tolerance.atol * factor};
}

void check_pointwise(const OpRow& row, const BoxedOp& op, Failures& failures) {
  for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Values)) {
    const std::vector<Sample> samples = samples_of(row, op, dtype, Purpose::Values);
    std::vector<at::Tensor> wanted(samples.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      const Sample& sample = samples[i];
      failures.guard(sample.note, [&] {
        // The reference costs most of all: elements that only lie elsewhere have its result already.
        wanted[i] = sample.same_elements ? wanted[*sample.same_elements] : pointwise_reference(row, op, sample.args);
        const at::Tensor got = op.tensors(sample.args).at(0);
        const at::Tensor& want = wanted[i];
        if (!want.defined()) {
          return;
        }
        const Tolerance tolerance = scaled(tolerance_for(want.scalar_type()), row.tolerance);
        const std::string difference = first_difference(got, want, tolerance);
        if (!difference.empty()) {
          failures.add(sample.note + ": " + difference);
        }
      });
    }
  }
}

/// The elements of a reference's result in the dtype of the operator's.
at::Tensor in_dtype_of(const at::Tensor& got, const at::Tensor& want) {
  const HostView view(want);
  const bool integer = c10::isIntegralType(want.scalar_type(), /*includeBool=*/true);
  return tensor_of(got.scalar_type(), want.sizes().vec(), [&](int64_t i) {
    return integer ? std::complex<double>(static_cast<double>(view.integer(i))) : view.number(i);
  });
}

// Sums of some dozen terms lose more than one rounding.
constexpr double kReferenceSlack = 16;

void check_reference(const OpRow& row, const BoxedOp& op, const Sample& sample, Failures& failures) {
  if (*row.reference == '\0') {
    return;
  }
  const Reference reference = find_reference(row.reference);
  if (reference == nullptr) {
    return failures.add("test/support/reference*.cpp has no function " + std::string(row.reference));
  }
  const std::vector<at::Tensor> want = reference(sample.args);
  const std::vector<at::Tensor> got = op.tensors(sample.args);
  for (size_t i = 0; i < want.size(); ++i) {
    const at::Tensor rounded = in_dtype_of(got.at(i), want[i]);
    const std::string difference =
        first_difference(got[i], rounded, scaled(tolerance_for(got[i].scalar_type()), kReferenceSlack * row.tolerance));
    if (!difference.empty()) {
      failures.add(sample.note + ", result " + std::to_string(i) + ": " + difference);
    }
  }
}

/// Other strides of the inputs must not change the elements of the results.
void check_layouts(const OpRow& row, const BoxedOp& op, const Sample& sample, Failures& failures) {
  const std::vector<at::Tensor> want = op.tensors(sample.args);
  for (size_t k = 1; k < 5; ++k) {
    std::string name;
    const Stack args = with_tensors(sample.args, [&](const at::Tensor& tensor) {
      const std::vector<Layout> all = layouts(tensor);
      const Layout& layout = all[std::min(k, all.size() - 1)];
      name = layout.name;
      return layout.tensor;
    });
    const std::vector<at::Tensor> got = op.tensors(args);
    for (size_t i = 0; i < want.size(); ++i) {
      if (!want[i].defined()) {
        continue;
      }
      const std::string difference = first_difference(
          got.at(i), want[i], scaled(tolerance_for(want[i].scalar_type()), kReferenceSlack * row.tolerance));
      if (!difference.empty()) {
        failures.add(sample.note + ", inputs " + name + ": " + difference);
      }
    }
  }
}

void check_with_samples(const OpRow& row, const BoxedOp& op, Failures& failures) {
  const SampleTraits traits = traits_of(row);
  if (traits.random) {
    return;
  }
  for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Values)) {
    for (const Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
      Sample named = sample;
      named.note += " " + dtype_name(dtype);
      failures.guard(named.note, [&] {
        check_reference(row, op, named, failures);
        if (traits.layouts) {
          check_layouts(row, op, named, failures);
        }
      });
    }
  }
}

bool has_reference(const OpRow& row) {
  return *row.reference != '\0' || row.real != nullptr || row.complex != nullptr || row.integer != nullptr;
}

} // namespace

TEST_CASE("operators with kernels have a reference or say what holds them instead", "[ops][values]") {
  for (const OpRow& row : op_rows()) {
    INFO(row.name);
    CHECK((!row.has_kernel || has_reference(row) || *row.no_reference != '\0'));
  }
}

TEST_CASE("operators agree with their references in every dtype and layout", "[ops][values]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (row.pointwise) {
      check_pointwise(row, op, failures);
    } else {
      check_with_samples(row, op, failures);
    }
  });
}

} // namespace test
