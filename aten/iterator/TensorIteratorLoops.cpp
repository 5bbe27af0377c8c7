// The walking half of TensorIterator: loops, parts, reductions over parts, and PyTorch's named kinds of iterators.
#include <aten/iterator/TensorIterator.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace at {

namespace {

// A place inside a shape, moved on by blocks of the two fastest dimensions that stay inside a range.
class BlockCounter {
 public:
  BlockCounter(IntArrayRef shape, Range range)
      : shape_(shape), range_(range), values_(shape.size(), 0), offset_(range.begin) {
    int64_t linear = range.begin;
    for (std::size_t dim = 0; dim < values_.size() && linear > 0; ++dim) {
      values_[dim] = linear % shape[dim];
      linear /= shape[dim];
    }
  }

  bool done() const {
    return offset_ >= range_.end;
  }
  IntArrayRef values() const {
    return values_;
  }

  // The largest block that begins here: part of a row, or whole rows.
  std::pair<int64_t, int64_t> block() const {
    const int64_t row = std::min(shape_[0] - values_[0], range_.end - offset_);
    int64_t rows = 1;
    if (row == shape_[0] && shape_.size() > 1) {
      rows = std::min(shape_[1] - values_[1], (range_.end - offset_) / shape_[0]);
    }
    return {row, rows};
  }

  void advance(std::pair<int64_t, int64_t> block) {
    offset_ += block.first * block.second;
    std::size_t dim = 0;
    int64_t carry = block.first;
    if (block.second > 1) { // whole rows: the first dimension stays at 0
      dim = 1;
      carry = block.second;
    }
    for (; dim < values_.size() && carry > 0; ++dim) {
      const int64_t value = values_[dim] + carry;
      carry = value / shape_[dim];
      values_[dim] = value % shape_[dim];
    }
  }

 private:
  IntArrayRef shape_;
  Range range_;
  DimVector values_;
  int64_t offset_;
};

} // namespace

TensorIteratorBase::StrideVector TensorIteratorBase::get_dim_strides(int dim) const {
  StrideVector result;
  for (const OperandInfo& op : operands()) {
    result.push_back(dim < static_cast<int>(op.stride_bytes.size()) ? op.stride_bytes[dim] : 0);
  }
  return result;
}

TensorIteratorBase::StrideVector TensorIteratorBase::get_strides() const {
  StrideVector result;
  for (int dim = 0; dim < std::max(ndim(), 2); ++dim) {
    for (const OperandInfo& op : operands()) {
      result.push_back(dim < static_cast<int>(op.stride_bytes.size()) ? op.stride_bytes[dim] : 0);
    }
  }
  return result;
}

TensorIteratorBase::PtrVector TensorIteratorBase::get_base_ptrs() const {
  PtrVector result;
  for (const OperandInfo& op : operands()) {
    result.push_back(static_cast<char*>(op.data));
  }
  return result;
}

void TensorIteratorBase::for_each(loop2d_t loop, int64_t grain_size) {
  const int64_t count = numel();
  if (count == 0) {
    return;
  }
  if (count < grain_size || get_num_threads() == 1) {
    serial_for_each(loop, Range(0, count));
    return;
  }
  at::parallel_for(0, count, grain_size, [&](int64_t begin, int64_t end) { serial_for_each(loop, Range(begin, end)); });
}

void TensorIteratorBase::serial_for_each(loop2d_t loop, Range range) const {
  if (range.size() == 0) {
    return;
  }
  const int count = ntensors();
  const StrideVector strides = get_strides();
  PtrVector base = get_base_ptrs();
  if (ndim() <= 1) {
    for (int arg = 0; arg < count; ++arg) {
      base[arg] += range.begin * strides[arg];
    }
    loop(base.data(), strides.data(), range.size(), 1);
    return;
  }
  PtrVector data = base;
  for (BlockCounter counter(shape_, range); !counter.done();) {
    const auto values = counter.values();
    for (int arg = 0; arg < count; ++arg) {
      data[arg] = base[arg];
      for (std::size_t dim = 0; dim < values.size(); ++dim) {
        data[arg] += values[dim] * strides[dim * count + arg];
      }
    }
    const auto block = counter.block();
    loop(data.data(), strides.data(), block.first, block.second);
    counter.advance(block);
  }
}

// ---- facts -------------------------------------------------------------------------------------------------------

int64_t TensorIteratorBase::num_output_elements() const {
  int64_t count = 1;
  for (int dim = 0; dim < ndim(); ++dim) {
    if (operands()[0].stride_bytes[dim] != 0 || shape_[dim] == 0) {
      count *= shape_[dim];
    }
  }
  return count;
}

int TensorIteratorBase::num_reduce_dims() const {
  int count = 0;
  for (int dim = 0; dim < ndim(); ++dim) {
    count += operands()[0].stride_bytes[dim] == 0;
  }
  return count;
}

bool TensorIteratorBase::is_dim_reduced(int dim) const {
  for (const OperandInfo& op : operands()) {
    if (op.is_output && op.stride_bytes[dim] == 0 && shape_[dim] > 1) {
      return true;
    }
  }
  return false;
}

bool TensorIteratorBase::is_contiguous() const {
  return numel() == 1 || (ndim() == 1 && has_contiguous_first_dim());
}

bool TensorIteratorBase::has_contiguous_first_dim() const {
  if (ndim() == 0) {
    return true;
  }
  for (int arg = 0; arg < ntensors(); ++arg) {
    if (strides(arg)[0] != element_size(arg)) {
      return false;
    }
  }
  return true;
}

bool TensorIteratorBase::is_scalar(int64_t arg) const {
  const OperandInfo& op = operands()[arg];
  return op.is_scalar() || op.tensor_base().numel() == 1;
}

bool TensorIteratorBase::is_cpu_scalar(int64_t arg) const {
  return is_scalar(arg) && device(arg).is_cpu();
}

// ---- parts -------------------------------------------------------------------------------------------------------

void TensorIteratorBase::remove_operand(int64_t arg) {
  operands().erase(operands().begin() + arg);
}

void TensorIteratorBase::unsafe_replace_operand(int64_t arg, void* data) {
  operands()[arg].data = data;
}

void TensorIteratorBase::narrow(int dim, int64_t start, int64_t size) {
  TORCH_INTERNAL_ASSERT(dim < ndim() && size >= 1, "TensorIterator: narrow to ", size, " of dimension ", dim);
  shape_[dim] = size;
  if (!view_offsets_.empty()) {
    view_offsets_[dim] += start;
  }
  for (OperandInfo& op : operands()) {
    op.data = static_cast<char*>(op.data) + op.stride_bytes[dim] * start;
  }
  if (size == 1 && !is_reduction_) {
    coalesce_dimensions();
  }
}

void TensorIteratorBase::select_all_keeping_dim(int start_dim, IntArrayRef starts) {
  for (int dim = start_dim; dim < ndim(); ++dim) {
    for (OperandInfo& op : operands()) {
      op.data = static_cast<char*>(op.data) + op.stride_bytes[dim] * starts[dim - start_dim];
    }
    shape_[dim] = 1;
  }
}

std::unique_ptr<TensorIterator> TensorIteratorBase::split(int dim) {
  TORCH_INTERNAL_ASSERT(dim >= 0 && dim < ndim() && shape_[dim] >= 2, "TensorIterator: cannot split dimension ", dim);
  auto first = std::make_unique<TensorIterator>(*this);
  const bool overlaps = is_dim_reduced(dim);
  const int64_t half = shape_[dim] / 2;
  first->narrow(dim, 0, half);
  first->final_output_ &= !overlaps;
  narrow(dim, half, shape_[dim] - half);
  accumulate_ |= overlaps;
  return first;
}

int TensorIteratorBase::get_dim_to_split() const {
  TORCH_INTERNAL_ASSERT(ndim() >= 1, "TensorIterator: no dimension to split");
  int64_t largest = -1;
  int result = -1;
  for (int dim = ndim() - 1; dim >= 0; --dim) {
    if (shape_[dim] == 0) {
      continue;
    }
    for (const OperandInfo& op : operands()) {
      const int64_t extent = (shape_[dim] - 1) * op.stride_bytes[dim];
      if (extent > largest) {
        largest = extent;
        result = dim;
      }
    }
  }
  TORCH_INTERNAL_ASSERT(result >= 0, "TensorIterator: no dimension to split");
  return result;
}

bool TensorIteratorBase::can_use_32bit_indexing() const {
  constexpr int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (numel() > kMax) {
    return false;
  }
  for (const OperandInfo& op : operands()) {
    int64_t last = 1;
    for (int dim = 0; dim < ndim(); ++dim) {
      last += (shape_[dim] - 1) * op.stride_bytes[dim];
    }
    if (last > kMax) {
      return false;
    }
  }
  return true;
}

SplitUntil32Bit TensorIteratorBase::with_32bit_indexing() const {
  return SplitUntil32Bit(*this);
}

SplitUntil32Bit::iterator::iterator(const TensorIteratorBase& iter) {
  vec.emplace_back(new TensorIterator(iter));
  vec.emplace_back(nullptr); // ++ removes this one and splits the next as far as needed
  ++(*this);
}

SplitUntil32Bit::iterator& SplitUntil32Bit::iterator::operator++() {
  vec.pop_back();
  while (!vec.empty() && !vec.back()->can_use_32bit_indexing()) {
    TensorIterator& iter = *vec.back();
    vec.emplace_back(iter.split(iter.get_dim_to_split()));
  }
  return *this;
}

TensorIterator& SplitUntil32Bit::iterator::operator*() const {
  return *vec.back();
}

SplitUntil32Bit::iterator SplitUntil32Bit::begin() const {
  return iterator(iter);
}

SplitUntil32Bit::iterator SplitUntil32Bit::end() const {
  return iterator();
}

// ---- reductions --------------------------------------------------------------------------------------------------

namespace {

// The dimension to share among threads: a kept one if it is long enough, else the longest.
int dim_to_share(const TensorIteratorBase& iter) {
  int best = iter.ndim() - 1;
  for (int dim = best; dim >= 0; --dim) {
    if (iter.shape()[dim] > iter.shape()[best]) {
      best = dim;
    }
    if (!iter.is_dim_reduced(dim) && iter.shape()[dim] >= get_num_threads()) {
      return dim;
    }
  }
  return best;
}

} // namespace

void TensorIteratorBase::parallel_reduce(loop2d_t loop) {
  TORCH_CHECK(ntensors() == 2, "parallel_reduce only supports one input and one output");
  const int64_t count = numel();
  if (count < internal::GRAIN_SIZE || get_num_threads() == 1 || in_parallel_region()) {
    serial_for_each(loop, Range(0, count));
    return;
  }
  if (output_base().numel() > 1) {
    // Kept elements are disjoint: share one of the kept dimensions.
    const int dim = dim_to_share(*this);
    if (!is_dim_reduced(dim)) {
      at::parallel_for(0, shape_[dim], 1, [&](int64_t begin, int64_t end) {
        TensorIterator part(*this);
        part.narrow(dim, begin, end - begin);
        part.serial_for_each(loop, Range(0, part.numel()));
      });
      return;
    }
    serial_for_each(loop, Range(0, count));
    return;
  }
  // One output: each thread reduces into an element of its own, then those are reduced.
  const TensorBase& out = output_base();
  const int threads = get_num_threads();
  TensorSpec spec{DimVector(out.dim() + 1, 1), out.scalar_type(), out.device()};
  spec.sizes[0] = threads;
  const TensorBase buffer = empty_spec(spec);
  const auto element = static_cast<int64_t>(out.itemsize());
  char* slots = static_cast<char*>(buffer.mutable_data_ptr());
  for (int i = 0; i < threads; ++i) {
    std::copy_n(static_cast<const char*>(operands()[0].data), element, slots + i * element);
  }
  at::parallel_for(0, count, internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    TensorIterator part(*this);
    part.unsafe_replace_operand(0, slots + get_thread_num() * element);
    part.serial_for_each(loop, Range(begin, end));
  });
  char* pointers[] = {static_cast<char*>(operands()[0].data), slots};
  const int64_t strides[] = {0, element, 0, 0};
  loop(pointers, strides, threads, 1);
}

void TensorIteratorBase::foreach_reduced_elt(loop_subiter_t loop, bool parallelize) {
  TORCH_INTERNAL_ASSERT(ninputs() == 1 && noutputs() >= 1, "TensorIterator: a reduction has one input");
  const IntArrayRef all = shape_;
  if (output_base().numel() == 0) {
    return;
  }
  if (output_base().numel() == 1) {
    loop(*this);
    return;
  }
  // Reduced dimensions come first, so the kept ones are a tail of the shape.
  int first_kept = 0;
  while (first_kept < ndim() && operands()[0].stride_bytes[first_kept] == 0) {
    ++first_kept;
  }
  const IntArrayRef kept = all.slice(first_kept);
  int64_t outputs = 1;
  for (const int64_t size : kept) {
    outputs *= size;
  }
  const auto run = [&](int64_t begin, int64_t end) {
    DimVector starts(kept.size());
    for (int64_t i = begin; i < end; ++i) {
      int64_t linear = i;
      for (std::size_t dim = 0; dim < kept.size(); ++dim) {
        starts[dim] = linear % kept[dim];
        linear /= kept[dim];
      }
      TensorIterator part(*this);
      part.select_all_keeping_dim(first_kept, starts);
      loop(part);
    }
  };
  if (!parallelize || numel() < internal::GRAIN_SIZE) {
    run(0, outputs);
  } else {
    const int64_t per_output = std::max<int64_t>(1, numel() / outputs);
    at::parallel_for(0, outputs, std::max<int64_t>(1, internal::GRAIN_SIZE / per_output), run);
  }
}

// ---- PyTorch's kinds ---------------------------------------------------------------------------------------------

namespace {

PointwiseRule rule_of(PointwiseRule::Result result) {
  PointwiseRule rule;
  rule.result = result;
  return rule;
}

/// An output that only waits to be resized: the callers of these functions run loops of their own, and may look at it.
void resize_now(TensorIteratorBase& iter) {
  if (iter.fast_operands() != nullptr) {
    return;
  }
  const OperandInfo& out = iter.operand(0);
  if (out.original_tensor_base().defined() &&
      out.original_tensor_base().scalar_type() == out.tensor_base().scalar_type()) {
    iter.cast_outputs();
    iter.unsafe_replace_operand(0, iter.tensor_base(0).mutable_data_ptr());
  }
}

} // namespace

void TensorIteratorBase::build_binary_float_op(const TensorBase& out, const TensorBase& a, const TensorBase& b) {
  build_pointwise(&out, {a, b}, rule_of(PointwiseRule::Result::Float));
  resize_now(*this);
}
void TensorIteratorBase::build_borrowing_binary_float_op(
    const TensorBase& out, const TensorBase& a, const TensorBase& b) {
  build_binary_float_op(out, a, b);
}
void TensorIteratorBase::build_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b) {
  build_pointwise(&out, {a, b});
  resize_now(*this);
}
void TensorIteratorBase::build_borrowing_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b) {
  build_binary_op(out, a, b);
}
void TensorIteratorBase::build_unary_float_op(const TensorBase& out, const TensorBase& a) {
  build_pointwise(&out, {a}, rule_of(PointwiseRule::Result::Float));
  resize_now(*this);
}
void TensorIteratorBase::build_borrowing_unary_float_op(const TensorBase& out, const TensorBase& a) {
  build_unary_float_op(out, a);
}
void TensorIteratorBase::build_unary_op(const TensorBase& out, const TensorBase& a) {
  build_pointwise(&out, {a});
  resize_now(*this);
}
void TensorIteratorBase::build_borrowing_unary_op(const TensorBase& out, const TensorBase& a) {
  build_unary_op(out, a);
}
void TensorIteratorBase::build_output_borrowing_argument_owning_unary_op(const TensorBase& out, const TensorBase& a) {
  TensorIteratorConfig config;
  config.add_output(out).add_owned_const_input(a).promote_inputs_to_common_dtype(true);
  config.cast_common_dtype_to_outputs(true).enforce_safe_casting_to_output(true);
  build(config);
}
void TensorIteratorBase::build_borrowing_unary_force_boolean_op(const TensorBase& out, const TensorBase& a) {
  build_pointwise(&out, {a}, rule_of(PointwiseRule::Result::Bool));
  resize_now(*this);
}
void TensorIteratorBase::build_comparison_op(const TensorBase& out, const TensorBase& a, const TensorBase& b) {
  build_pointwise(&out, {a, b}, rule_of(PointwiseRule::Result::Bool));
  resize_now(*this);
}
void TensorIteratorBase::build_borrowing_comparison_op(
    const TensorBase& out, const TensorBase& a, const TensorBase& b) {
  build_comparison_op(out, a, b);
}
void TensorIteratorBase::build_borrowing_except_last_argument_comparison_op(
    const TensorBase& out, const TensorBase& a, const TensorBase& b) {
  TensorIteratorConfig config;
  config.add_output(out).add_const_input(a).add_owned_const_input(b).allow_cpu_scalars(true);
  config.promote_inputs_to_common_dtype(true).declare_static_dtype(c10::ScalarType::Bool);
  build(config);
}
void TensorIteratorBase::build_ternary_op(
    const TensorBase& out, const TensorBase& a, const TensorBase& b, const TensorBase& c) {
  build_pointwise(&out, {a, b, c});
  resize_now(*this);
}

TensorIterator TensorIterator::binary_float_op(TensorBase& out, const TensorBase& a, const TensorBase& b) {
  TensorIterator iter;
  iter.build_binary_float_op(out, a, b);
  return iter;
}
TensorIterator TensorIterator::binary_op(TensorBase& out, const TensorBase& a, const TensorBase& b) {
  TensorIterator iter;
  iter.build_binary_op(out, a, b);
  return iter;
}
TensorIterator TensorIterator::borrowing_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b) {
  TensorIterator iter;
  iter.build_binary_op(out, a, b);
  return iter;
}
TensorIterator TensorIterator::comparison_op(TensorBase& out, const TensorBase& a, const TensorBase& b) {
  TensorIterator iter;
  iter.build_comparison_op(out, a, b);
  return iter;
}
TensorIterator TensorIterator::unary_op(TensorBase& out, const TensorBase& a) {
  TensorIterator iter;
  iter.build_unary_op(out, a);
  return iter;
}
TensorIterator TensorIterator::unary_float_op(TensorBase& out, const TensorBase& a) {
  TensorIterator iter;
  iter.build_unary_float_op(out, a);
  return iter;
}
TensorIterator TensorIterator::nullary_op(TensorBase& out) {
  return TensorIteratorConfig().check_all_same_dtype(false).add_owned_output(out).resize_outputs(false).build();
}
TensorIterator TensorIterator::borrowing_nullary_op(const TensorBase& out) {
  return TensorIteratorConfig().check_all_same_dtype(false).add_output(out).resize_outputs(false).build();
}
TensorIterator TensorIterator::reduce_op(TensorBase& out, const TensorBase& a) {
  TORCH_INTERNAL_ASSERT(out.defined());
  return TensorIteratorConfig()
      .set_check_mem_overlap(false)
      .add_owned_output(out)
      .add_owned_const_input(a)
      .resize_outputs(false)
      .is_reduction(true)
      .promote_inputs_to_common_dtype(true)
      .build();
}
TensorIterator TensorIterator::reduce_op(TensorBase& out1, TensorBase& out2, const TensorBase& a) {
  TORCH_INTERNAL_ASSERT(out1.defined() && out2.defined());
  TORCH_CHECK(
      a.device() == out1.device() && out1.device() == out2.device(),
      "reduce_op(): expected input and both outputs to be on same device, but input is on ", a.device().str(),
      ", output1 is on ", out1.device().str(), " and output2 is on ", out2.device().str());
  TORCH_CHECK(
      out1.sizes() == out2.sizes() && out1.dim() == a.dim(), "reduce_op(): expected both outputs to have same sizes");
  TORCH_CHECK(out1.strides() == out2.strides(), "reduce_op(): expected both outputs to have same strides");
  return TensorIteratorConfig()
      .set_check_mem_overlap(false)
      .add_owned_output(out1)
      .add_owned_output(out2)
      .add_owned_const_input(a)
      .resize_outputs(false)
      .is_reduction(true)
      .check_all_same_dtype(false)
      .build();
}

} // namespace at
