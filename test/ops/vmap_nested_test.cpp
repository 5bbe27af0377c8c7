// Each row of the operator table inside of two vmaps: tensors have a batch of either, or of both.

#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include <aten/functorch/BatchedTensorImpl.h>

#include "test/ops/batched_calls.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace test {

namespace {

using at::functorch::makeBatched;
using at::functorch::RandomnessType;
using at::functorch::VmapGuard;
using Tensors = std::vector<at::Tensor>;

constexpr int64_t kOuter = 2, kInner = 3;

struct BatchedTwice {
  at::Tensor value; // batches in front, the outer one first
  bool outer, inner;

  at::Tensor sample(int64_t a, int64_t b) const {
    at::Tensor tensor = outer ? value.select(0, a) : value;
    return (inner ? tensor.select(0, b) : tensor).clone();
  }
  /// With the batch of the inner vmap where the sample's dimensions are, if there are some.
  at::Tensor batched(const VmapGuard& outer_level, const VmapGuard& inner_level) const {
    const int64_t first = outer ? 1 : 0, place = inner ? (value.dim() - first) / 2 : 0;
    at::Tensor tensor = inner ? value.movedim(first, first + place) : value;
    tensor = outer ? makeBatched(tensor, 0, outer_level.level()) : tensor;
    return inner ? makeBatched(tensor, place, inner_level.level()) : tensor;
  }
};

at::Tensor variant(const at::Tensor& tensor, int64_t number, bool shuffles) {
  return shuffles && number % 2 != 0 && tensor.dim() > 0 && tensor.numel() > 0 ? tensor.flip(0) : tensor.clone();
}

BatchedTwice batched_twice(const at::Tensor& tensor, size_t pattern, bool shuffles) {
  BatchedTwice made{at::Tensor(), pattern % 3 != 2, pattern % 3 != 1};
  Tensors all;
  for (int64_t a = 0; a < (made.outer ? kOuter : 1); ++a) {
    Tensors row;
    for (int64_t b = 0; b < (made.inner ? kInner : 1); ++b) {
      row.push_back(variant(tensor, a + b, shuffles));
    }
    all.push_back(made.inner ? at::stack(row) : row[0]);
  }
  made.value = made.outer ? at::stack(all) : all[0];
  return made;
}

/// False if the operator does not take such samples.
bool check_nested(
    const OpRow& row,
    const BoxedOp& op,
    const Sample& sample,
    size_t shift,
    bool shuffles,
    Tally& tally,
    Failures& failures) {
  std::vector<BatchedTwice> tensors;
  with_tensors(sample.args, [&](const at::Tensor& tensor) {
    tensors.push_back(batched_twice(tensor, tensors.size() + shift, shuffles));
    return tensor;
  });
  const auto with = [&](const auto& make) {
    size_t next = 0;
    return with_tensors(sample.args, [&](const at::Tensor&) { return make(tensors[next++]); });
  };
  std::vector<Tensors> wanted;
  try {
    for (int64_t a = 0; a < kOuter; ++a) {
      for (int64_t b = 0; b < kInner; ++b) {
        wanted.push_back(op.tensors(with([&](const BatchedTwice& t) { return t.sample(a, b); })));
      }
    }
  } catch (const std::exception&) {
    return false;
  }
  for (const Tensors& results : wanted) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].defined() && results[i].sizes() != wanted[0][i].sizes()) {
        return true; // no batch of results
      }
    }
  }
  const std::string note = sample.note + " nested " + std::to_string(shift);
  Tensors got;
  try {
    const VmapGuard outer(kOuter, RandomnessType::Error);
    const VmapGuard inner(kInner, RandomnessType::Error);
    for (const at::Tensor& result : op.tensors(with([&](const BatchedTwice& t) { return t.batched(outer, inner); }))) {
      got.push_back(
          result.defined() ? all_samples(all_samples(result, *inner.level()), *outer.level()).flatten(0, 1) : result);
    }
  } catch (const std::exception& error) {
    if (is_refusal(error.what())) {
      tally.refused.emplace(row.name, error.what());
    } else {
      failures.add(note + ": threw " + std::string(error.what()).substr(0, 300));
    }
    return true;
  }
  ++tally.compared;
  for (size_t s = 0; s < wanted.size(); ++s) {
    compare_sample(row, got, wanted[s], static_cast<int64_t>(s), note, failures);
  }
  return true;
}

bool is_plain(const at::Tensor& t) {
  return t.layout() == at::kStrided && !t.is_quantized() && !t.is_nested() && !t.has_names();
}

} // namespace

TEST_CASE("two vmaps of each operator are two loops over samples", "[ops][slow]") {
  Tally tally;
  for_each_row([&](const OpRow& row, const BoxedOp& op, Failures& failures) {
    if (!is_compared(row)) {
      return;
    }
    const std::vector<c10::ScalarType> dtypes = dtypes_of(row, Purpose::Values);
    for (const c10::ScalarType dtype : {at::kDouble, at::kLong}) {
      if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) {
        continue;
      }
      size_t count = 0;
      for (const Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
        Tensors tensors;
        with_tensors(sample.args, [&](const at::Tensor& tensor) {
          tensors.push_back(tensor);
          return tensor;
        });
        if (tensors.empty() || !std::all_of(tensors.begin(), tensors.end(), is_plain) || ++count > kSamples) {
          continue;
        }
        for (size_t shift = 0; shift < 3; ++shift) {
          failures.guard(sample.note, [&] {
            if (!check_nested(row, op, sample, shift, /*shuffles=*/true, tally, failures)) {
              check_nested(row, op, sample, shift, /*shuffles=*/false, tally, failures);
            }
          });
        }
      }
    }
  });
  print_tally("two vmaps", tally);
  CHECK(tally.compared > 0);
}

} // namespace test
