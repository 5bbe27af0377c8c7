// Reductions of stretches of a dimension, and products with a sparse matrix that end in one.
#include <aten/Functions.h>
#include <aten/TensorOperators.h>
#include <aten/native/optional_tensor.h>
#include <aten/tensor_literal.h>
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
  DimVector sizes;  // of the result
  int64_t count = 0;
};

void check_index(const char* name, const Tensor& t, const Tensor& data, int64_t axis) {
  TORCH_CHECK(t.device().is_cpu() && data.device().is_cpu(), "segment_reduce(): ", name, " and data must be on the CPU, got ", t.device(), " and ", data.device());
  TORCH_CHECK(
      t.scalar_type() == kLong || t.scalar_type() == kInt, "segment_reduce(): ", name, " must be int32 or int64, got ", t.scalar_type());
  TORCH_CHECK(
      t.dim() == axis + 1 && t.sizes().slice(0, axis) == data.sizes().slice(0, axis), "segment_reduce(): ", name,
      " must have the sizes of data in front of axis ", axis, ", and one more dimension; got ", t.sizes(), " for data ", data.sizes());
}

Segments segments_of(const Tensor& data, const Tensor& lengths, const Tensor& offsets, int64_t axis, bool unsafe) {
  const bool by_length = lengths.defined();
  const Tensor& ends = by_length ? lengths : offsets;
  check_index(by_length ? "lengths" : "offsets", ends, data, axis);
  const Tensor list = ends.to(kLong).contiguous().resolve_neg();
  const int64_t* number = list.const_data_ptr<int64_t>();
  const int64_t entries = list.size(axis), size = data.size(axis);
  TORCH_CHECK(by_length || entries > 0, "segment_reduce(): offsets must not be empty: they say where the last segment ends");
  const int64_t segments = by_length ? entries : entries - 1;
  const int64_t rows = c10::multiply_integers(data.sizes().slice(0, axis));
  std::vector<int64_t> positions, numbers;
  for (int64_t row = 0; row < rows; ++row, number += entries) {
    int64_t at = by_length ? 0 : number[0];
    TORCH_CHECK(by_length || at >= 0, "segment_reduce(): offsets must rise and stay within the ", size, " elements of the dimension, got ", at);
    for (int64_t segment = 0; segment < segments; ++segment) {
      TORCH_CHECK(!by_length || number[segment] >= 0, "lengths contains negative value! (", number[segment], ")");
      const int64_t end = by_length ? (number[segment] > size - at ? size + 1 : at + number[segment]) : number[segment + 1];
      TORCH_CHECK(
          by_length ? end <= size : end >= at && end <= size,
          by_length ? "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
                    : "segment_reduce(): offsets must rise and stay within the ",
          by_length ? "" : std::to_string(size) + " elements of the dimension, got " + std::to_string(end));
      for (; at < end; ++at) {
        positions.push_back(row * size + at);
        numbers.push_back(row * segments + segment);
      }
    }
    TORCH_CHECK(
        !by_length || unsafe || at == size,
        "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe. They sum to ",
        at, ", the size is ", size);
  }
  Segments result;
  result.positions = at::tensor(IntArrayRef(positions));
  result.numbers = at::tensor(IntArrayRef(numbers));
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

enum class Reduction : uint8_t { Sum, Mean, Max, Min, Prod };

Reduction reduction_named(std::string_view name) {
  if (name == "sum") return Reduction::Sum;
  if (name == "mean") return Reduction::Mean;
  if (name == "max" || name == "amax") return Reduction::Max;
  if (name == "min" || name == "amin") return Reduction::Min;
  if (name == "prod") return Reduction::Prod;
  TORCH_CHECK(false, "reduce argument must be either sum, prod, mean, amax or amin, got ", std::string(name));
}

double neutral(Reduction reduction) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return reduction == Reduction::Max ? -kInfinity : reduction == Reduction::Min ? kInfinity : reduction == Reduction::Prod ? 1 : 0;
}

/// Rows `values` reduced into rows `numbers` of `start`.
Tensor reduce_rows(const Tensor& start, const Tensor& numbers, const Tensor& values, Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::Mean: return start.index_add(0, numbers, values);
    case Reduction::Max: return start.index_reduce(0, numbers, values, "amax", /*include_self=*/true);
    case Reduction::Min: return start.index_reduce(0, numbers, values, "amin", /*include_self=*/true);
    case Reduction::Prod: return start.index_reduce(0, numbers, values, "prod", /*include_self=*/true);
  }
  return start;
}

Tensor members_of(const Segments& segments, const TensorOptions& options) {
  const Tensor ones = at::ones({segments.numbers.numel()}, options);
  return at::zeros({segments.count}, options).index_add(0, segments.numbers, ones).unsqueeze(1);
}

} // namespace

Tensor segment_reduce(
    const Tensor& data, std::string_view reduce, const std::optional<Tensor>& lengths, const std::optional<Tensor>& indices,
    const std::optional<Tensor>& offsets, int64_t axis, bool unsafe, const std::optional<Scalar>& initial) {
  TORCH_CHECK(data.dim() > 0, "segment_reduce(): data must have a dimension to reduce, got sizes ", data.sizes());
  axis = c10::maybe_wrap_dim(axis, data.dim());
  TORCH_CHECK(!given(indices), "segment_reduce(): indices based reduction is not supported yet.");
  TORCH_CHECK(
      given(lengths) || given(offsets), "segment_reduce(): Either lengths or offsets must be defined.");
  TORCH_CHECK_NOT_IMPLEMENTED(
      at::isFloatingType(data.scalar_type()), "\"_segment_reduce_cpu\" not implemented for '", data.scalar_type(), "'");
  const Reduction reduction = reduction_named(reduce);
  const Segments segments = segments_of(data, defined_or_empty(lengths), defined_or_empty(offsets), axis, unsafe);
  const Tensor rows = as_rows(data, axis);
  const Scalar first = initial.has_value() ? *initial : Scalar(neutral(reduction));
  const Tensor start = at::full({segments.count, rows.size(1)}, first, data.options());
  Tensor result = reduce_rows(start, segments.numbers, rows.index_select(0, segments.positions), reduction);
  if (reduction == Reduction::Mean) {
    // A segment without elements has no mean, unless there is something to begin with.
    const Tensor members = members_of(segments, data.options());
    result = initial.has_value() ? result / members.clamp_min(1) : result / members;
  }
  return result.reshape(segments.sizes);
}

Tensor _segment_reduce_backward(
    const Tensor& grad, const Tensor& output, const Tensor& data, std::string_view reduce, const std::optional<Tensor>& lengths,
    const std::optional<Tensor>& offsets, int64_t axis, const std::optional<Scalar>& initial) {
  TORCH_CHECK(data.dim() > 0, "_segment_reduce_backward(): data must have a dimension that was reduced, got sizes ", data.sizes());
  axis = c10::maybe_wrap_dim(axis, data.dim());
  TORCH_CHECK(
      given(lengths) || given(offsets), "segment_reduce(): Either lengths or offsets must be defined.");
  const Reduction reduction = reduction_named(reduce);
  const Segments segments = segments_of(data, defined_or_empty(lengths), defined_or_empty(offsets), axis, /*unsafe=*/true);
  TORCH_CHECK(
      grad.sizes() == IntArrayRef(segments.sizes) && output.sizes() == grad.sizes(), "_segment_reduce_backward(): grad and output must have the sizes of the result, ",
      IntArrayRef(segments.sizes), ", got ", grad.sizes(), " and ", output.sizes());
  const Tensor rows = as_rows(data, axis).index_select(0, segments.positions);
  const auto spread = [&](const Tensor& t) { return t.index_select(0, segments.numbers); };
  const Tensor grads = as_rows(grad, axis), outputs = as_rows(output, axis);
  Tensor result = spread(grads);
  if (reduction == Reduction::Mean) {
    result = result / spread(members_of(segments, grad.options()));
  } else if (reduction == Reduction::Max || reduction == Reduction::Min) {
    // Elements that are equal share what arrives.
    const Tensor chosen = rows.eq(spread(outputs)).logical_or(rows.isnan()).to(grad.scalar_type());
    const Tensor sharers = at::zeros_like(grads).index_add(0, segments.numbers, chosen);
    result = result * chosen / spread(sharers.clamp_min(1));
  } else if (reduction == Reduction::Prod) {
    // Where an element is zero, the product of the others has to be found without it.
    const Tensor zero = rows.eq(0);
    const Tensor zeros = at::zeros_like(grads).index_add(0, segments.numbers, zero.to(grad.scalar_type()));
    const Tensor start = at::full_like(grads, initial.has_value() ? *initial : Scalar(1));
    const Tensor others = reduce_rows(start, segments.numbers, rows.masked_fill(zero, 1), Reduction::Prod);
    const Tensor alone = zero.logical_and(spread(zeros).eq(1));
    const Tensor none = spread(zeros).eq(0);
    result = result * at::where(none, spread(outputs) / rows.masked_fill(zero, 1), spread(others).masked_fill(alone.logical_not(), 0));
  }
  const Tensor flat = at::zeros_like(as_rows(data, axis)).index_add(0, segments.positions, result);
  return flat.reshape(data.sizes());
}

Tensor _sparse_mm_reduce(const Tensor& sparse, const Tensor& dense, std::string_view reduce) {
  TORCH_CHECK(
      sparse.layout() == kSparseCsr && sparse.dim() == 2, "_sparse_mm: a reduction needs a matrix of layout SparseCsr, got ",
      sparse.layout(), " of sizes ", sparse.sizes());
  TORCH_CHECK(
      dense.layout() == kStrided && dense.dim() == 2 && dense.size(0) == sparse.size(1), "_sparse_mm: expected a strided matrix with ",
      sparse.size(1), " rows, got sizes ", dense.sizes());
  TORCH_CHECK(
      sparse.scalar_type() == dense.scalar_type(), "_sparse_mm: expected both matrices to have one dtype, got ", sparse.scalar_type(),
      " and ", dense.scalar_type());
  const Reduction reduction = reduction_named(reduce);
  TORCH_CHECK(reduction != Reduction::Prod, "sparse_mm_reduce: reduce type of prod has not been enabled.");
  // Kept out of the history: places have no gradient.
  const Tensor places = at::_convert_indices_from_csr_to_coo(sparse.crow_indices(), sparse.col_indices());
  const Tensor rows = places.select(0, 0), cols = places.select(0, 1);
  const Tensor products = sparse.values().unsqueeze(1) * dense.index_select(0, cols);
  const Tensor start = at::zeros({sparse.size(0), dense.size(1)}, dense.options());
  if (reduction == Reduction::Max || reduction == Reduction::Min) {
    return start.index_reduce(0, rows, products, reduction == Reduction::Max ? "amax" : "amin", /*include_self=*/false);
  }
  const Tensor sums = start.index_add(0, rows, products);
  if (reduction == Reduction::Sum) {
    return sums;
  }
  const Tensor ones = at::ones({rows.numel()}, dense.options());
  return sums / at::zeros({sparse.size(0)}, dense.options()).index_add(0, rows, ones).clamp_min(1).unsqueeze(1);
}

} // namespace at::native
