// How operators are batched: which rule each has, and what rules are.
#pragma once

#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/functorch/batch_call.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>

namespace at::functorch {

/// What the field `batch` of an entry may be. `pointwise` is understood for entries of that shape.
enum class Rule : uint8_t {
  pointwise, // tensors broadcast: the batch comes in front of all dimensions
  dims, // all tensors get the batch in front, and arguments that name dimensions count it
  map, // the same, for operators without such arguments
  reduce, // as dims; without a dimension over all of a sample
  leading, // operators on matrices that take any number of batch dimensions in front
  loss, // pointwise, and reduced over each sample as the argument `reduction` says
  sizes, // the argument `size` gets the batch in front
  samples, // the batch joins the first dimension, which is samples already, of all tensors; with a rank of those
  inplace, // the functional form is batched, and copied into self
  decompose, // the explicit function, which calls other operators
  dynamic, // the size of the result depends on the data: refused
  loop, // called for each sample
};

struct OperatorRule {
  const char* name;
  const char* overload_name;
  Rule rule;
  int8_t rank;
};

/// Sorted by name and overload; generated.
c10::ArrayRef<OperatorRule> operator_rules();

void batch_pointwise(const BatchCall& call);
void batch_dims(const BatchCall& call);
void batch_map(const BatchCall& call);
void batch_reduce(const BatchCall& call);
void batch_leading(const BatchCall& call);
void batch_loss(const BatchCall& call);
void batch_sizes(const BatchCall& call);
/// `rank` is that of tensors with samples; with one dimension less a tensor is one of them.
void batch_samples(const BatchCall& call, int64_t rank);
void batch_inplace(const BatchCall& call);
void batch_by_loop(const BatchCall& call);

/// Whether an optional argument is a tensor.
bool is_given(const std::optional<Tensor>& tensor);

/// The highest level of a tensor among these that is batched; null if none is. Throws if that vmap has ended.
VmapLevelPtr level_of(c10::ArrayRef<Tensor> tensors, const char* op);

/// What stands for a sample where there are none: zeros, with the history of the batch.
Tensor zero_sample(const Tensor& tensor, const VmapLevel& level);
/// No samples of tensors like this one, with its history; undefined of an undefined one.
Tensor no_samples_of(const Tensor& like);

namespace detail {

template <class Argument>
Argument zero_sample_of(const VmapLevel& level, const Argument& argument) {
  if constexpr (std::is_same_v<Argument, Tensor>) {
    return zero_sample(argument, level);
  } else if constexpr (std::is_same_v<Argument, std::optional<Tensor>>) {
    return is_given(argument) ? Argument(zero_sample(*argument, level)) : argument;
  } else {
    return argument;
  }
}

inline Tensor batched_none(const VmapLevelPtr& level, const Tensor& like) {
  return like.defined() ? makeBatched(no_samples_of(like), 0, level) : like;
}
template <class... Tensors>
std::tuple<Tensors...> batched_none(const VmapLevelPtr& level, const std::tuple<Tensors...>& like) {
  return std::apply([&](const Tensors&... results) { return std::tuple(batched_none(level, results)...); }, like);
}

} // namespace detail

/// What an operator gives for a level without samples: of sizes that it has for a sample of zeros.
template <class Operator, class... Arguments>
auto call_without_samples(const VmapLevelPtr& level, const Operator& op, const Arguments&... arguments) {
  return detail::batched_none(level, op(detail::zero_sample_of(*level, arguments)...));
}

/// Adds dimensions of size 1 behind the batch, until a sample has `rank`.
Tensor pad_sample(const Tensor& batch_first, int64_t rank_of_sample, int64_t rank);

/// The rule for an operator, as a row of a table that c10::impl::BuiltinKernels registers: no schemas are parsed or
/// inferred for it when programs start.
template <auto* rule>
constexpr c10::impl::BuiltinKernelRow rule_for(const char* name, const char* overload_name = "") {
  return {name, overload_name, c10::DispatchKey::FuncTorchBatched, c10::impl::builtin_kernel<rule>(), "aten/functorch"};
}

} // namespace at::functorch
