// First and second gradients against central differences, in double and in complex double.

#include <ATen/core/Tensor.h>

#include <catch2/catch.hpp>

#include "test/ops/runner.h"
#include "test/support/elements.h"
#include "test/support/gradcheck.h"

namespace test {

namespace {

/// The operator as a function of the tensors in its arguments.
Function as_function(const BoxedOp& op, const Stack& args) {
  return [&op, &args](const std::vector<at::Tensor>& inputs) {
    size_t next = 0;
    return op.tensors(with_tensors(args, [&](const at::Tensor&) { return inputs.at(next++); }));
  };
}

std::vector<at::Tensor> defined_tensors(const Stack& args) {
  std::vector<at::Tensor> tensors;
  with_tensors(args, [&](const at::Tensor& tensor) {
    tensors.push_back(tensor);
    return tensor;
  });
  return tensors;
}

/// False where every floating argument is one of those that gradients are not defined for.
bool any_requires_grad(const Stack& args) {
  for (const at::Tensor& tensor : defined_tensors(args)) {
    if (tensor.requires_grad()) {
      return true;
    }
  }
  return false;
}

template <class Check>
void for_each_gradient_sample(const Check& check) {
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const SampleTraits traits = traits_of(row);
    const bool to_bool = row.pointwise && row.result == Result::Bool;
    if (!row.differentiable || !traits.gradient || traits.random || to_bool) {
      return;
    }
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Gradient)) {
      for (Sample& sample : samples_of(row, op, dtype, Purpose::Gradient)) {
        sample.note += " " + dtype_name(dtype);
        failures.guard(sample.note, [&] {
          const Stack args = with_grad(sample.args, traits.constants);
          if (!any_requires_grad(args)) {
            return;
          }
          const std::string difference = check(as_function(op, args), defined_tensors(args));
          if (!difference.empty()) {
            failures.add(sample.note + ": " + difference);
          }
        });
      }
    }
  });
}

} // namespace

TEST_CASE("gradients agree with central differences", "[ops][gradients]") {
  for_each_gradient_sample(
      [](const Function& function, const std::vector<at::Tensor>& inputs) { return gradcheck(function, inputs); });
}

TEST_CASE("second gradients agree with central differences", "[ops][gradients]") {
  for_each_gradient_sample(
      [](const Function& function, const std::vector<at::Tensor>& inputs) { return gradgradcheck(function, inputs); });
}

} // namespace test
