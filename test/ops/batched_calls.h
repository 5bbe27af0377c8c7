// Calls of operators with batches of arguments, against a loop over the samples.
#pragma once

#include <aten/functorch/BatchedTensorImpl.h>

#include <map>
#include <string>
#include <vector>

#include "test/ops/runner.h"

namespace test {

constexpr size_t kSamples = 4; // of a row: the rest differ in numbers and layouts only

/// What was compared, and why the rest was not: by operator.
struct Tally {
  size_t compared = 0;
  std::map<std::string, std::string> refused;
};

void print_tally(const char* what, const Tally& tally);

/// Errors that say why an operator cannot be batched.
bool is_refusal(const std::string& error);

/// Results that are the same for each call, and strided.
bool is_compared(const OpRow& row);

/// `sizes` of a sample, and the batch in front.
std::vector<int64_t> with_batch_size(const at::Tensor& sample, int64_t size);

/// What a tensor is outside of a level: the batch in front, also where it has none.
at::Tensor all_samples(const at::Tensor& tensor, const at::functorch::VmapLevel& level);

/// Compares results of a batch with those of sample `b`.
void compare_sample(
    const OpRow& row,
    const std::vector<at::Tensor>& got,
    const std::vector<at::Tensor>& wanted,
    int64_t b,
    const std::string& note,
    Failures& failures);

/// The row's samples of these dtypes, for each subset of batched tensors. With `size` 0 sizes and dtypes alone are
/// compared, with those of one sample.
void check_batches(
    const OpRow& row,
    const BoxedOp& op,
    const std::vector<c10::ScalarType>& dtypes,
    int64_t size,
    Tally& tally,
    Failures& failures);

} // namespace test
