#include "test/fuzz/traits.h"

#include <aten/core/random.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "test/support/host_view.h"
#include "test/fuzz/attempt.h"
#include "test/fuzz/compare.h"
#include "test/fuzz/tensors.h"

namespace fuzz {

namespace {

using at::Tensor;

// Operators whose results are not values: memory as it was found, or facts about strides, addresses and devices.
constexpr const char* kWithoutValues[] = {
    "empty", "new_empty", "resize", "set_", "data_ptr", "stride", "storage", "is_set_to", "is_contiguous",
    "is_non_overlapping", "_reshape_alias", "as_strided", "_debug", "_version", "is_same_size", "record_stream",
    "sym_stride", "is_set_to", "_empty", "slice_inverse", "_new_zeros_with_same_feature_meta", "_autocast_to_",
    // with parts that only some ways of computing fill in, or another factorization
    "_embedding_bag", "embedding_bag", "_linalg_",
    // what is left of a system without a solution; linalg_solve refuses those, and is compared
    "linalg_solve_ex"};
// Operators that a placing may forbid.
constexpr const char* kBoundToPlacing[] = {
    "view",
    "_unsafe_view",
    "_reshape_copy",
    "_reshape_alias",
    "contiguous",
    "istft",
    "max_unpool3d",
    "_assert_tensor_metadata",
    "_grouped_mm",
    "multi_margin_loss_backward",
    "multilabel_margin_loss_"};
constexpr const char* kRandom[] = {"dropout", "rrelu", "rand", "multinomial"};
// Operators that write to arguments whose schema does not say so, as in PyTorch: running statistics, storages that
// grow.
constexpr const char* kUndeclaredWriters[] = {"batch_norm", "instance_norm", "rrelu",
                                              "_copy_from", "set_",          "_saturate_weight"};

template <size_t N>
bool named_like(const c10::FunctionSchema& schema, const char* const (&parts)[N]) {
  const std::string name = schema.name().substr(6);
  for (const char* part : parts) {
    if (name.rfind(part, 0) == 0) {
      return true;
    }
  }
  return false;
}

template <size_t N>
bool name_has(const c10::FunctionSchema& schema, const char* const (&parts)[N]) {
  for (const char* part : parts) {
    if (schema.name().find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

/// Whether two elements may lie in one place (never wrong about tensors that expand or slide).
bool overlaps_itself(const Tensor& tensor) {
  if (!tensor.defined() || tensor.layout() != c10::kStrided) {
    return false;
  }
  int64_t reach = 1;
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) > 1) {
      dims.emplace_back(tensor.stride(d), tensor.size(d));
    }
  }
  std::sort(dims.begin(), dims.end());
  for (const auto& [stride, size] : dims) {
    if (stride < reach) {
      return true;
    }
    int64_t step = 0;
    if (c10::mul_overflows(stride, size - 1, &step) || c10::add_overflows(reach, step, &reach)) {
      reach = std::numeric_limits<int64_t>::max(); // a tensor without memory may have any strides
    }
  }
  return false;
}

} // namespace

bool has_values(const c10::FunctionSchema& schema) {
  return !named_like(schema, kWithoutValues);
}

bool is_bound_to_placing(const c10::FunctionSchema& schema) {
  return named_like(schema, kBoundToPlacing);
}

bool writes_undeclared(const c10::FunctionSchema& schema) {
  return name_has(schema, kUndeclaredWriters);
}

bool sets_storage(const c10::FunctionSchema& schema) {
  return schema.name() == "aten::set";
}

bool is_named_random(const c10::FunctionSchema& schema) {
  return name_has(schema, kRandom);
}

bool depends_on_seed(const Cases& cases, uint64_t index) {
  constexpr Sides kSides{"now", "before"};
  const auto run = [&](uint64_t seed) {
    at::manual_seed(seed);
    const Call call = cases.make(index);
    return attempt(call.op, call.args).results;
  };
  const Stack first = run(1);
  bool differs = false;
  for (uint64_t seed = 2; seed < 8 && !differs; ++seed) {
    differs = !difference(run(seed), first, kSides).empty();
  }
  return differs && difference(run(1), first, kSides).empty();
}

bool all_moderate(const Call& call) {
  const double limit = call.op.schema().name() == "aten::prod" ? 1.5 : 1e4;
  for (const Tensor& tensor : test::tensors_of(call.args)) {
    if (!is_plain(tensor) || !has_elements_to_read(tensor.scalar_type())) {
      continue;
    }
    const test::HostView view(tensor);
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      if (!(std::abs(view.number(i)) < limit)) {
        return false;
      }
    }
  }
  return true;
}

bool has_generator(const Call& call) {
  const c10::FunctionSchema& schema = call.op.schema();
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    if (schema.arguments()[i].type()->str().find("Generator") != std::string::npos) {
      return true;
    }
    if (schema.arguments()[i].name() == "dropout_p" && call.args[i].isDouble() && call.args[i].toDouble() != 0) {
      return true;
    }
  }
  return false;
}

bool writes_over_itself(const Call& call) {
  const c10::FunctionSchema& schema = call.op.schema();
  if (schema.name().find("index_put") != std::string::npos) {
    for (size_t i = 0; i < call.args.size(); ++i) {
      if (schema.arguments()[i].name() == "accumulate" && call.args[i].isBool() && !call.args[i].toBool()) {
        return true;
      }
    }
  }
  std::vector<bool> written = written_arguments(schema);
  if (schema.name().find("_scatter") != std::string::npos) {
    written.assign(written.size(), true);
  }
  if (writes_undeclared(schema)) {
    written.assign(written.size(), true);
  }
  for (size_t i = 0; i < call.args.size(); ++i) {
    const std::vector<Tensor> outputs = written[i] ? test::tensors_of({call.args[i]}) : std::vector<Tensor>();
    if (std::any_of(outputs.begin(), outputs.end(), overlaps_itself)) {
      return true;
    }
  }
  return false;
}

} // namespace fuzz
