// Out of memory is an error like others: it is reported as such, inputs stay as they were, nothing is kept.

#include <c10/util/Exception.h>

#include <catch2/catch.hpp>

#include <torch/autograd.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "test/ops/runner.h"
#include "test/support/refusals.h"
#include "test/support/strict_allocator.h"

namespace test {

namespace {

constexpr size_t kSamples = 3; // of a row: the rest differ in numbers and layouts only
constexpr int64_t kAllocations = 400; // more than any operator makes for a sample

/// The strict allocator serves while this lives.
class StrictMemory {
 public:
  StrictMemory() : allocator_(StrictAllocator::install()) {}
  StrictMemory(const StrictMemory&) = delete;
  StrictMemory& operator=(const StrictMemory&) = delete;
  ~StrictMemory() {
    allocator_.fail_at(0);
    StrictAllocator::uninstall();
  }
  StrictAllocator* operator->() const {
    return &allocator_;
  }

 private:
  StrictAllocator& allocator_;
};

std::vector<std::vector<std::byte>> bytes_of(const Stack& args) {
  std::vector<std::vector<std::byte>> all;
  for (const at::Tensor& tensor : tensors_of(args)) {
    if (!tensor.defined() || !tensor.has_storage()) {
      continue;
    }
    const auto* data = static_cast<const std::byte*>(tensor.storage().data());
    all.emplace_back(data, data + (data == nullptr ? 0 : tensor.storage().nbytes()));
  }
  return all;
}

/// How a call ended whose k-th allocation failed.
enum class End : uint8_t { Succeeded, OutOfMemory };

End call_once(const BoxedOp& op, const Stack& args) {
  try {
    op.call(args);
    return End::Succeeded;
  } catch (const c10::OutOfMemoryError&) {
    return End::OutOfMemory;
  }
}

/// What a tensor that a call writes to is, apart from its values.
struct Form {
  std::vector<int64_t> sizes, strides;
  int64_t offset;
  c10::ScalarType dtype;

  explicit Form(const at::Tensor& t)
      : sizes(t.sizes().vec()), strides(t.strides().vec()), offset(t.storage_offset()), dtype(t.scalar_type()) {}
  friend bool operator==(const Form& a, const Form& b) = default;
};

/// Whether all elements of `t` lie in its memory.
bool is_whole(const at::Tensor& t) {
  if (t.numel() == 0) {
    return true;
  }
  int64_t last = t.storage_offset();
  for (int64_t d = 0; d < t.dim(); ++d) {
    last += (t.size(d) - 1) * t.stride(d);
  }
  const auto bytes = static_cast<size_t>(last + 1) * t.element_size();
  return t.storage().nbytes() >= bytes && t.storage().data() != nullptr;
}

/// Calls the out form with outputs from `make` and the k-th allocation failing, for every k. Outputs then have the form
/// they had or that of the result, with memory for it; inputs are as they were.
template <class Make>
void check_out(
    const BoxedOp& out,
    const std::string& note,
    const std::function<Stack(const std::vector<at::Tensor>&)>& arguments,
    const Make& make,
    const StrictMemory& memory,
    Failures& failures) {
  memory->fail_at(0);
  const std::vector<at::Tensor> done = make();
  out.call(arguments(done));
  for (int64_t k = 1; k <= kAllocations; ++k) {
    const std::string where = note + " without memory for allocation " + std::to_string(k);
    const std::vector<at::Tensor> outs = make();
    const std::vector<Form> forms(outs.begin(), outs.end());
    const Stack args = arguments(outs);
    const auto before = bytes_of(arguments({}));
    memory->fail_at(k);
    const End end = call_once(out, args);
    const bool refused = memory->refused();
    memory->fail_at(0);
    if (!refused) {
      return; // the call makes fewer
    }
    if (end == End::Succeeded) {
      return failures.add(where + ": goes on");
    }
    if (bytes_of(arguments({})) != before) {
      return failures.add(where + ": changed an input");
    }
    for (size_t i = 0; i < outs.size(); ++i) {
      const Form form(outs[i]);
      if (form != forms[i] && form != Form(done[i])) {
        return failures.add(where + ": an output has a form of its own");
      }
      if (!is_whole(outs[i])) {
        return failures.add(where + ": an output has elements outside of its memory");
      }
    }
  }
  failures.add(note + ": makes more than " + std::to_string(kAllocations) + " allocations");
}

void check_sample(const BoxedOp& op, const Sample& sample, const StrictMemory& memory, Failures& failures) {
  const Stack args = with_copies(sample.args);
  memory->fail_at(0);
  call_once(op, with_copies(args)); // makes what is kept between calls
  const auto before = bytes_of(args);
  const size_t blocks = memory->live_blocks();
  for (int64_t k = 1; k <= kAllocations; ++k) {
    const std::string note = sample.note + " without memory for allocation " + std::to_string(k);
    memory->fail_at(k);
    const End end = call_once(op, args);
    const bool refused = memory->refused();
    memory->fail_at(0);
    if (memory->live_blocks() != blocks) {
      return failures.add(note + ": keeps " + std::to_string(memory->live_blocks() - blocks) + " blocks");
    }
    if (!refused) {
      return; // the call makes fewer
    }
    if (end == End::Succeeded) {
      return failures.add(note + ": goes on");
    }
    if (op.written_arguments().empty() && bytes_of(args) != before) {
      return failures.add(note + ": changed an input");
    }
    for (const size_t written : op.written_arguments()) {
      for (const at::Tensor& t : tensors_of({args[written]})) {
        if (t.defined() && t.has_storage() && !is_whole(t)) {
          return failures.add(note + ": self has elements outside of its memory");
        }
      }
    }
  }
  failures.add(sample.note + ": makes more than " + std::to_string(kAllocations) + " allocations");
}

/// How a backward pass ended whose k-th allocation failed. The forward pass has memory.
End backward_once(const BoxedOp& op, const Stack& args, const StrictMemory& memory, int64_t k, bool& refused) {
  std::vector<at::Tensor> outputs, inputs, cotangents;
  for (const at::Tensor& input : tensors_of(args)) {
    if (input.defined() && input.requires_grad()) {
      inputs.push_back(input);
    }
  }
  for (const at::Tensor& output : op.tensors(args)) {
    if (!output.defined() || !output.requires_grad()) {
      continue;
    }
    outputs.push_back(output);
    cotangents.push_back(at::ones_like(output));
  }
  End end = End::Succeeded;
  refused = false;
  if (outputs.empty()) {
    return end;
  }
  memory->fail_at(k);
  try {
    torch::autograd::grad(
        outputs, inputs, cotangents, /*retain_graph=*/std::nullopt, /*create_graph=*/false, /*allow_unused=*/true);
  } catch (const c10::OutOfMemoryError&) {
    end = End::OutOfMemory;
  }
  refused = memory->refused();
  memory->fail_at(0);
  return end;
}

void check_backward(
    const BoxedOp& op, const Stack& args, const std::string& note, const StrictMemory& memory, Failures& failures) {
  memory->fail_at(0);
  bool refused = false;
  backward_once(op, args, memory, 0, refused); // makes what is kept between calls
  const auto before = bytes_of(args);
  const size_t blocks = memory->live_blocks();
  for (int64_t k = 1; k <= kAllocations; ++k) {
    const std::string where = note + " backward without memory for allocation " + std::to_string(k);
    const End end = backward_once(op, args, memory, k, refused);
    if (memory->live_blocks() != blocks) {
      return failures.add(where + ": keeps " + std::to_string(memory->live_blocks() - blocks) + " blocks");
    }
    if (!refused) {
      return; // the pass makes fewer
    }
    if (end == End::Succeeded) {
      return failures.add(where + ": goes on");
    }
    if (bytes_of(args) != before) {
      return failures.add(where + ": changed an input");
    }
  }
  failures.add(note + ": backward makes more than " + std::to_string(kAllocations) + " allocations");
}

} // namespace

TEST_CASE("operators report missing memory and leave nothing behind", "[ops][memory]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const StrictMemory memory;
    const std::vector<c10::ScalarType> dtypes = dtypes_of(row, Purpose::Values);
    if (dtypes.empty()) {
      return;
    }
    const auto dtype = std::find(dtypes.begin(), dtypes.end(), c10::kFloat);
    std::vector<Sample> samples = samples_of(row, op, dtype != dtypes.end() ? *dtype : dtypes[0], Purpose::Values);
    if (samples.size() > kSamples) {
      samples.resize(kSamples);
    }
    const std::optional<BoxedOp> inplace = *row.inplace == '\0' ? std::nullopt : BoxedOp::find(row.inplace);
    for (const Sample& sample : samples) {
      failures.guard(sample.note, [&] { check_sample(op, sample, memory, failures); });
      if (!inplace.has_value()) {
        continue;
      }
      try {
        inplace->call(with_copies(sample.args));
      } catch (const std::exception& e) {
        if (!is_refusal(e)) {
          throw;
        }
        continue; // self cannot hold the result
      }
      failures.guard(sample.note + " in place", [&] { check_sample(*inplace, sample, memory, failures); });
    }
  });
}

TEST_CASE("outputs stay whole when memory is missing", "[ops][memory]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (*row.out == '\0' || !traits_of(row).out_of_place) {
      return;
    }
    const BoxedOp out = BoxedOp::find(row.out).value();
    const std::vector<c10::ScalarType> dtypes = dtypes_of(row, Purpose::Values);
    if (dtypes.empty()) {
      return;
    }
    const StrictMemory memory;
    const auto dtype = std::find(dtypes.begin(), dtypes.end(), c10::kFloat);
    std::vector<Sample> samples = samples_of(row, op, dtype != dtypes.end() ? *dtype : dtypes[0], Purpose::Values);
    if (samples.size() > kSamples) {
      samples.resize(kSamples);
    }
    for (const Sample& sample : samples) {
      failures.guard(sample.note, [&] {
        const std::vector<at::Tensor> want = op.tensors(sample.args);
        if (want.empty() || out.written_arguments().size() != want.size()) {
          return; // lists of outputs
        }
        const auto arguments = [&](const std::vector<at::Tensor>& outs) {
          std::vector<at::Tensor> given = outs;
          given.resize(want.size());
          return out_arguments(op, out, sample.args, given);
        };
        const auto outputs = [&](bool empty) {
          std::vector<at::Tensor> made;
          for (const at::Tensor& t : want) {
            made.push_back(
                empty ? at::empty({0}, t.options().requires_grad(false))
                      : at::zeros_like(t, t.options().requires_grad(false)));
          }
          return made;
        };
        check_out(
            out, sample.note + " with an empty out", arguments, [&] { return outputs(true); }, memory, failures);
        check_out(
            out, sample.note + " with an out that fits", arguments, [&] { return outputs(false); }, memory, failures);
      });
    }
  });
}

TEST_CASE("derivatives report missing memory and leave nothing behind", "[ops][memory]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const SampleTraits traits = traits_of(row);
    if (!row.differentiable || !traits.gradient || !op.written_arguments().empty()) {
      return;
    }
    const std::vector<c10::ScalarType> dtypes = dtypes_of(row, Purpose::Gradient);
    if (dtypes.empty()) {
      return;
    }
    const StrictMemory memory;
    std::vector<Sample> samples = samples_of(row, op, dtypes[0], Purpose::Gradient);
    if (samples.size() > kSamples) {
      samples.resize(kSamples);
    }
    for (const Sample& sample : samples) {
      failures.guard(sample.note, [&] {
        check_backward(op, with_grad(sample.args, traits.constants), sample.note, memory, failures);
      });
    }
  });
}

} // namespace test
