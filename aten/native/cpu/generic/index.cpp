// Advanced indexing: index, index_put_, masks, take and put.
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/parallel/Parallel.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/core/List.h>
#include <aten/core/ivalue.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/convert.h>
#include <aten/native/cpu/generic/indexed_walk.h>
#include <aten/native/support/expanded_targets.h>
#include <aten/native/support/index_support.h>
#include <aten/native/pointwise/math.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

namespace at::native {

using c10::DimVector;

std::vector<int64_t> index_values(const TensorBase& index) {
  std::vector<int64_t> values(index.numel());
  const Tensor dense = Tensor(index).contiguous();
  convert_elements(
      kLong, values.data(), sizeof(int64_t), dense.scalar_type(), dense.const_data_ptr(),
      static_cast<int64_t>(dense.itemsize()), dense.numel());
  return values;
}

namespace {

int64_t product(IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// A mask as one byte for each element, zero or not, in row-major order.
class MaskBytes {
 public:
  explicit MaskBytes(const TensorBase& mask) : dense_(Tensor(mask).contiguous()) {
    const uint8_t* from = flags();
    at::parallel_for(0, size(), 8 * at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
      int64_t part = 0;
      for (int64_t i = begin; i < end; ++i) {
        part += from[i] != 0;
      }
      count_ += part;
    });
  }

  const uint8_t* flags() const {
    return static_cast<const uint8_t*>(dense_.const_data_ptr());
  }
  IntArrayRef sizes() const {
    return dense_.sizes();
  }
  int64_t size() const {
    return dense_.numel();
  }
  int64_t count() const {
    return count_;
  }

 private:
  Tensor dense_;
  std::atomic<int64_t> count_ = 0;
};

/// Writes the positions of the true elements, those in dimension d to columns[d].
void write_positions(const MaskBytes& mask, const std::vector<int64_t*>& columns) {
  const IntArrayRef sizes = mask.sizes();
  const auto last = static_cast<int64_t>(sizes.size()) - 1;
  if (last < 0 || mask.count() == 0) {
    return;
  }
  const int64_t length = sizes[last];
  const uint8_t* flags = mask.flags();
  DimVector counter(sizes.size(), 0);
  int64_t found = 0;
  for (int64_t row = 0; found < mask.count(); ++row, flags += length) {
    const int64_t before = found;
    // Every position is written, and stays when its flag is set.
    for (int64_t j = 0; j < length && found < mask.count(); ++j) {
      columns[last][found] = j;
      found += flags[j] != 0;
    }
    for (int64_t d = 0; d < last; ++d) {
      std::fill(columns[d] + before, columns[d] + found, counter[d]);
    }
    for (int64_t d = last - 1; d >= 0 && ++counter[d] == sizes[d]; --d) {
      counter[d] = 0;
    }
  }
}

/// One indexed dimension: its values and their shape before broadcasting.
struct IndexedDim {
  int64_t dim;
  DimVector sizes, strides; // strides as the index tensor lies in memory
  Tensor values; // int64 and dense; undefined on the meta device
};

/// Meta tensors have no values: those are left out, and masks, whose shape depends on them, are refused.
std::vector<IndexedDim> collect(const Tensor& self, const c10::List<std::optional<Tensor>>& indices) {
  check_index_tensors(self, indices);
  std::vector<IndexedDim> result;
  int64_t dim = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::optional<Tensor> given = indices.get(i);
    if (!given || !given->defined()) {
      ++dim;
      continue;
    }
    const Tensor& index = *given;
    const ScalarType dtype = index.scalar_type();
    if (dtype == kByte) {
      TORCH_WARN("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
    }
    if (dtype == kBool || dtype == kByte) {
      for (int64_t d = 0; d < index.dim(); ++d) {
        TORCH_CHECK_INDEX(
            index.size(d) == self.size(dim + d), "The shape of the mask ", index.sizes(), " at index ", d,
            " does not match the shape of the indexed tensor ", self.sizes(), " at index ", dim + d);
      }
      TORCH_CHECK_NOT_IMPLEMENTED(
          !index.is_meta(), "index: a mask on the meta device has no elements, so the shape of the result is unknown");
      const MaskBytes mask(index);
      std::vector<Tensor> positions(index.dim());
      std::vector<int64_t*> columns;
      for (Tensor& column : positions) {
        column = empty_contiguous({mask.count()}, kLong, kCPU);
        columns.push_back(column.mutable_data_ptr<int64_t>());
      }
      write_positions(mask, columns);
      for (int64_t d = 0; d < index.dim(); ++d) {
        result.push_back({dim + d, {mask.count()}, {1}, std::move(positions[d])});
      }
      dim += index.dim();
      continue;
    }
    TORCH_CHECK(
        index.device() == self.device() || index.device().is_cpu(), "indices should be either on ", kCPU,
        " or on the same device as the indexed tensor (", self.device(), ")");
    result.push_back(
        {dim, DimVector(index.sizes().begin(), index.sizes().end()),
         DimVector(index.strides().begin(), index.strides().end()),
         index.is_meta() ? Tensor() : IndexSpan(index).dense()});
    ++dim;
  }
  TORCH_CHECK_INDEX(dim <= self.dim(), "too many indices for tensor of dimension ", self.dim(), " (got ", dim, ")");
  return result;
}

std::string shapes_of(const std::vector<IndexedDim>& dims) {
  std::string text;
  for (const IndexedDim& d : dims) {
    text += (text.empty() ? "" : ", ") + c10::str(IntArrayRef(d.sizes));
  }
  return text;
}

/// Calls f(position, offset) for all elements of a shape, with the offset that strides give.
template <class F>
void for_each_offset(IntArrayRef sizes, IntArrayRef strides, F f) {
  const int64_t count = product(sizes);
  DimVector counter(sizes.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    f(i, offset);
    for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
      offset += strides[d];
      if (++counter[d] < sizes[d]) {
        break;
      }
      offset -= strides[d] * sizes[d];
      counter[d] = 0;
    }
  }
}

std::vector<int64_t> all_offsets(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<int64_t> result(product(sizes));
  for_each_offset(sizes, strides, [&](int64_t i, int64_t offset) { result[i] = offset; });
  return result;
}

/// Strides of a tensor of sizes `from` and strides `strides` expanded to `to`.
DimVector expanded_strides(IntArrayRef to, IntArrayRef from, IntArrayRef strides) {
  DimVector result(to.size(), 0);
  for (size_t k = 1; k <= from.size(); ++k) {
    const size_t d = from.size() - k;
    result[to.size() - k] = from[d] == 1 && to[to.size() - k] != 1 ? 0 : strides[d];
  }
  return result;
}

/// Which of two dimensions of the result varies faster in memory, asked of one operand after the other: > 0 when the
/// outer one `a` should come further in, < 0 when the order is right, 0 when no operand knows.
int compare_dims(const std::vector<DimVector>& operands, IntArrayRef sizes, int64_t a, int64_t b) {
  for (const DimVector& strides : operands) {
    if (strides[a] == 0 || strides[b] == 0) {
      continue;
    }
    if (strides[a] != strides[b]) {
      return strides[a] < strides[b] ? -1 : 1;
    }
    if (sizes[a] > sizes[b]) {
      return 1;
    }
  }
  return 0;
}

} // namespace

void check_index_tensors(const Tensor& self, const c10::List<std::optional<Tensor>>& indices) {
  TORCH_CHECK_INDEX(
      static_cast<int64_t>(indices.size()) <= self.dim(), "too many indices for tensor of dimension ", self.dim(),
      " (got ", indices.size(), ")");
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::optional<Tensor> index = indices.get(i);
    const ScalarType dtype = index && index->defined() ? index->scalar_type() : kLong;
    TORCH_CHECK_INDEX(
        dtype == kLong || dtype == kInt || dtype == kBool || dtype == kByte,
        "tensors used as indices must be long, byte or bool tensors (int is taken too); got ", dtype);
  }
}

DimVector index_result_strides(IntArrayRef sizes, const std::vector<DimVector>& operands) {
  const auto ndim = static_cast<int64_t>(sizes.size());
  DimVector order(ndim); // from the innermost
  for (int64_t i = 0; i < ndim; ++i) {
    order[i] = ndim - 1 - i;
  }
  for (int64_t i = 1; i < ndim; ++i) {
    int64_t place = i;
    for (int64_t j = i - 1; j >= 0; --j) {
      const int answer = compare_dims(operands, sizes, order[j], order[place]);
      if (answer < 0) {
        break;
      }
      if (answer > 0) {
        std::swap(order[j], order[place]);
        place = j;
      }
    }
  }
  DimVector strides(ndim);
  int64_t step = 1;
  for (const int64_t dim : order) {
    strides[dim] = step;
    step *= std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

namespace {

/// Broadcasts the values of all indices. Values that lead nowhere, because the result has no elements, are not looked
/// at. As in PyTorch, an error names the first such position, and there the first index, counted among the indices that
/// are given.
void add_sources(const Tensor& self, const std::vector<IndexedDim>& dims, IndexPlan& plan) {
  for (const IndexedDim& d : dims) {
    plan.sources.push_back(
        {d.values.view(d.sizes).expand(plan.index_sizes).contiguous(), self.size(d.dim), self.stride(d.dim)});
  }
  if (product(plan.sizes) == 0) {
    return;
  }
  const int64_t count = product(plan.index_sizes);
  int64_t outside = count, wrong = 0;
  size_t wrong_index = 0;
  for (size_t n = 0; n < dims.size(); ++n) {
    const int64_t* values = plan.sources[n].values.const_data_ptr<int64_t>();
    const int64_t size = plan.sources[n].size;
    if (!any_index_outside(values, count, size)) {
      continue;
    }
    const auto* found =
        std::find_if(values, values + outside, [size](int64_t value) { return value < -size || value >= size; });
    if (found != values + outside) {
      outside = found - values;
      wrong = *found;
      wrong_index = n;
    }
  }
  if (outside < count) {
    checked_index(wrong, plan.sources[wrong_index].size, static_cast<int64_t>(wrong_index));
  }
}

/// Positions whose offsets are worked out at a time.
constexpr int64_t kOffsetBlock = 512;

/// Where the indices lead to at `count` positions of their broadcast shape from `first` on, in elements of self.
void find_offsets(const IndexPlan& plan, int64_t first, int64_t count, int64_t* offsets) {
  std::fill_n(offsets, count, int64_t{0});
  for (const IndexPlan::Source& source : plan.sources) {
    const int64_t* values = source.values.const_data_ptr<int64_t>() + first;
    const int64_t size = source.size, stride = source.stride;
    for (int64_t i = 0; i < count; ++i) {
      offsets[i] += (values[i] + (values[i] >> 63 & size)) * stride;
    }
  }
}

/// The strides of self and of the indices over the dimensions of the result, 0 where they do not move.
std::vector<DimVector> operand_strides(const IndexPlan& plan, const std::vector<IndexedDim>& dims) {
  std::vector<DimVector> operands(1 + dims.size(), DimVector(plan.sizes.size(), 0));
  std::copy(plan.before_strides.begin(), plan.before_strides.end(), operands[0].begin());
  std::copy(plan.after_strides.begin(), plan.after_strides.end(), operands[0].end() - plan.after_strides.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const DimVector strides = expanded_strides(plan.index_sizes, dims[i].sizes, dims[i].strides);
    std::copy(strides.begin(), strides.end(), operands[i + 1].begin() + plan.before.size());
  }
  return operands;
}

/// Everything of a plan but the offsets.
IndexPlan plan_shape(const Tensor& self, const std::vector<IndexedDim>& dims) {
  IndexPlan plan;
  for (const IndexedDim& d : dims) {
    TORCH_CHECK_INDEX(
        at::are_expandable(plan.index_sizes, d.sizes),
        "shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes_of(dims));
    plan.index_sizes = at::infer_size_dimvector(plan.index_sizes, d.sizes);
  }
  const bool takes_some = product(plan.index_sizes) != 0;
  std::vector<bool> indexed(self.dim());
  for (const IndexedDim& d : dims) {
    TORCH_CHECK_INDEX(
        !takes_some || self.size(d.dim) != 0, "index is out of bounds for dimension with size 0 (dimension ", d.dim,
        ")");
    indexed[d.dim] = true;
  }
  // Indexed dimensions side by side are replaced where they stand, else the result starts with them.
  const auto first = std::find(indexed.begin(), indexed.end(), true);
  const auto last = std::find(indexed.rbegin(), indexed.rend(), true).base();
  const bool adjacent = !dims.empty() && std::all_of(first, last, [](bool b) { return b; });
  const int64_t place = adjacent ? first - indexed.begin() : 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (indexed[d]) {
      continue;
    }
    const bool is_before = adjacent && d < place;
    (is_before ? plan.before : plan.after).push_back(self.size(d));
    (is_before ? plan.before_strides : plan.after_strides).push_back(self.stride(d));
  }
  plan.sizes = plan.before;
  plan.sizes.insert(plan.sizes.end(), plan.index_sizes.begin(), plan.index_sizes.end());
  plan.sizes.insert(plan.sizes.end(), plan.after.begin(), plan.after.end());
  plan.strides = index_result_strides(plan.sizes, operand_strides(plan, dims));
  return plan;
}

/// Expands masks, broadcasts, checks all values. Throws IndexError; nothing is written.
IndexPlan plan_index(const Tensor& self, const std::vector<IndexedDim>& dims) {
  IndexPlan plan = plan_shape(self, dims);
  add_sources(self, dims, plan);
  return plan;
}

/// Runs f(result position, element offset in self) over all elements of a plan, threads splitting the positions; each
/// may stand for a row of `row_size` elements.
template <class F>
void for_each_element(const IndexPlan& plan, bool parallel, F f, int64_t row_size = 1) {
  const std::vector<int64_t> before = all_offsets(plan.before, plan.before_strides);
  const std::vector<int64_t> after = all_offsets(plan.after, plan.after_strides);
  const auto inner = static_cast<int64_t>(after.size());
  const int64_t middle = product(plan.index_sizes);
  const auto rows = inner == 0 ? 0 : static_cast<int64_t>(before.size()) * middle;
  const auto body = [&](int64_t begin, int64_t end) {
    int64_t offsets[kOffsetBlock];
    for (int64_t row = begin; row < end;) {
      // Rows of one outer position: no division for each.
      const int64_t outer = row / middle, stop = std::min({end, (outer + 1) * middle, row + kOffsetBlock});
      find_offsets(plan, row - outer * middle, stop - row, offsets);
      const int64_t* offset = offsets;
      const int64_t start = before[outer];
      if (inner == 1) {
        for (; row < stop; ++row) {
          f(row, start + *offset++);
        }
        continue;
      }
      for (; row < stop; ++row) {
        const int64_t base = before[outer] + *offset++;
        for (int64_t k = 0; k < inner; ++k) {
          f(row * inner + k, base + after[k]);
        }
      }
    }
  };
  if (parallel) {
    at::parallel_for(
        0, rows, std::max<int64_t>(1, at::internal::GRAIN_SIZE / std::max<int64_t>(inner * row_size, 1)), body);
  } else {
    body(0, rows);
  }
}

/// Whether what follows the indexed dimensions lies together, and is worth a copy of bytes.
bool has_dense_rows(const IndexPlan& plan) {
  constexpr int64_t kLeast = 16;
  int64_t step = 1;
  for (size_t d = plan.after.size(); d-- > 0;) {
    if (plan.after[d] != 1 && plan.after_strides[d] != step) {
      return false;
    }
    step *= plan.after[d];
  }
  return step >= kLeast;
}

/// The plan of the beginnings of dense rows.
IndexPlan rows_of(const IndexPlan& plan) {
  IndexPlan rows = plan;
  rows.after.clear();
  rows.after_strides.clear();
  return rows;
}

} // namespace

Tensor index_meta(const Tensor& self, const c10::List<std::optional<Tensor>>& indices) {
  const IndexPlan plan = plan_shape(self, collect(self, indices));
  return empty_spec({plan.sizes, self.scalar_type(), self.device(), plan.strides});
}

Tensor index_cpu(const Tensor& self, const c10::List<std::optional<Tensor>>& indices) {
  const IndexPlan plan = plan_index(self, collect(self, indices));
  Tensor result = empty_spec({plan.sizes, self.scalar_type(), self.device(), plan.strides});
  if (!result.is_contiguous()) {
    const size_t lead = plan.before.size();
    const IntArrayRef strides = plan.strides;
    const std::vector<int64_t> before = all_offsets(plan.before, strides.slice(0, lead));
    const std::vector<int64_t> middle = all_offsets(plan.index_sizes, strides.slice(lead, plan.index_sizes.size()));
    const std::vector<int64_t> after = all_offsets(plan.after, strides.slice(lead + plan.index_sizes.size()));
    const auto inner = static_cast<int64_t>(after.size());
    const auto rows = static_cast<int64_t>(middle.size());
    by_element_size(self.itemsize(), [&](auto word) {
      using T = decltype(word);
      const T* from = static_cast<const T*>(self.const_data_ptr());
      T* to = static_cast<T*>(result.mutable_data_ptr());
      for_each_element(plan, /*parallel=*/true, [&](int64_t i, int64_t offset) {
        const int64_t row = i / inner;
        to[before[row / rows] + middle[row % rows] + after[i % inner]] = from[offset];
      });
    });
    return result;
  }
  if (has_dense_rows(plan)) {
    const int64_t row = product(plan.after) * self.itemsize(), size = self.itemsize();
    const char* from = static_cast<const char*>(self.const_data_ptr());
    char* to = static_cast<char*>(result.mutable_data_ptr());
    const auto copy = [=](int64_t i, int64_t offset) {
      std::memcpy(to + i * row, from + offset * size, static_cast<size_t>(row));
    };
    for_each_element(rows_of(plan), /*parallel=*/true, copy, row);
    return result;
  }
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(result.mutable_data_ptr());
    for_each_element(plan, /*parallel=*/true, [=](int64_t i, int64_t offset) { to[i] = from[offset]; });
  });
  return result;
}

namespace {

/// A tensor with the elements of `t` that shares no memory with `self`.
Tensor apart_from(const Tensor& self, const Tensor& t) {
  return at::get_overlap_status(self, t) == at::MemOverlapStatus::No ? t : t.clone(at::MemoryFormat::Contiguous);
}

void check_values(const Tensor& self, const Tensor& values, const IndexPlan& plan) {
  warn_if_index_put_target_is_expanded(self);
  TORCH_CHECK(
      at::is_expandable_to(values.sizes(), plan.sizes), "shape mismatch: value tensor of shape ", values.sizes(),
      " cannot be broadcast to indexing result of shape ", IntArrayRef(plan.sizes));
  TORCH_CHECK(
      self.scalar_type() == values.scalar_type(), "Index put requires the source and destination dtypes match, got ",
      self.scalar_type(), " for the destination and ", values.scalar_type(), " for the source.");
}

/// `values` at the size of the plan, its indexed dimensions and the plan's sources from the slowest to the fastest: of
/// repeated positions the last in memory wins. First asked is self, then values, then the indices.
Tensor in_writing_order(IndexPlan& plan, const std::vector<IndexedDim>& dims, const Tensor& values) {
  const Tensor expanded = values.expand(plan.sizes);
  const auto lead = static_cast<int64_t>(plan.before.size());
  const auto ndim = static_cast<int64_t>(plan.index_sizes.size());
  if (ndim < 2 || expanded.numel() == 0) {
    return expanded;
  }
  std::vector<DimVector> operands = operand_strides(plan, dims);
  operands.insert(operands.begin() + 1, expanded_strides(plan.sizes, values.sizes(), values.strides()));
  const DimVector strides = index_result_strides(plan.sizes, operands);
  DimVector order(expanded.dim());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto first = order.begin() + lead;
  std::stable_sort(first, first + ndim, [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  if (std::is_sorted(order.begin(), order.end())) {
    return expanded;
  }
  DimVector positions(first, first + ndim);
  for (int64_t& d : positions) {
    d -= lead;
  }
  for (IndexPlan::Source& source : plan.sources) {
    source.values = source.values.permute(positions).contiguous();
  }
  return expanded.permute(order);
}

} // namespace

Tensor& _index_put_impl_meta_(
    Tensor& self, const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool, bool /*unsafe*/) {
  check_values(self, values, plan_shape(self, collect(self, indices)));
  return self;
}

Tensor& _index_put_impl_cpu_(
    Tensor& self,
    const c10::List<std::optional<Tensor>>& indices,
    const Tensor& values,
    bool accumulate,
    bool /*unsafe*/) {
  std::vector<IndexedDim> dims = collect(self, indices);
  IndexPlan plan = plan_shape(self, dims);
  check_values(self, values, plan);
  // What is checked and read must not be written meanwhile.
  for (IndexedDim& d : dims) {
    d.values = apart_from(self, d.values);
  }
  add_sources(self, dims, plan);
  const Tensor dense = apart_from(self, in_writing_order(plan, dims, values).contiguous());
  if (has_dense_rows(plan)) {
    const int64_t row = product(plan.after), size = self.itemsize();
    const char* from = static_cast<const char*>(dense.const_data_ptr());
    char* to = static_cast<char*>(self.mutable_data_ptr());
    AddRow* const add = accumulate ? add_row_of(self.scalar_type(), /*scaled=*/false) : nullptr;
    for_each_element(rows_of(plan), /*parallel=*/false, [=](int64_t i, int64_t offset) {
      if (add != nullptr) {
        add(to + offset * size, from + i * row * size, row, nullptr);
      } else {
        std::memcpy(to + offset * size, from + i * row * size, static_cast<size_t>(row * size));
      }
    });
    return self;
  }
  if (accumulate) {
    dispatch("index_put", self.scalar_type(), at::kAll | at::kUnsigned | at::kComplexHalves, [&]<class T> {
      const T* from = dense.const_data_ptr<T>();
      T* to = self.mutable_data_ptr<T>();
      for_each_element(plan, /*parallel=*/false, [=](int64_t i, int64_t offset) {
        to[offset] = pointwise::add(to[offset], from[i]);
      });
    });
    return self;
  }
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(dense.const_data_ptr());
    T* to = static_cast<T*>(self.mutable_data_ptr());
    // Of repeated positions the last one wins.
    for_each_element(plan, /*parallel=*/false, [=](int64_t i, int64_t offset) { to[offset] = from[i]; });
  });
  return self;
}

// ---- masks ----------------------------------------------------------------------------

Tensor nonzero_cpu(const Tensor& self) {
  const MaskBytes mask(self.scalar_type() == kBool ? self : self.ne(0));
  const int64_t ndim = self.dim();
  // Column by column, as PyTorch lays it out.
  Tensor result = empty_spec({{mask.count(), ndim}, kLong, kCPU, DimVector{1, mask.count()}});
  std::vector<int64_t*> columns(ndim);
  for (int64_t d = 0; d < ndim; ++d) {
    columns[d] = result.mutable_data_ptr<int64_t>() + d * mask.count();
  }
  write_positions(mask, columns);
  return result;
}

Tensor& nonzero_out_cpu(const Tensor& self, Tensor& out) {
  TORCH_CHECK(
      out.scalar_type() == kLong, "nonzero: Expected out tensor to have scalar type Long but got scalar type",
      out.scalar_type());
  TORCH_CHECK(out.is_cpu(), "Expected out tensor to be on cpu like self, but got ", out.device(), " (in nonzero)");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  const Tensor result = nonzero_cpu(self);
  if (resize_output(out, result.sizes())) {
    out.as_strided_(result.sizes(), {1, result.size(0)});
  }
  return out.copy_(result);
}

Tensor masked_select_cpu(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(
      mask.scalar_type() == kBool, "masked_select: expected BoolTensor or ByteTensor for mask (bool only here), got ",
      mask.scalar_type());
  const DimVector sizes = at::infer_size_dimvector(mask.sizes(), self.sizes());
  const Tensor values = self.expand(sizes).contiguous();
  const MaskBytes keep(mask.expand(sizes));
  const uint8_t* flags = keep.flags();
  const int64_t count = keep.count();
  Tensor result = empty_contiguous({count}, self.scalar_type(), self.device());
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(values.const_data_ptr());
    T* to = static_cast<T*>(result.mutable_data_ptr());
    // Without a branch that a random mask would make miss: each element is written, and stays when its flag is set.
    for (int64_t i = 0, found = 0; found < count; ++i) {
      to[found] = from[i];
      found += flags[i] != 0;
    }
  });
  return result;
}

Tensor& masked_scatter_cpu_(Tensor& self, const Tensor& mask, const Tensor& source) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(),
      "masked_scatter: expected self and source to have same dtypes but got", self.scalar_type(), " and ",
      source.scalar_type());
  TORCH_CHECK(
      mask.scalar_type() == kBool,
      "Mask tensor can take 0 and 1 values only: masked_scatter_ only supports boolean masks, but got mask with dtype ",
      mask.scalar_type());
  // The mask must not change while it is read.
  const bool apart = at::get_overlap_status(self, mask) == at::MemOverlapStatus::No;
  const MaskBytes chosen((apart ? mask : mask.clone()).expand(self.sizes()));
  const uint8_t* flags = chosen.flags();
  TORCH_CHECK(
      source.numel() >= chosen.count(), "Number of elements of source < number of ones in mask (", source.numel(),
      " < ", chosen.count(), ")");
  const Tensor dense = source.clone(at::MemoryFormat::Contiguous);
  if (self.is_contiguous() && dense.numel() > 0) {
    const int64_t n = self.numel(), last = dense.numel() - 1;
    by_element_size(self.itemsize(), [&](auto word) {
      using T = decltype(word);
      const T* from = static_cast<const T*>(dense.const_data_ptr());
      T* to = static_cast<T*>(self.mutable_data_ptr());
      // Without a branch that a random mask would make miss.
      for (int64_t i = 0, taken = 0; i < n; ++i) {
        const T value = from[std::min(taken, last)];
        to[i] = flags[i] != 0 ? value : to[i];
        taken += flags[i] != 0;
      }
    });
    return self;
  }
  const std::vector<int64_t> offsets = all_offsets(self.sizes(), self.strides());
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(dense.const_data_ptr());
    T* to = static_cast<T*>(self.mutable_data_ptr());
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (flags[i] != 0) {
        to[offsets[i]] = *from++;
      }
    }
  });
  return self;
}

// ---- flat positions ------------------------------------------------------------------------

namespace {

/// Offsets in `self` of flat positions, all checked: the values themselves where that will do.
class FlatOffsets {
 public:
  FlatOffsets(const TensorBase& self, const TensorBase& index) : values_(index) {
    const int64_t n = self.numel();
    if (self.is_contiguous() && !any_index_outside(values_.data(), values_.size(), n)) {
      return;
    }
    offsets_.reserve(values_.size());
    for (int64_t i = 0; i < values_.size(); ++i) {
      const int64_t value = values_.data()[i];
      TORCH_CHECK_INDEX(
          value >= -n && value < n, "out of range: tried to access index ", value, " on a tensor of ", n, " elements.");
      int64_t rest = value < 0 ? value + n : value, offset = 0;
      for (int64_t d = self.dim() - 1; d >= 0; --d) {
        offset += rest % self.size(d) * self.stride(d);
        rest /= self.size(d);
      }
      offsets_.push_back(offset);
    }
  }

  const int64_t* data() const {
    return offsets_.empty() ? values_.data() : offsets_.data();
  }
  int64_t size() const {
    return values_.size();
  }

 private:
  IndexSpan values_;
  std::vector<int64_t> offsets_;
};

} // namespace

void take_kernel(const TensorBase& self, const TensorBase& index, const TensorBase& out) {
  const FlatOffsets offsets(self, index);
  const int64_t* from_offsets = offsets.data();
  const int64_t count = offsets.size();
  const bool is_dense = out.is_contiguous();
  const std::vector<int64_t> to_offsets = is_dense ? std::vector<int64_t>() : all_offsets(out.sizes(), out.strides());
  by_element_size(self.itemsize(), [&](auto word) {
    using T = decltype(word);
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    if (is_dense) {
      at::parallel_for(0, count, at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          to[i] = from[from_offsets[i]];
        }
      });
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      to[to_offsets[i]] = from[from_offsets[i]];
    }
  });
}

Tensor& put_cpu_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  at::assert_no_internal_overlap(self);
  at::assert_no_overlap(self, index);
  at::assert_no_overlap(self, source);
  TORCH_CHECK(index.scalar_type() == kLong, "put_(): Expected a long tensor for index, but got ", index.scalar_type());
  TORCH_CHECK(
      self.scalar_type() == source.scalar_type(),
      "put_(): self and source expected to have the same dtype, but got self.dtype = ", self.scalar_type(),
      " and source.dtype = ", source.scalar_type());
  TORCH_CHECK_INDEX(
      source.numel() == index.numel(),
      "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
      source.numel(), ", index.numel() = ", index.numel());
  TORCH_CHECK_INDEX(self.numel() != 0 || index.numel() == 0, "put_(): Tried to put elements into an empty tensor");
  const FlatOffsets flat(self, apart_from(self, index));
  const int64_t* offsets = flat.data();
  const int64_t count = flat.size();
  const Tensor dense = apart_from(self, source.contiguous());
  dispatch("put_", self.scalar_type(), at::kAll, [&]<class T> {
    const T* from = dense.const_data_ptr<T>();
    T* to = self.mutable_data_ptr<T>();
    for (int64_t i = 0; i < count; ++i) {
      to[offsets[i]] = accumulate ? pointwise::add(to[offsets[i]], from[i]) : from[i];
    }
  });
  return self;
}

} // namespace at::native
