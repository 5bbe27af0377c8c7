// The forms of an operator agree: function, method, in-place and out.

#include <ATen/core/Tensor.h>

#include <catch2/catch.hpp>

#include "test/ops/runner.h"
#include "test/support/compare.h"
#include "test/support/guarded.h"
#include "test/support/host_view.h"
#include "test/support/layouts.h"

namespace test {

namespace {

using at::Tensor;

std::vector<c10::ScalarType> some_dtypes(const OpRow& row) {
  std::vector<c10::ScalarType> chosen;
  for (const c10::ScalarType dtype : dtypes_of(row, Purpose::Values)) {
    if (dtype == c10::ScalarType::Float || dtype == c10::ScalarType::Long || dtype == c10::ScalarType::ComplexDouble) {
      chosen.push_back(dtype);
    }
  }
  // Operators of bool or integers alone have none of these.
  if (chosen.empty()) {
    chosen = dtypes_of(row, Purpose::Values);
  }
  return chosen;
}

/// Elements converted by plain C++, as an in-place form stores its result.
Tensor converted(const Tensor& tensor, c10::ScalarType dtype) {
  const HostView view(tensor);
  const bool integer = c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
  return tensor_of(dtype, tensor.sizes().vec(), [&](int64_t i) {
    return integer ? std::complex<double>(static_cast<double>(view.integer(i))) : view.number(i);
  });
}

std::string differs(const Tensor& got, const Tensor& want) {
  // The same kernel on other strides may add in another order, so not bit for bit.
  return first_difference(got, want, tolerance_for(want.scalar_type()));
}

void check_inplace(const OpRow& row, const Sample& sample, const std::vector<Tensor>& want, Failures& failures) {
  const auto inplace = BoxedOp::find(row.inplace);
  if (!inplace.has_value()) {
    return failures.add("the dispatcher does not know " + std::string(row.inplace));
  }
  const Stack args = with_copies(sample.args);
  const Tensor self = args.at(0).toTensor();
  // abs_ of complex numbers and its like are refused.
  if (row.result == Result::Real && self.is_complex()) {
    return;
  }
  // Results that self cannot hold are an error, which the corpus and the hand-written tests look at.
  if (want.at(0).sizes() != self.sizes() || !c10::canCast(want[0].scalar_type(), self.scalar_type())) {
    return;
  }
  const Tensor expected = converted(want[0], self.scalar_type());
  const Stack returned = inplace->call(args);
  if (!returned.at(0).toTensor().is_same(self)) {
    failures.add(sample.note + ": the in-place form does not return self");
  }
  if (const std::string text = differs(self, expected); !text.empty()) {
    failures.add(sample.note + ": in-place " + text);
  }
}

/// `out_contiguous: restride`: an output takes the strides of a new result, as PyTorch's kernels give them.
bool takes_new_strides(const std::string& name) {
  return name.find("_pad2d") != std::string::npos || name.find("_pad3d") != std::string::npos ||
      name.find("max_pool3d_with_indices") != std::string::npos ||
      name.find("max_pool2d_with_indices") != std::string::npos || name.find("conv2d") != std::string::npos;
}

/// An output of the right sizes must be contiguous, as PyTorch's kernels ask.
bool takes_contiguous_outputs(const std::string& name) {
  return name.find("slow_conv3d") != std::string::npos || name.find("margin_loss_backward") != std::string::npos ||
      name.find("multilabel_margin_loss_forward") != std::string::npos ||
      name.find("nll_loss2d_backward") != std::string::npos;
}

class OutForm {
 public:
  OutForm(
      const OpRow& row, const BoxedOp& op, const Sample& sample, const std::vector<Tensor>& want, Failures& failures)
      : op_(op),
        sample_(sample),
        want_(want),
        failures_(failures),
        out_(BoxedOp::find(row.out)),
        takes_new_strides_(takes_new_strides(row.name)),
        takes_contiguous_(takes_contiguous_outputs(row.name)) {}

  void check() {
    if (!out_.has_value()) {
      return failures_.add("the dispatcher does not know its out form");
    }
    if (out_->written_arguments().size() != want_.size()) {
      return; // lists of outputs
    }
    std::vector<Tensor> empty;
    std::vector<Tensor> transposed;
    for (const Tensor& want : want_) {
      empty.push_back(tensor_of(want.scalar_type(), {0}, [](int64_t) { return 0.0; }));
      transposed.push_back(layouts(want).at(std::min<size_t>(2, layouts(want).size() - 1)).tensor);
      wipe(transposed.back());
    }
    check_with("an empty out", empty);
    if (!takes_contiguous_) {
      check_with("a transposed out", transposed);
    }
    check_bounds();
  }

 private:
  static void wipe(const Tensor& tensor) {
    const HostView view(tensor);
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      write_number(tensor.scalar_type(), 1.0, const_cast<std::byte*>(view.at(i)));
    }
  }

  Stack arguments(const std::vector<Tensor>& outs) const {
    return out_arguments(op_, *out_, sample_.args, outs);
  }

  void check_with(const std::string& what, const std::vector<Tensor>& outs) {
    failures_.guard(sample_.note + " with " + what, [&] {
      const std::vector<std::vector<int64_t>> strides = all_strides(outs);
      const std::vector<Tensor> returned = tensors_of(out_->call(arguments(outs)));
      for (size_t i = 0; i < outs.size(); ++i) {
        if (!returned.at(i).is_same(outs[i])) {
          failures_.add(sample_.note + ": the out form does not return out");
        }
        if (const std::string text = differs(outs[i], want_[i]); !text.empty()) {
          failures_.add(sample_.note + " with " + what + ": " + text);
        }
        if (outs[i].sizes() == want_[i].sizes() && what == "a transposed out" && !takes_new_strides_ &&
            outs[i].strides() != c10::IntArrayRef(strides[i])) {
          failures_.add(sample_.note + ": the out form changed the strides of out");
        }
      }
    });
  }

  static std::vector<std::vector<int64_t>> all_strides(const std::vector<Tensor>& tensors) {
    std::vector<std::vector<int64_t>> strides;
    for (const Tensor& tensor : tensors) {
      strides.push_back(tensor.strides().vec());
    }
    return strides;
  }

  void check_bounds() {
    failures_.guard(sample_.note + " with a guarded out", [&] {
      std::vector<GuardedTensor> guarded;
      std::vector<Tensor> outs;
      for (const Tensor& want : want_) {
        guarded.emplace_back(want.scalar_type(), want.sizes().vec());
      }
      for (const GuardedTensor& guard : guarded) {
        outs.push_back(guard.tensor());
      }
      out_->call(arguments(outs));
      for (size_t i = 0; i < outs.size(); ++i) {
        if (const std::string text = differs(outs[i], want_[i]); !text.empty()) {
          failures_.add(sample_.note + ", guarded: " + text);
        }
        if (const std::string text = guarded[i].find_damage(); !text.empty()) {
          failures_.add(sample_.note + ": " + text);
        }
      }
    });
  }

  const BoxedOp& op_;
  const Sample& sample_;
  const std::vector<Tensor>& want_;
  Failures& failures_;
  std::optional<BoxedOp> out_;
  const bool takes_new_strides_;
  const bool takes_contiguous_;
};

void check_api(const OpRow& row, const Sample& sample, const std::vector<Tensor>& want, Failures& failures) {
  for (const Tensor& got : row.api(sample.args)) {
    if (const std::string text = differs(got, want.at(0)); !text.empty()) {
      failures.add(sample.note + ": the C++ function or method " + text);
    }
  }
}

} // namespace

TEST_CASE("function, method, in-place and out forms agree", "[ops][variants]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const SampleTraits traits = traits_of(row);
    if (traits.random) {
      return;
    }
    for (const c10::ScalarType dtype : some_dtypes(row)) {
      for (Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
        sample.note += " " + dtype_name(dtype);
        failures.guard(sample.note, [&] {
          const std::vector<Tensor> want = op.tensors(sample.args);
          if (want.empty()) {
            return;
          }
          if (row.api != nullptr) {
            check_api(row, sample, want, failures);
          }
          if (*row.inplace != '\0') {
            check_inplace(row, sample, want, failures);
          }
          if (*row.out != '\0' && traits.out_of_place) {
            OutForm(row, op, sample, want, failures).check();
          }
        });
      }
    }
  });
}

} // namespace test
