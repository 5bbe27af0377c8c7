// Rules that follow from what an operator's arguments are called.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Reduction.h>
#include <aten/core/Tensor.h>
#include <aten/core/function_schema.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/ops/empty.h>
#include <aten/ops/where.h>
#include <aten/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

namespace at::functorch {

namespace {

using torch::jit::Stack;

bool names_dimensions(const std::string& argument) {
  constexpr std::string_view names[] = {"dim", "dims", "dim0", "dim1", "dim2", "dimension", "axis"};
  return std::find(std::begin(names), std::end(names), argument) != std::end(names);
}

/// Dimensions of a sample of this rank, counted behind the batch.
void count_batch(const BatchCall& call, Stack& arguments, int64_t rank) {
  for (size_t i = 0; i < call.count(); ++i) {
    if (!names_dimensions(call.schema().arguments()[i].name())) {
      continue;
    }
    c10::IValue& value = arguments[i];
    if (value.isInt()) {
      value = c10::maybe_wrap_dim(value.toInt(), rank) + 1;
    } else if (value.isIntList()) {
      std::vector<int64_t> dims = value.toIntVector();
      for (int64_t& dim : dims) {
        dim = c10::maybe_wrap_dim(dim, rank) + 1;
      }
      value = std::move(dims);
    }
  }
}

/// Rank of a sample of the first tensor.
int64_t first_rank(const BatchCall& call) {
  int64_t rank = -1;
  call.for_each_tensor([&](size_t, const Tensor& tensor) { rank = rank < 0 ? tensor.dim() : rank; });
  return std::max<int64_t>(rank, 0);
}

/// Samples without dimensions had one for the call: results lose it again.
void drop_last_dimension(Stack& results) {
  for (c10::IValue& result : results) {
    if (result.isTensor() && result.toTensor().defined() && result.toTensor().dim() > 1) {
      result = result.toTensor().squeeze(-1);
    }
  }
}

/// Gives results the sizes that they have for a sample, and the batch in front: the shape function knows them.
void give_sizes_of_samples(const BatchCall& call, Stack& results) {
  const Stack of_sample = call.call(call.with_tensors(
      [](size_t, const Tensor& tensor) { return at::empty(tensor.sizes(), tensor.options().device(kMeta)); }));
  for (size_t r = 0; r < results.size(); ++r) {
    if (results[r].isTensor() && results[r].toTensor().defined()) {
      c10::DimVector sizes{call.batch_size()};
      sizes.append(of_sample[r].toTensor().sizes().begin(), of_sample[r].toTensor().sizes().end());
      results[r] = results[r].toTensor().reshape(sizes);
    }
  }
}

/// Whether some samples have dimensions.
bool any_has_dimensions(const BatchCall& call) {
  bool any = false;
  call.for_each_tensor([&](size_t, const Tensor& tensor) { any |= tensor.dim() != 0; });
  return any;
}

/// All tensors with the batch in front. Those whose samples have no dimensions get one, where `scalars_get_dimension`.
Stack all_with_batch(const BatchCall& call, bool scalars_get_dimension) {
  return call.with_tensors([&](size_t, const Tensor& tensor) {
    const BatchedValue sample = value_at(tensor, call.level());
    const Tensor value = sample.with_batch(call.batch_size());
    return scalars_get_dimension && sample.rank() == 0 ? value.unsqueeze(-1) : value;
  });
}

/// The dtype that tensors with other than the common one are to have, so that a batched number, which has a dimension,
/// still yields to tensors that have some.
std::optional<ScalarType> common_dtype(const BatchCall& call) {
  bool differ = false;
  std::optional<ScalarType> first;
  call.for_each_tensor([&](size_t, const Tensor& tensor) {
    if (const ScalarType dtype = tensor.scalar_type(); dtype != kBool) {
      differ |= first.value_or(dtype) != dtype;
      first = dtype;
    }
  });
  if (!differ) {
    return std::nullopt;
  }
  native::ResultTypeState samples, values;
  call.for_each_tensor([&](size_t, const Tensor& tensor) {
    if (tensor.scalar_type() != kBool) {
      samples = native::update_result_type_state(tensor, samples);
      values = native::update_result_type_state(value_at(tensor, call.level()).value, values);
    }
  });
  const ScalarType wanted = native::result_type(samples);
  return wanted == native::result_type(values) ? std::nullopt : std::optional<ScalarType>(wanted);
}

} // namespace

bool is_given(const std::optional<Tensor>& tensor) {
  return tensor.has_value() && tensor->defined();
}

VmapLevelPtr level_of(c10::ArrayRef<Tensor> tensors, const char* op) {
  VmapLevelPtr highest;
  for (const Tensor& tensor : tensors) {
    if (const BatchedTensorImpl* const batched = maybeGetBatchedImpl(tensor)) {
      check_not_escaped(*batched, op);
      if (!highest || batched->level() > highest->number) {
        highest = batched->vmap_level();
      }
    }
  }
  return highest;
}

Tensor zero_sample(const Tensor& tensor, const VmapLevel& level) {
  const BatchedValue sample = value_at(tensor, level);
  if (!sample.is_batched()) {
    return sample.value;
  }
  return isIntegralType(tensor.scalar_type(), /*includeBool=*/true) ? at::zeros(tensor.sizes(), sample.value.options())
                                                                    : sample.value.sum(*sample.bdim);
}

Tensor no_samples_of(const Tensor& like) {
  return like.defined() ? like.unsqueeze(0).narrow(0, 0, 0) : like;
}

Tensor pad_sample(const Tensor& batch_first, int64_t rank_of_sample, int64_t rank) {
  Tensor padded = batch_first;
  for (int64_t d = rank_of_sample; d < rank; ++d) {
    padded = padded.unsqueeze(1);
  }
  return padded;
}

void batch_pointwise(const BatchCall& call) {
  call.check_written();
  int64_t rank = 0;
  call.for_each_tensor([&](size_t, const Tensor& tensor) { rank = std::max(rank, tensor.dim()); });
  const std::optional<ScalarType> common = common_dtype(call);
  const auto value_of = [&](size_t i, const Tensor& tensor) {
    const BatchedValue sample = value_at(tensor, call.level());
    Tensor value = sample.is_batched() ? pad_sample(sample.batch_first(), sample.rank(), rank) : sample.value;
    const bool casts = common && value.scalar_type() != kBool && !call.is_written(i);
    return casts ? value.to(*common) : value;
  };
  call.writes() ? call.finish(call.call(call.with_tensors(value_of))) : call.redo_with_tensors(value_of);
}

void batch_dims(const BatchCall& call) {
  call.check_written();
  int64_t rank = first_rank(call);
  const std::optional<size_t> sizes = call.position("input_sizes"); // of a gradient's input
  rank = sizes ? static_cast<int64_t>(call.argument(*sizes).toListRef().size()) : rank;
  Stack arguments = all_with_batch(call, rank == 0);
  count_batch(call, arguments, rank);
  if (sizes) {
    std::vector<int64_t> input = call.argument(*sizes).toIntVector();
    input.insert(input.begin(), call.batch_size());
    if (rank == 0) { // a dimension for the call, in front of those that the operator adds
      input.push_back(1);
      arguments[0] = arguments[0].toTensor().unsqueeze(1);
    }
    arguments[*sizes] = std::move(input);
  }
  Stack results = call.call(std::move(arguments));
  if (rank == 0 && !sizes && any_has_dimensions(call) && !call.writes()) {
    give_sizes_of_samples(call, results); // an index with a dimension into a number, say
  } else if (rank == 0) {
    drop_last_dimension(results);
  }
  call.finish(std::move(results));
}

void batch_map(const BatchCall& call) {
  call.check_written();
  call.finish(call.call(all_with_batch(call, false)));
}

namespace {

/// Operators that reduce all of a tensor, and those that reduce dimensions of it in the same way.
struct FullReduction {
  std::string_view name;
  const char* other;
  const char* overload;
  bool takes_list;
};

constexpr FullReduction kFullReductions[] = {
    {"aten::sum", "aten::sum", "dim_IntList", true},
    {"aten::mean", "aten::mean", "dim", true},
    {"aten::prod", "aten::prod", "dim_int", false},
    {"aten::max", "aten::amax", "", true},
    {"aten::min", "aten::amin", "", true},
    {"aten::any", "aten::any", "dim", false},
    {"aten::all", "aten::all", "dim", false},
    {"aten::median", "aten::median", "dim", false},
    {"aten::nanmedian", "aten::nanmedian", "dim", false},
};

/// Whether the values of the samples, below all batches, require gradients.
bool requires_grad_below(const Tensor& tensor) {
  return value_below_all_levels(tensor).requires_grad();
}

/// Elements that are equal to the median share its gradient; that of a median along a dimension goes to one of them.
Tensor median_with_shared_gradient(const Tensor& rows, const Tensor& medians) {
  const Tensor are_medians = rows.eq(medians.unsqueeze(1)).logical_or(rows.isnan());
  return at::where(are_medians, rows, -std::numeric_limits<double>::infinity()).amax(1);
}

bool is_differentiated(const Tensor& tensor) {
  const Tensor value = value_below_all_levels(tensor);
  return (value.requires_grad() && c10::GradMode::is_enabled()) || value.key_set().has(c10::DispatchKey::ForwardAD);
}

/// Samples as rows.
Tensor flat_samples(const BatchCall& call) {
  const Tensor value = call.tensor(0).with_batch(call.batch_size());
  return value.dim() == 1 ? value.unsqueeze(1)
                          : value.reshape({value.size(0), c10::multiply_integers(value.sizes().slice(1))});
}

void reduce_all(const BatchCall& call) {
  const auto* const found = std::find_if(
      std::begin(kFullReductions), std::end(kFullReductions),
      [&](const FullReduction& reduction) { return reduction.name == call.name(); });
  TORCH_INTERNAL_ASSERT(found != std::end(kFullReductions), call.name(), " has no form with dimensions");
  const c10::OperatorHandle other = c10::Dispatcher::singleton().findSchemaOrThrow(found->other, found->overload);
  Stack arguments;
  for (const c10::Argument& argument : other.schema().arguments()) {
    const std::optional<size_t> same = call.position(argument.name().c_str());
    if (argument.name() == "self") {
      arguments.emplace_back(flat_samples(call));
    } else if (argument.name() == "dim") {
      arguments.emplace_back(found->takes_list ? c10::IValue(std::vector<int64_t>{1}) : c10::IValue(int64_t{1}));
    } else {
      arguments.push_back(same ? call.argument(*same) : *argument.default_value());
    }
  }
  const Tensor rows = arguments[0].toTensor();
  other.callBoxed(&arguments);
  arguments.resize(call.schema().returns().size()); // of values and indices the values
  if (found->name == "aten::median" && is_differentiated(rows)) {
    arguments[0] = median_with_shared_gradient(rows, arguments[0].toTensor());
  }
  call.finish(std::move(arguments));
}

/// `dim=None` of an operator that takes one dimension: that of rows, and with keepdim all dimensions are there again.
void reduce_rows(const BatchCall& call, size_t dim) {
  Stack arguments = call.with_tensors([&](size_t, const Tensor&) { return flat_samples(call); });
  arguments[dim] = int64_t{1};
  const int64_t rank = call.argument(0).toTensor().dim();
  Stack results = call.call(std::move(arguments));
  const std::optional<size_t> keepdim = call.position("keepdim");
  if (keepdim && call.argument(*keepdim).toBool()) {
    c10::DimVector sizes(static_cast<size_t>(rank) + 1, 1);
    sizes[0] = call.batch_size();
    for (c10::IValue& result : results) {
      result = result.toTensor().reshape(sizes);
    }
  }
  call.finish(std::move(results));
}

} // namespace

void batch_reduce(const BatchCall& call) {
  const std::optional<size_t> dim = call.position("dim");
  if (!dim) {
    return reduce_all(call);
  }
  const c10::IValue given = call.argument(*dim);
  const c10::TypePtr& type = call.schema().arguments()[*dim].type();
  const c10::OptionalType* const optional = type->castRaw<c10::OptionalType>();
  const bool is_list = (optional ? optional->getElementType() : type)->kind() == c10::TypeKind::ListType;
  if (given.isNone() && !is_list) {
    return reduce_rows(call, *dim);
  }
  if (given.isNone() || (given.isIntList() && given.toIntVector().empty())) {
    std::vector<int64_t> all(static_cast<size_t>(std::max<int64_t>(first_rank(call), 1)));
    std::iota(all.begin(), all.end(), 0);
    call.argument(*dim) = std::move(all);
  }
  batch_dims(call);
}

namespace {

/// Dimensions that a matrix or vector has for itself, without those of a batch.
int64_t own_rank(const BatchCall& call, size_t i) {
  const std::string& name = call.schema().arguments()[i].name();
  const std::string_view op = call.name();
  const bool is_vector = name == "tau" || name.find("pivots") != std::string::npos || (op == "aten::ormqr" && i == 1);
  if (is_vector) {
    return 1;
  }
  // A right-hand side is a vector for each matrix if it has its sizes but the last one.
  const bool may_be_vector = i == 1 && (op == "aten::_linalg_solve_ex" || op == "aten::linalg_lstsq");
  const IntArrayRef left = call.argument(0).toTensor().sizes(), right = call.argument(i).toTensor().sizes();
  return may_be_vector && right == left.slice(0, left.size() - 1) ? 1 : 2;
}

} // namespace

namespace {

bool is_empty_vector(const c10::IValue& result) {
  return result.toTensor().dim() == 1 && result.toTensor().size(0) == 0;
}

/// What was not asked for is empty, whatever the batch.
void add_batch_to_empty_results(const BatchCall& call, Stack& results) {
  if (std::none_of(results.begin(), results.end(), is_empty_vector)) {
    return;
  }
  if (call.batch_size() != 0) {
    for (c10::IValue& result : results) {
      if (is_empty_vector(result)) {
        result = result.toTensor().unsqueeze(0).expand({call.batch_size(), 0});
      }
    }
    return;
  }
  // Without samples a vector without elements may be numbers of samples, too.
  give_sizes_of_samples(call, results);
}

} // namespace

void batch_leading(const BatchCall& call) {
  call.check_written();
  int64_t in_front = 0;
  call.for_each_tensor(
      [&](size_t i, const Tensor& tensor) { in_front = std::max(in_front, tensor.dim() - own_rank(call, i)); });
  Stack results = call.call(call.with_tensors([&](size_t i, const Tensor& tensor) {
    // Which decomposition is given may depend on the strides: those of a batch are the usual ones.
    const Tensor value = value_at(tensor, call.level()).with_batch(call.batch_size()).contiguous();
    return pad_sample(value, tensor.dim(), in_front + own_rank(call, i));
  }));
  add_batch_to_empty_results(call, results);
  call.finish(std::move(results));
}

/// Sum or mean over all of each sample.
void batch_loss(const BatchCall& call) {
  const size_t position = *call.position("reduction");
  const int64_t reduction = call.argument(position).toInt();
  int64_t rank = 0;
  call.for_each_tensor([&](size_t, const Tensor& tensor) { rank = std::max(rank, tensor.dim()); });
  Stack arguments = call.with_tensors([&](size_t, const Tensor& tensor) {
    return pad_sample(value_at(tensor, call.level()).with_batch(call.batch_size()), tensor.dim(), rank);
  });
  arguments[position] = static_cast<int64_t>(Reduction::None);
  if (const std::optional<size_t> gradient = call.position("grad_output")) {
    // The gradient of a loss: that of the mean comes in as that of each element.
    if (reduction == Reduction::Mean) {
      const int64_t elements = call.argument(*call.position("self")).toTensor().numel();
      arguments[*gradient] = arguments[*gradient].toTensor().div(elements);
    }
    return call.finish(call.call(std::move(arguments)));
  }
  Tensor losses = call.call(std::move(arguments))[0].toTensor();
  if (reduction != Reduction::None && losses.dim() > 1) {
    losses = reduction == Reduction::Mean ? losses.flatten(1).mean(1) : losses.flatten(1).sum(1);
  }
  call.finish({losses});
}

void batch_sizes(const BatchCall& call) {
  Stack arguments = all_with_batch(call, false);
  const size_t size = *call.position("size");
  std::vector<int64_t> sizes = call.argument(size).toIntVector();
  sizes.insert(sizes.begin(), call.batch_size());
  arguments[size] = std::move(sizes);
  call.finish(call.call(std::move(arguments)));
}

void batch_samples(const BatchCall& call, int64_t rank) {
  const int64_t batch = call.batch_size();
  bool has_samples = true;
  int64_t samples = 0;
  Stack arguments = call.with_tensors([&](size_t i, const Tensor& tensor) {
    const Tensor value = value_at(tensor, call.level()).with_batch(batch);
    if (i == 0) {
      has_samples = tensor.dim() == rank;
      samples = has_samples ? tensor.size(0) : 1;
    }
    return has_samples ? value.flatten(0, 1) : value;
  });
  if (const std::optional<size_t> sizes = call.position("input_size")) { // of a gradient's input
    std::vector<int64_t> input = call.argument(*sizes).toIntVector();
    input[0] *= batch;
    arguments[*sizes] = std::move(input);
  }
  Stack results = call.call(std::move(arguments));
  if (has_samples) {
    for (c10::IValue& result : results) {
      const Tensor joined = result.toTensor();
      c10::DimVector sizes{batch, samples};
      sizes.append(joined.sizes().begin() + 1, joined.sizes().end());
      result = joined.reshape(sizes);
    }
  }
  call.finish(std::move(results));
}

void batch_inplace(const BatchCall& call) {
  call.check_written();
  std::string functional = call.schema().name();
  functional.pop_back(); // the underscore
  bool is_recorded = false;
  Stack arguments(call.with_tensors([&](size_t, const Tensor& tensor) {
    is_recorded = is_recorded || requires_grad_below(tensor);
    return tensor;
  }));
  const Tensor self = arguments[0].toTensor();
  if (is_recorded && c10::GradMode::is_enabled()) {
    arguments[0] = self.clone(); // what backward needs of it stays as it was
  }
  const Stack result = call.call(functional.c_str(), call.schema().overload_name().c_str(), std::move(arguments));
  self.copy_(result[0].toTensor());
  call.finish({self});
}

} // namespace at::functorch
