// What an operator says about its results without data is what it gives with data.

#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include "test/ops/runner.h"
#include "test/support/compare.h"
#include "test/support/host_view.h"

namespace test {

namespace {

at::Tensor on_meta(const at::Tensor& tensor) {
  return at::empty_strided(
      tensor.sizes(), tensor.strides(), at::TensorOptions().dtype(tensor.scalar_type()).device(c10::DeviceType::Meta));
}

/// Factories take no tensors: they are sent to Meta by their device argument.
Stack with_meta_device(const BoxedOp& op, Stack args) {
  if (const auto device = op.position("device"); device.has_value()) {
    args[*device] = c10::Device(c10::DeviceType::Meta);
  }
  return args;
}

void compare(const at::Tensor& meta, const at::Tensor& real, const std::string& note, Failures& failures) {
  if (meta.defined() != real.defined()) {
    return failures.add(note + ": only one of the results is defined");
  }
  if (!real.defined()) {
    return;
  }
  if (!meta.is_meta()) {
    failures.add(note + ": the result for meta inputs is on " + meta.device().str());
  }
  if (meta.sizes() != real.sizes() || meta.scalar_type() != real.scalar_type()) {
    return failures.add(note + ": without data " + describe(meta) + ", with data " + describe(real));
  }
  for (int64_t d = 0; d < real.dim(); ++d) {
    if (real.size(d) > 1 && meta.stride(d) != real.stride(d)) {
      return failures.add(
          note + ": strides without data " + show(meta.strides()) + ", with data " + show(real.strides()));
    }
  }
}

} // namespace

TEST_CASE("shapes, strides and dtypes are the same without data", "[ops][meta]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (!row.has_meta || !traits_of(row).meta) {
      return;
    }
    for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Values)) {
      for (Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
        sample.note += " " + dtype_name(dtype);
        failures.guard(sample.note, [&] {
          const std::vector<at::Tensor> real = op.tensors(sample.args);
          if (real.empty()) {
            return;
          }
          const std::vector<at::Tensor> meta = op.tensors(with_meta_device(op, with_tensors(sample.args, on_meta)));
          for (size_t i = 0; i < real.size(); ++i) {
            compare(meta.at(i), real[i], sample.note, failures);
          }
        });
      }
    }
  });
}

} // namespace test
