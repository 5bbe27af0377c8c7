#include "test/ops/batched_calls.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "test/support/compare.h"

namespace test {

namespace {

using at::functorch::RandomnessType;
using at::functorch::VmapGuard;

constexpr size_t kTensors = 3; // subsets of so many are tried

/// The tensors of a call, each with a batch of which it is the first element, or as it is.
struct Batches {
  std::vector<at::Tensor> tensors; // undefined ones left out
  std::vector<at::Tensor> batches; // the batch in front
  std::vector<bool> is_batched;
  int64_t size = 0;
};

// Other samples have the same values in another order, or, where the operator asks something of the order, are the
// same.
at::Tensor another(const at::Tensor& tensor, bool shuffles) {
  return shuffles && tensor.dim() > 0 && tensor.numel() > 0 ? tensor.flip(0) : tensor.clone();
}

Batches make_batches(const Stack& args, int64_t size, unsigned subset, bool shuffles) {
  Batches made;
  made.size = size;
  with_tensors(args, [&](const at::Tensor& tensor) {
    std::vector<at::Tensor> samples;
    for (int64_t b = 0; b < size; ++b) {
      samples.push_back(b % 2 == 0 ? tensor : another(tensor, shuffles));
    }
    const size_t place = made.tensors.size();
    made.tensors.push_back(tensor);
    made.is_batched.push_back(place >= kTensors || ((subset >> place) & 1) != 0);
    made.batches.push_back(size == 0 ? at::empty(with_batch_size(tensor, 0), tensor.options()) : at::stack(samples));
    return tensor;
  });
  return made;
}

Stack arguments_of_sample(const Stack& args, const Batches& batches, int64_t b) {
  size_t next = 0;
  return with_tensors(args, [&](const at::Tensor& tensor) {
    const size_t place = next++;
    return batches.is_batched[place] ? batches.batches[place].select(0, b).clone() : tensor;
  });
}

/// The batch at the dimension `where` of tensors: 0 in front, 1 last, also in memory, 2 in the middle.
at::Tensor placed(const at::Tensor& batch, int where, int64_t& bdim) {
  bdim = where == 0 ? 0 : where == 1 ? batch.dim() - 1 : batch.dim() / 2;
  const at::Tensor moved = batch.movedim(0, bdim);
  return where == 1 ? moved.contiguous() : moved;
}

struct Outcome {
  std::vector<at::Tensor> results;
  std::string error;
};

Outcome call_batched(const BoxedOp& op, const Stack& args, const Batches& batches, int where) {
  Outcome outcome;
  const VmapGuard guard(batches.size, RandomnessType::Error);
  size_t next = 0;
  const Stack arguments = with_tensors(args, [&](const at::Tensor& tensor) {
    const size_t place = next++;
    if (!batches.is_batched[place]) {
      return tensor;
    }
    int64_t bdim = 0;
    const at::Tensor value = placed(batches.batches[place], where, bdim);
    return at::functorch::makeBatched(value, bdim, guard.level());
  });
  try {
    for (const at::Tensor& result : op.tensors(arguments)) {
      outcome.results.push_back(result.defined() ? all_samples(result, *guard.level()) : result);
    }
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  return outcome;
}

/// False if the operator does not take such samples, or they have no results of the same sizes.
bool check_subset(
    const OpRow& row,
    const BoxedOp& op,
    const Sample& sample,
    const Batches& batches,
    int where,
    Tally& tally,
    Failures& failures) {
  std::vector<std::vector<at::Tensor>> wanted;
  try {
    for (int64_t b = 0; b < batches.size; ++b) {
      wanted.push_back(op.tensors(arguments_of_sample(sample.args, batches, b)));
    }
    for (const auto& results : wanted) {
      for (size_t i = 0; i < results.size(); ++i) {
        if (results[i].defined() && results[i].sizes() != wanted[0][i].sizes()) {
          return true; // no batch of results
        }
      }
    }
  } catch (const std::exception&) {
    return false;
  }
  std::ostringstream note;
  note << sample.note << " batched";
  for (const bool batched : batches.is_batched) {
    note << (batched ? " yes" : " no");
  }
  note << " at " << where;
  const Outcome outcome = call_batched(op, sample.args, batches, where);
  if (!outcome.error.empty()) {
    if (is_refusal(outcome.error)) {
      tally.refused.emplace(row.name, outcome.error);
    } else {
      failures.add(note.str() + ": threw " + outcome.error.substr(0, 300));
    }
    return true;
  }
  ++tally.compared;
  for (int64_t b = 0; b < batches.size; ++b) {
    compare_sample(row, outcome.results, wanted[static_cast<size_t>(b)], b, note.str(), failures);
  }
  return true;
}

/// No samples at all: the results have none either, of the sizes that they would have.
void check_no_samples(
    const OpRow& row,
    const BoxedOp& op,
    const Sample& sample,
    const Batches& batches,
    int where,
    Tally& tally,
    Failures& failures) {
  std::vector<at::Tensor> wanted;
  try {
    wanted = op.tensors(with_copies(sample.args));
  } catch (const std::exception&) {
    return;
  }
  const std::string note = sample.note + " without samples";
  const Outcome outcome = call_batched(op, sample.args, batches, where);
  if (!outcome.error.empty()) {
    if (is_refusal(outcome.error)) {
      tally.refused.emplace(row.name, outcome.error);
    } else {
      failures.add(note + ": threw " + outcome.error.substr(0, 300));
    }
    return;
  }
  ++tally.compared;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const at::Tensor& got = outcome.results.at(i);
    if (got.defined() != wanted[i].defined()) {
      failures.add(note + ": result " + std::to_string(i) + " is " + (got.defined() ? "" : "not ") + "defined");
    } else if (
        got.defined() &&
        (got.sizes() != at::IntArrayRef(with_batch_size(wanted[i], 0)) || got.dtype() != wanted[i].dtype())) {
      std::ostringstream text;
      text << note << ": result " << i << " has sizes " << got.sizes() << " and dtype " << got.dtype() << ", not "
           << at::IntArrayRef(with_batch_size(wanted[i], 0)) << " and " << wanted[i].dtype();
      failures.add(text.str());
    }
  }
}

} // namespace

void print_tally(const char* what, const Tally& tally) {
  std::printf("%s: %zu calls compared, %zu operators refused\n", what, tally.compared, tally.refused.size());
  if (std::getenv("TENSOR_TEST_VERBOSE") != nullptr) {
    for (const auto& [name, why] : tally.refused) {
      std::printf("  refused %s: %s\n", name.c_str(), why.substr(0, 160).c_str());
    }
  }
}

bool is_refusal(const std::string& error) {
  for (const char* const words :
       {"vmap:", "Vmap", "vmapped", "fallback path doesn't work", "could not generate a fallback",
        "doesn't have storage", "Cannot access storage", "only strided tensors"}) {
    if (error.find(words) != std::string::npos) {
      return true;
    }
  }
  return false;
}

bool is_compared(const OpRow& row) {
  return !traits_of(row).random && std::string(row.name).find("sparse") == std::string::npos;
}

std::vector<int64_t> with_batch_size(const at::Tensor& sample, int64_t size) {
  std::vector<int64_t> sizes = sample.sizes().vec();
  sizes.insert(sizes.begin(), size);
  return sizes;
}

at::Tensor all_samples(const at::Tensor& tensor, const at::functorch::VmapLevel& level) {
  const auto [value, bdim] = at::functorch::unwrapTensorAtLevel(tensor, level.number);
  return bdim ? value.movedim(*bdim, 0) : value.unsqueeze(0).expand(with_batch_size(value, level.batch_size));
}

void compare_sample(
    const OpRow& row,
    const std::vector<at::Tensor>& got,
    const std::vector<at::Tensor>& wanted,
    int64_t b,
    const std::string& note,
    Failures& failures) {
  if (got.size() != wanted.size()) {
    return failures.add(note + ": another number of results");
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].defined() != wanted[i].defined()) {
      failures.add(note + ": result " + std::to_string(i) + " is " + (got[i].defined() ? "" : "not ") + "defined");
      continue;
    }
    if (!got[i].defined()) {
      continue;
    }
    Tolerance tolerance = tolerance_for(wanted[i].scalar_type());
    tolerance.rtol *= 20 * row.tolerance; // sums go in another order
    tolerance.atol *= 20 * row.tolerance;
    const std::string difference = first_difference(got[i].select(0, b), wanted[i], tolerance);
    if (!difference.empty()) {
      failures.add(note + ": result " + std::to_string(i) + " of sample " + std::to_string(b) + ": " + difference);
    }
  }
}

void check_batches(
    const OpRow& row,
    const BoxedOp& op,
    const std::vector<c10::ScalarType>& wanted_dtypes,
    int64_t size,
    Tally& tally,
    Failures& failures) {
  if (!is_compared(row)) {
    return;
  }
  const std::vector<c10::ScalarType> dtypes = dtypes_of(row, Purpose::Values);
  for (const c10::ScalarType dtype : wanted_dtypes) {
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) {
      continue;
    }
    size_t count = 0;
    for (const Sample& sample : samples_of(row, op, dtype, Purpose::Values)) {
      const Batches all = make_batches(sample.args, 2, ~0u, false);
      const bool strided = std::all_of(all.tensors.begin(), all.tensors.end(), [](const at::Tensor& t) {
        return t.layout() == at::kStrided && !t.is_quantized() && !t.is_nested() && !t.has_names();
      });
      if (all.tensors.empty() || !strided || ++count > kSamples) {
        continue;
      }
      const unsigned subsets = 1u << std::min(all.tensors.size(), kTensors);
      for (unsigned subset = 1; subset < subsets; ++subset) {
        failures.guard(sample.note, [&] {
          // What strides mean to as_strided depends on those of the sample.
          const bool reads_strides = std::string(row.name).rfind("as_strided", 0) == 0;
          const int where = reads_strides ? 0 : static_cast<int>(count) % 3;
          if (size == 0) {
            check_no_samples(row, op, sample, make_batches(sample.args, 0, subset, false), where, tally, failures);
          } else if (!check_subset(
                         row, op, sample, make_batches(sample.args, size, subset, true), where, tally, failures)) {
            check_subset(row, op, sample, make_batches(sample.args, size, subset, false), where, tally, failures);
          }
        });
      }
    }
  }
}

} // namespace test
