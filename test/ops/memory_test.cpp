// Out of memory is an error like others: it is reported as such, inputs stay as they were, nothing is kept.

#include <c10/util/Exception.h>

#include <catch2/catch.hpp>

#include <torch/autograd.h>

#include <algorithm>
#include <cstddef>

#include "test/ops/runner.h"
#include "test/support/strict_allocator.h"

namespace test {

namespace {

constexpr size_t kSamples = 3;        // of a row: the rest differ in numbers and layouts only
constexpr int64_t kAllocations = 400;  // more than any operator makes for a sample

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
  StrictAllocator* operator->() const { return &allocator_; }

 private:
  StrictAllocator& allocator_;
};

std::vector<std::vector<std::byte>> bytes_of(const Stack& args) {
  std::vector<std::vector<std::byte>> all;
  for (const at::Tensor& tensor : tensors_of(args)) {
    if (!tensor.defined() || !tensor.has_storage()) continue;
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

void check_sample(const BoxedOp& op, const Sample& sample, const StrictMemory& memory, Failures& failures) {
  const Stack args = with_copies(sample.args);
  memory->fail_at(0);
  call_once(op, with_copies(args));  // makes what is kept between calls
  const auto before = bytes_of(args);
  const size_t blocks = memory->live_blocks();
  for (int64_t k = 1; k <= kAllocations; ++k) {
    const std::string note = sample.note + " without memory for allocation " + std::to_string(k);
    memory->fail_at(k);
    const End end = call_once(op, args);
    const bool refused = memory->refused();
    memory->fail_at(0);
    if (memory->live_blocks() != blocks)
      return failures.add(note + ": keeps " + std::to_string(memory->live_blocks() - blocks) + " blocks");
    if (!refused) return;  // the call makes fewer
    if (end == End::Succeeded) return failures.add(note + ": goes on");
    if (op.written_arguments().empty() && bytes_of(args) != before) return failures.add(note + ": changed an input");
  }
  failures.add(sample.note + ": makes more than " + std::to_string(kAllocations) + " allocations");
}

/// How a backward pass ended whose k-th allocation failed. The forward pass has memory.
End backward_once(const BoxedOp& op, const Stack& args, const StrictMemory& memory, int64_t k, bool& refused) {
  std::vector<at::Tensor> outputs, inputs, cotangents;
  for (const at::Tensor& input : tensors_of(args)) {
    if (input.defined() && input.requires_grad()) inputs.push_back(input);
  }
  for (const at::Tensor& output : op.tensors(args)) {
    if (!output.defined() || !output.requires_grad()) continue;
    outputs.push_back(output);
    cotangents.push_back(at::ones_like(output));
  }
  End end = End::Succeeded;
  refused = false;
  if (outputs.empty()) return end;
  memory->fail_at(k);
  try {
    torch::autograd::grad(outputs, inputs, cotangents, /*retain_graph=*/std::nullopt, /*create_graph=*/false, /*allow_unused=*/true);
  } catch (const c10::OutOfMemoryError&) {
    end = End::OutOfMemory;
  }
  refused = memory->refused();
  memory->fail_at(0);
  return end;
}

void check_backward(const BoxedOp& op, const Stack& args, const std::string& note, const StrictMemory& memory, Failures& failures) {
  memory->fail_at(0);
  bool refused = false;
  backward_once(op, args, memory, 0, refused);  // makes what is kept between calls
  const auto before = bytes_of(args);
  const size_t blocks = memory->live_blocks();
  for (int64_t k = 1; k <= kAllocations; ++k) {
    const std::string where = note + " backward without memory for allocation " + std::to_string(k);
    const End end = backward_once(op, args, memory, k, refused);
    if (memory->live_blocks() != blocks)
      return failures.add(where + ": keeps " + std::to_string(memory->live_blocks() - blocks) + " blocks");
    if (!refused) return;  // the pass makes fewer
    if (end == End::Succeeded) return failures.add(where + ": goes on");
    if (bytes_of(args) != before) return failures.add(where + ": changed an input");
  }
  failures.add(note + ": backward makes more than " + std::to_string(kAllocations) + " allocations");
}

}  // namespace

TEST_CASE("operators report missing memory and leave nothing behind", "[ops][memory]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const StrictMemory memory;
    const std::vector<c10::ScalarType> dtypes = dtypes_of(row, Purpose::Values);
    if (dtypes.empty()) return;
    const auto dtype = std::find(dtypes.begin(), dtypes.end(), c10::kFloat);
    std::vector<Sample> samples = samples_of(row, op, dtype != dtypes.end() ? *dtype : dtypes[0], Purpose::Values);
    if (samples.size() > kSamples) samples.resize(kSamples);
    const std::optional<BoxedOp> inplace = *row.inplace == '\0' ? std::nullopt : BoxedOp::find(row.inplace);
    for (const Sample& sample : samples) {
      failures.guard(sample.note, [&] { check_sample(op, sample, memory, failures); });
      if (!inplace.has_value()) continue;
      try {
        inplace->call(with_copies(sample.args));
      } catch (const c10::Error&) {
        continue;  // self cannot hold the result
      }
      failures.guard(sample.note + " in place", [&] { check_sample(*inplace, sample, memory, failures); });
    }
  });
}

TEST_CASE("derivatives report missing memory and leave nothing behind", "[ops][memory]") {
  for_each_row([](const OpRow& row, const BoxedOp& op, Failures& failures) {
    const SampleTraits traits = traits_of(row);
    if (!row.differentiable || !traits.gradient || !op.written_arguments().empty()) return;
    const std::vector<c10::ScalarType> dtypes = dtypes_of(row, Purpose::Gradient);
    if (dtypes.empty()) return;
    const StrictMemory memory;
    std::vector<Sample> samples = samples_of(row, op, dtypes[0], Purpose::Gradient);
    if (samples.size() > kSamples) samples.resize(kSamples);
    for (const Sample& sample : samples) {
      failures.guard(sample.note, [&] {
        check_backward(op, with_grad(sample.args, traits.constants), sample.note, memory, failures);
      });
    }
  });
}

}  // namespace test
