// Reductions of stretches of a dimension.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/tensor_literal.h>
#include <aten/native/support/ReductionType.h>
#include <aten/native/support/optional_tensor.h>
#include <c10/core/DeferredStorage.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>
#include <c10/util/accumulate.h>

#include <limits>
#include <string>
#include <vector>

namespace at::native {
namespace {

using c10::DimVector;

/// The elements of a dimension that belong to some segment, and the number of the segment of each. Positions count the
/// rows in front of the dimension and the dimension together, segments likewise.
struct Segments {
  Tensor positions;
  Tensor numbers;
  DimVector sizes; // of the result
  int64_t count = 0;
};

void check_index(const char* name, const Tensor& t, const Tensor& data, int64_t axis) {
  TORCH_CHECK(
      t.device() == data.device() && !t.is_meta(), "segment_reduce(): ", name, " and data must be on one device, got ",
      t.device(), " and ", data.device());
  TORCH_CHECK(
      t.scalar_type() == kLong || t.scalar_type() == kInt, "segment_reduce(): ", name, " must be int32 or int64, got ",
      t.scalar_type());
  TORCH_CHECK(
      t.dim() == axis + 1, "segment_reduce(): Expected axis to be the last dimension of ", name, " but got ", axis,
      ".");
  TORCH_CHECK(
      t.sizes().slice(0, axis) == data.sizes().slice(0, axis), "segment_reduce(): ", name,
      " must have the sizes of data in front of axis ", axis, ", and one more dimension; got ", t.sizes(), " for data ",
      data.sizes());
}

Segments segments_of(const Tensor& data, const Tensor& lengths, const Tensor& offsets, int64_t axis, bool unsafe) {
  const bool by_length = lengths.defined();
  const Tensor& ends = by_length ? lengths : offsets;
  check_index(by_length ? "lengths" : "offsets", ends, data, axis);
  const Tensor list = ends.to(kCPU, kLong).contiguous().resolve_neg(); // waits for a device
  c10::compute_storage(list.storage());
  const int64_t* number = list.const_data_ptr<int64_t>();
  const int64_t entries = list.size(axis), size = data.size(axis);
  TORCH_CHECK(
      by_length || entries > 0, "segment_reduce(): offsets must not be empty: they say where the last segment ends");
  const int64_t segments = by_length ? entries : entries - 1;
  const int64_t rows = c10::multiply_integers(data.sizes().slice(0, axis));
  std::vector<int64_t> positions, numbers;
  for (int64_t row = 0; row < rows; ++row, number += entries) {
    int64_t at = by_length ? 0 : number[0];
    TORCH_CHECK(
        by_length || at >= 0, "segment_reduce(): offsets must rise and stay within the ", size,
        " elements of the dimension, got ", at);
    for (int64_t segment = 0; segment < segments; ++segment) {
      TORCH_CHECK(!by_length || number[segment] >= 0, "lengths contains negative value! (", number[segment], ")");
      const int64_t end =
          by_length ? (number[segment] > size - at ? size + 1 : at + number[segment]) : number[segment + 1];
      TORCH_CHECK(
          by_length ? end <= size : end >= at && end <= size,
          by_length ? "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) "
                      "when !unsafe."
                    : "segment_reduce(): offsets must rise and stay within the ",
          by_length ? "" : std::to_string(size) + " elements of the dimension, got " + std::to_string(end));
      for (; at < end; ++at) {
        positions.push_back(row * size + at);
        numbers.push_back(row * segments + segment);
      }
    }
    TORCH_CHECK(
        !by_length || unsafe || at == size,
        "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe. "
        "They sum to ",
        at, ", the size is ", size);
  }
  Segments result;
  result.positions = at::tensor(IntArrayRef(positions)).to(data.device());
  result.numbers = at::tensor(IntArrayRef(numbers)).to(data.device());
  result.sizes.assign(data.sizes().begin(), data.sizes().end());
  result.sizes[axis] = segments;
  result.count = rows * segments;
  return result;
}

/// Rows in front of and of the dimension as one, the rest as the other dimension.
Tensor as_rows(const Tensor& t, int64_t axis) {
  const IntArrayRef sizes = t.sizes();
  return t.reshape({c10::multiply_integers(sizes.slice(0, axis + 1)), c10::multiply_integers(sizes.slice(axis + 1))});
}

double neutral(ReductionType reduction) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return reduction == ReductionType::MAX ? -kInfinity
      : reduction == ReductionType::MIN  ? kInfinity
      : reduction == ReductionType::PROD ? 1
                                         : 0;
}

/// Rows `values` reduced into rows `numbers` of `start`.
Tensor reduce_rows(const Tensor& start, const Tensor& numbers, const Tensor& values, ReductionType reduction) {
  switch (reduction) {
    case ReductionType::SUM:
    case ReductionType::MEAN:
      return start.index_add(0, numbers, values);
    case ReductionType::MAX:
      return start.index_reduce(0, numbers, values, "amax", /*include_self=*/true);
    case ReductionType::MIN:
      return start.index_reduce(0, numbers, values, "amin", /*include_self=*/true);
    case ReductionType::PROD:
      return start.index_reduce(0, numbers, values, "prod", /*include_self=*/true);
  }
  return start;
}

Tensor members_of(const Segments& segments, const TensorOptions& options) {
  const Tensor ones = at::ones({segments.numbers.numel()}, options);
  return at::zeros({segments.count}, options).index_add(0, segments.numbers, ones).unsqueeze(1);
}

} // namespace

Tensor segment_reduce(
    const Tensor& data,
    std::string_view reduce,
    const std::optional<Tensor>& lengths,
    const std::optional<Tensor>& indices,
    const std::optional<Tensor>& offsets,
    int64_t axis,
    bool unsafe,
    const std::optional<Scalar>& initial) {
  TORCH_CHECK(data.dim() > 0, "segment_reduce(): data must have a dimension to reduce, got sizes ", data.sizes());
  axis = c10::maybe_wrap_dim(axis, data.dim());
  TORCH_CHECK(!given(indices), "segment_reduce(): indices based reduction is not supported yet.");
  TORCH_CHECK(given(lengths) || given(offsets), "segment_reduce(): Either lengths or offsets must be defined.");
  TORCH_CHECK_NOT_IMPLEMENTED(
      at::isFloatingType(data.scalar_type()), "\"_segment_reduce_cpu\" not implemented for '", data.scalar_type(), "'");
  const ReductionType reduction = get_reduction_enum(reduce);
  const Segments segments = segments_of(data, defined_or_empty(lengths), defined_or_empty(offsets), axis, unsafe);
  const Tensor rows = as_rows(data, axis);
  const Scalar first = initial.has_value() ? *initial : Scalar(neutral(reduction));
  const Tensor start = at::full({segments.count, rows.size(1)}, first, data.options());
  Tensor result = reduce_rows(start, segments.numbers, rows.index_select(0, segments.positions), reduction);
  if (reduction == ReductionType::MEAN) {
    // A segment without elements has no mean, unless there is something to begin with.
    const Tensor members = members_of(segments, data.options());
    result = initial.has_value() ? result / members.clamp_min(1) : result / members;
  }
  return result.reshape(segments.sizes);
}

Tensor _segment_reduce_backward(
    const Tensor& grad,
    const Tensor& output,
    const Tensor& data,
    std::string_view reduce,
    const std::optional<Tensor>& lengths,
    const std::optional<Tensor>& offsets,
    int64_t axis,
    const std::optional<Scalar>& initial) {
  TORCH_CHECK(
      data.dim() > 0, "_segment_reduce_backward(): data must have a dimension that was reduced, got sizes ",
      data.sizes());
  axis = c10::maybe_wrap_dim(axis, data.dim());
  TORCH_CHECK(given(lengths) || given(offsets), "segment_reduce(): Either lengths or offsets must be defined.");
  const ReductionType reduction = get_reduction_enum(reduce);
  const Segments segments =
      segments_of(data, defined_or_empty(lengths), defined_or_empty(offsets), axis, /*unsafe=*/true);
  TORCH_CHECK(
      grad.sizes() == IntArrayRef(segments.sizes) && output.sizes() == grad.sizes(),
      "_segment_reduce_backward(): grad and output must have the sizes of the result, ", IntArrayRef(segments.sizes),
      ", got ", grad.sizes(), " and ", output.sizes());
  const Tensor rows = as_rows(data, axis).index_select(0, segments.positions);
  const auto spread = [&](const Tensor& t) { return t.index_select(0, segments.numbers); };
  const Tensor grads = as_rows(grad, axis), outputs = as_rows(output, axis);
  Tensor result = spread(grads);
  if (reduction == ReductionType::MEAN) {
    result = result / spread(members_of(segments, grad.options()));
  } else if (reduction == ReductionType::MAX || reduction == ReductionType::MIN) {
    // Elements that are equal share what arrives.
    const Tensor chosen = rows.eq(spread(outputs)).logical_or(rows.isnan()).to(grad.scalar_type());
    const Tensor sharers = at::zeros_like(grads).index_add(0, segments.numbers, chosen);
    result = result * chosen / spread(sharers.clamp_min(1));
  } else if (reduction == ReductionType::PROD) {
    // Where an element is zero, the product of the others has to be found without it.
    const Tensor zero = rows.eq(0);
    const Tensor zeros = at::zeros_like(grads).index_add(0, segments.numbers, zero.to(grad.scalar_type()));
    const Tensor start = at::full_like(grads, initial.has_value() ? *initial : Scalar(1));
    const Tensor others = reduce_rows(start, segments.numbers, rows.masked_fill(zero, 1), ReductionType::PROD);
    const Tensor alone = zero.logical_and(spread(zeros).eq(1));
    const Tensor none = spread(zeros).eq(0);
    result = result *
        at::where(
                 none, spread(outputs) / rows.masked_fill(zero, 1), spread(others).masked_fill(alone.logical_not(), 0));
  }
  const Tensor flat = at::zeros_like(as_rows(data, axis)).index_add(0, segments.positions, result);
  return flat.reshape(data.sizes());
}

} // namespace at::native
