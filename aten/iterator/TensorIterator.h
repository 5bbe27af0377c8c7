// One walk over several tensors at once: broadcast, type promotion, output allocation, and the loops over what is left.
//
//   auto iter = TensorIteratorConfig().add_output(out).add_const_input(a).add_const_input(b).build();
//   iter.for_each([&](char** data, const int64_t* strides, int64_t n) { ... });
//
// After build() dimensions are ordered fastest first and merged where memory allows, strides are in bytes, and a
// stride of 0 repeats an element (broadcast, scalars).
//
// Note [Scalars as operands]
// Operators with a Scalar operand (add(x, 2)) need no tensor for it: the iterator holds the value itself, already in
// the common dtype, and gives it stride 0. 0-dim CPU tensors of another dtype are converted the same way.
#pragma once

#include <aten/core/Range.h>
#include <aten/core/TensorBase.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/util/DimVector.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

namespace at {

class Tensor;
class TensorIteratorConfig;
struct TensorIterator;
struct TensorIteratorBase;
struct SplitUntil32Bit;

using c10::DimVector;
using c10::SmallVector;

/// What the iterator knows of one tensor or scalar.
struct TORCH_API OperandInfo {
  using StrideVector = SmallVector<int64_t, 6>;

  OperandInfo() noexcept = default;
  /// Borrows `tensor`, which must outlive the iterator.
  explicit OperandInfo(const TensorBase* tensor) noexcept : borrowed_(tensor) {}
  OperandInfo(const OperandInfo& other);
  OperandInfo(OperandInfo&& other) noexcept;
  OperandInfo& operator=(const OperandInfo& other);
  OperandInfo& operator=(OperandInfo&& other) noexcept;
  ~OperandInfo() = default;

  /// The tensor that loops see: the caller's, an allocated output, or a temporary of the common dtype.
  const TensorBase& tensor_base() const {
    return borrowed_ != nullptr ? *borrowed_ : owned_;
  }
  const Tensor& tensor() const;
  /// The caller's tensor when a temporary stands for it, else undefined.
  const TensorBase& original_tensor_base() const {
    return original_;
  }
  const Tensor& original_tensor() const;

  bool is_type_defined() const {
    return target_dtype != ScalarType::Undefined;
  }
  bool is_device_defined() const {
    return device.has_value();
  }
  /// Is this a scalar without a tensor?
  bool is_scalar() const {
    return is_scalar_;
  }
  TensorOptions options() const {
    return TensorOptions(target_dtype).device(device);
  }

  StrideVector stride_bytes;
  void* data = nullptr;
  std::optional<c10::Device> device = std::nullopt;
  c10::ScalarType target_dtype = c10::ScalarType::Undefined;
  c10::ScalarType current_dtype = c10::ScalarType::Undefined;
  bool is_output = false;
  bool will_resize = false;
  bool is_read_write = false;
  bool is_const = false;

 private:
  friend struct TensorIteratorBase;
  friend class TensorIteratorConfig;

  void own(TensorBase&& tensor) {
    owned_ = std::move(tensor);
    borrowed_ = nullptr;
  }
  void exchange_tensor(TensorBase&& temporary);
  void restore_original_tensor();
  void copy_plain(const OperandInfo& other);

  bool is_scalar_ = false; // a Scalar operand
  bool keeps_dtype_ = false; // takes no part in promotion
  bool inline_value_ = false; // data points to value_
  const TensorBase* borrowed_ = nullptr;
  TensorBase owned_;
  TensorBase original_;
  alignas(16) char value_[16]; // a scalar or 0-dim input, in current_dtype
  alignas(16) char original_value_[16]; // the same in the dtype it came in
  c10::ScalarType original_value_dtype_ = c10::ScalarType::Undefined;
};

/// How a pointwise operator's operands and result get their dtypes.
struct PointwiseRule {
  enum class Result : std::uint8_t {
    Common, // the promoted dtype of the inputs
    Float, // the same, integers and bools become the default dtype first
    Bool, // computed in the promoted dtype, result is bool
    Real, // complex gives its real dtype
  };
  Result result = Result::Common;
  std::uint16_t keep_mask = 0; // bit i: input i keeps its own dtype and takes no part in promotion
  // The loop converts elements from the inputs' dtypes and to the output's, whatever they are: the iterator makes no
  // copies.
  bool loop_converts = false;
};

/// An input of a pointwise operator: a tensor or a scalar, borrowed.
struct PointwiseInput {
  PointwiseInput(const TensorBase& t) : tensor(&t) {}
  PointwiseInput(const c10::Scalar& s) : scalar(&s) {}

  const TensorBase* tensor = nullptr;
  const c10::Scalar* scalar = nullptr;
};

/// What a pointwise kernel is given: all there is to know of a call of the fast path, or an iterator, which is derived
/// from this. See Note [Fast pointwise calls].
//
// Note [Fast pointwise calls]
// Most calls are of tensors of one dtype, shape and dense layout, perhaps with a scalar. Setting up an OperandInfo for
// each would cost more than the rest of the call, so build_pointwise leaves this instead, and run_pointwise reads it.
// The first use of any other accessor of the iterator sets up the operands in full. The plainest of these calls, which
// make a new tensor, do without the iterator: set_up_plain() either fills this alone, or leaves the call to
// build_pointwise.
struct TORCH_API PointwiseCall {
  static constexpr int kMax = 5;

  int count = 0; // operands with the output; 0: not in use, and the object is part of an iterator
  std::uint32_t repeated; // bit i: operand i is a single value for all elements
  std::uint32_t scalars; // bit i: operand i is a Scalar
  std::uint16_t output_size; // bytes of an element
  std::uint16_t
      input_size; // 0: a loop that converts finds operands of different dtypes, see TensorIteratorBase::own_dtype
  void* data[kMax];
  union {
    const TensorBase* tensor;
    const c10::Scalar* scalar;
  } source[kMax]; // borrowed; the output's is null when it is owned
  alignas(16) char values[kMax - 1][16]; // scalars in the common dtype
  int64_t numel_1d;
  c10::ScalarType dtype_1d; // of the computation

  /// Sets up a call of dense CPU tensors of one dtype and shape that makes a new one, and returns that, owned by the
  /// caller; for a scalar, beside a tensor before it, when it does not change the dtype. Else, and where `result` asks
  /// for a dtype that is neither the same nor bool, it returns null, and nothing has happened.
  c10::TensorImpl* set_up_plain(const TensorBase& a, PointwiseRule::Result result);
  c10::TensorImpl* set_up_plain(const TensorBase& a, const TensorBase& b, PointwiseRule::Result result);
  c10::TensorImpl* set_up_plain(
      const TensorBase& a, const TensorBase& b, const TensorBase& c, PointwiseRule::Result result);
  c10::TensorImpl* set_up_plain(const TensorBase& a, const c10::Scalar& b, PointwiseRule::Result result);

  // For kernels, whichever of the two it is.
  inline c10::ScalarType computation_dtype() const;
  inline void finish();
};

struct TORCH_API TensorIteratorBase : public PointwiseCall {
  using DimMask = std::bitset<64>;
  using PtrVector = SmallVector<char*, 4>;
  using StrideVector = SmallVector<int64_t, 6>;
  using loop2d_t = c10::function_ref<void(char** data, const int64_t* strides, int64_t size0, int64_t size1)>;
  using loop_subiter_t = c10::function_ref<void(TensorIteratorBase& subiter)>;

  TensorIteratorBase() = default;

  void build(TensorIteratorConfig& config);

  /// Sets up a pointwise operator, the hottest path of the library. `out` may be null or undefined: then the output is
  /// allocated. An `out` of another shape is resized with PyTorch's warning, unless it is one of the inputs (an
  /// in-place call) or `resize_out` is false. Throws on shapes that do not broadcast, unsafe result casts, different
  /// devices, and overlapping memory. All operands are borrowed.
  void build_pointwise(
      const TensorBase* out,
      std::initializer_list<PointwiseInput> inputs,
      PointwiseRule rule = {},
      bool resize_out = true);

  /// The compact state that build_pointwise leaves for a call of the fast path, or null when the operands are set up in
  /// full.
  const PointwiseCall* fast_operands() const {
    return count != 0 ? this : nullptr;
  }

  /// Hands over an output; the iterator must not be used with it afterwards.
  Tensor take_output(int64_t arg = 0);

  int ndim() const {
    return static_cast<int>(shape_.size());
  }
  IntArrayRef shape() const {
    return shape_;
  }
  int64_t numel() const {
    int64_t n = 1;
    for (const int64_t size : shape_) {
      n *= size;
    }
    return n;
  }
  int ntensors() const {
    return count != 0 ? count : static_cast<int>(operands_.size());
  }
  int noutputs() const {
    return num_outputs_;
  }
  int ninputs() const {
    return ntensors() - noutputs();
  }
  IntArrayRef view_offsets() const {
    return view_offsets_;
  }

  /// Elements of the first output, without reduced dimensions.
  int64_t num_output_elements() const;
  int num_reduce_dims() const;
  /// A single dimension, or none.
  bool is_trivial_1d() const {
    return ndim() == 1;
  }
  /// Every operand is one dense run.
  bool is_contiguous() const;
  bool is_dim_reduced(int dim) const;

  /// Byte strides of an operand, one for each dimension of shape().
  IntArrayRef strides(int64_t arg) const {
    return operands()[arg].stride_bytes;
  }
  void* data_ptr(int64_t arg) const {
    return operands()[arg].data;
  }
  c10::ScalarType dtype(int64_t arg = 0) const {
    return operands()[arg].current_dtype;
  }
  /// The dtype that inputs were promoted to. Throws when they had different dtypes and no promotion was asked for.
  c10::ScalarType common_dtype() const;
  std::optional<c10::ScalarType> maybe_common_dtype() const {
    return common_dtype_ == c10::ScalarType::Undefined ? std::nullopt : std::optional<c10::ScalarType>(common_dtype_);
  }
  /// The same, and the short form of a call stays as it is. Scalars have the common dtype.
  c10::ScalarType own_dtype(int64_t arg) const {
    if (count == 0) {
      return dtype(arg);
    }
    if ((scalars >> arg) & 1u) {
      return dtype_1d;
    }
    return arg == 0 && source[0].tensor == nullptr ? fast_output_.scalar_type() : source[arg].tensor->scalar_type();
  }
  c10::ScalarType input_dtype(int64_t arg = 0) const {
    return operands()[num_outputs_ + arg].current_dtype;
  }
  c10::Device device(int64_t arg = 0) const {
    return operands()[arg].device.value();
  }
  c10::DeviceType device_type(int64_t arg = 0) const {
    return device(arg).type();
  }
  /// The device that the loops run on.
  c10::Device common_device() const {
    return common_device_;
  }
  int64_t element_size(int64_t arg) const {
    return static_cast<int64_t>(c10::elementSize(dtype(arg)));
  }
  /// One element (a scalar, or a tensor with numel 1).
  bool is_scalar(int64_t arg) const;
  /// is_scalar, and it lies in host memory.
  bool is_cpu_scalar(int64_t arg) const;

  const TensorBase& tensor_base(int64_t arg) const {
    return operands()[arg].tensor_base();
  }
  const Tensor& tensor(int64_t arg) const {
    return operands()[arg].tensor();
  }
  const TensorBase& output_base(int64_t arg = 0) const {
    return tensor_base(arg);
  }
  const Tensor& output(int64_t arg = 0) const {
    return tensor(arg);
  }
  const TensorBase& input_base(int64_t arg = 0) const {
    return tensor_base(num_outputs_ + arg);
  }
  const Tensor& input(int64_t arg = 0) const {
    return tensor(num_outputs_ + arg);
  }

  /// Copies outputs computed in a temporary of the common dtype to the caller's tensors. Harmless when called twice.
  void cast_outputs() {
    if (C10_UNLIKELY(has_cast_outputs_)) {
      cast_outputs_slow();
    }
  }

  void remove_operand(int64_t arg);
  /// Restricts a dimension to [start, start + size).
  void narrow(int dim, int64_t start, int64_t size);
  /// Fixes dimensions start_dim.. at the given indices (their size becomes 1).
  void select_all_keeping_dim(int start_dim, IntArrayRef starts);
  void unsafe_replace_operand(int64_t arg, void* data);
  /// Halves the iterator at `dim`: returns the first half, keeps the second.
  std::unique_ptr<TensorIterator> split(int dim);
  /// The dimension with the largest extent in memory.
  int get_dim_to_split() const;

  /// The value of a one-element host operand.
  template <typename T>
  T scalar_value(int64_t arg) {
    T value;
    read_scalar(arg, c10::CppTypeToScalarType<T>::value, &value, /*original=*/false);
    return value;
  }
  /// The same before it was rounded to the common dtype.
  template <typename T>
  T original_scalar_value(int64_t arg) {
    T value;
    read_scalar(arg, c10::CppTypeToScalarType<T>::value, &value, /*original=*/true);
    return value;
  }

 private:
  template <typename loop1d_t>
  auto loop_2d_from_1d(const loop1d_t& loop) const {
    return [loop, ntensor = ntensors()](char** base, const int64_t* strides, int64_t size0, int64_t size1) {
      PtrVector data(base, base + ntensor);
      const int64_t* outer_strides = &strides[ntensor];
      for (int64_t i = 0; i < size1; ++i) {
        if (i > 0) {
          for (int arg = 0; arg < ntensor; ++arg) {
            data[arg] += outer_strides[arg];
          }
        }
        loop(data.data(), strides, size0);
      }
    };
  }
  template <typename loop_t>
  static constexpr bool is_loop_1d =
      std::is_convertible_v<loop_t, c10::function_ref<void(char**, const int64_t* strides, int64_t size)>>;

 public:
  /// Runs loop(data, strides, n) over all elements, on several threads when there are more than `grain_size`.
  template <typename loop1d_t, std::enable_if_t<is_loop_1d<loop1d_t>, int> = 0>
  void for_each(loop1d_t loop, int64_t grain_size = at::internal::GRAIN_SIZE) {
    for_each(loop_2d_from_1d(loop), grain_size);
  }
  /// The two fastest dimensions at a time: strides[arg] is the inner one, strides[ntensors() + arg] the outer one.
  void for_each(loop2d_t loop, int64_t grain_size = at::internal::GRAIN_SIZE);

  void parallel_reduce(loop2d_t loop);
  /// Calls `loop` with one sub-iterator for each output element, over the elements reduced into it.
  void foreach_reduced_elt(loop_subiter_t loop, bool parallelize = true);

  template <typename loop1d_t, std::enable_if_t<is_loop_1d<loop1d_t>, int> = 0>
  void serial_for_each(loop1d_t loop, Range range) {
    serial_for_each(loop_2d_from_1d(loop), range);
  }
  void serial_for_each(loop2d_t loop, Range range) const;

  /// Byte strides of a dense tensor in the iterator's order of dimensions.
  StrideVector compatible_stride(int64_t element_size) const;
  /// From the iterator's order of dimensions to the tensors' own.
  DimVector invert_perm(IntArrayRef input) const;
  DimVector apply_perm_and_mul(IntArrayRef input, int mul) const;

  StrideVector get_dim_strides(int dim) const;
  /// Strides of all operands, dimension by dimension, at least two dimensions (padded with 0).
  StrideVector get_strides() const;
  StrideVector get_inner_strides() const {
    return get_dim_strides(0);
  }
  PtrVector get_base_ptrs() const;

  void _unsafe_set_arg_strides(const int64_t arg, IntArrayRef strides) {
    operands()[arg].stride_bytes.assign(strides.begin(), strides.end());
  }
  void _unsafe_set_arg_data(const int64_t arg, void* data) {
    operands()[arg].data = data;
  }

  const OperandInfo& operand(int arg = 0) const {
    return operands()[arg];
  }
  OperandInfo& operand(int arg = 0) {
    return operands()[arg];
  }

  bool can_use_32bit_indexing() const;
  /// Parts of this iterator that fit 32-bit offsets.
  SplitUntil32Bit with_32bit_indexing() const;

  /// In a part of a split reduction: must the output be added to, and is this the last part?
  bool should_accumulate() const {
    return accumulate_;
  }
  bool is_final_output() const {
    return final_output_;
  }

  bool has_contiguous_first_dim() const;

  // PyTorch's kinds of operators. The `borrowing` forms are the same here: operands are always borrowed.
  void build_binary_float_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_binary_float_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_unary_float_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_float_op(const TensorBase& out, const TensorBase& a);
  void build_unary_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_op(const TensorBase& out, const TensorBase& a);
  void build_output_borrowing_argument_owning_unary_op(const TensorBase& out, const TensorBase& a);
  void build_borrowing_unary_force_boolean_op(const TensorBase& out, const TensorBase& a);
  void build_comparison_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_comparison_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_borrowing_except_last_argument_comparison_op(
      const TensorBase& out, const TensorBase& a, const TensorBase& b);
  void build_ternary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b, const TensorBase& c);

 private:
  struct Statics;

  bool try_pointwise_fast(const TensorBase* out, const PointwiseInput* inputs, int count, PointwiseRule rule);
  /// Sets up operands_ in full from the PointwiseCall, for everything but the plain loop.
  void materialize() const;
  SmallVector<OperandInfo, 4>& operands() {
    if (C10_UNLIKELY(count != 0)) {
      materialize();
    }
    return operands_;
  }
  const SmallVector<OperandInfo, 4>& operands() const {
    return const_cast<TensorIteratorBase*>(this)->operands();
  }
  void build_operands(std::uint32_t flags, const Statics& statics);
  void mark_outputs();
  void compute_mem_overlaps() const;
  void compute_shape(std::uint32_t flags, const Statics& statics);
  void mark_resize_outputs(std::uint32_t flags);
  void compute_types(std::uint32_t flags, const Statics& statics);
  c10::ScalarType compute_common_dtype() const;
  void cast_operand(OperandInfo& op, c10::ScalarType dtype, bool copy_in);
  void hold_inline(OperandInfo& op, c10::ScalarType dtype);
  bool fast_set_up();
  void compute_strides(const Statics& statics);
  void reorder_dimensions();
  void permute_dimensions(IntArrayRef perm);
  void allocate_or_resize_outputs();
  void set_output(OperandInfo& op, IntArrayRef sizes, IntArrayRef strides, c10::MemoryFormat format);
  void coalesce_dimensions();
  void read_scalar(int64_t arg, c10::ScalarType dtype, void* value, bool original) const;
  void cast_outputs_slow();

 protected:
  friend class TensorIteratorConfig;
  friend struct TensorIterator;

  // Copies are made by TensorIterator, from operands that are set up in full.
  TensorIteratorBase(const TensorIteratorBase&) = default;
  TensorIteratorBase(TensorIteratorBase&&) = default;
  TensorIteratorBase& operator=(const TensorIteratorBase&) = default;
  TensorIteratorBase& operator=(TensorIteratorBase&&) = default;
  const TensorIteratorBase& materialized() const {
    operands();
    return *this;
  }

  TensorBase fast_output_; // of a call in the short form, when it was allocated here
  alignas(16) DimVector shape_;
  /// perm_[i] is the dimension of the tensors that the iterator's dimension i stands for. Gone once dimensions are
  /// merged.
  DimVector perm_;
  DimVector view_offsets_;
  SmallVector<OperandInfo, 4> operands_;
  int num_outputs_ = 0;
  c10::ScalarType common_dtype_ = c10::ScalarType::Undefined;
  c10::Device common_device_ = c10::Device(c10::DeviceType::CPU);
  bool has_coalesced_dimensions_ = false;
  bool enforce_linear_iteration_ = false;
  bool all_ops_same_shape_ = false;
  bool accumulate_ = false;
  bool final_output_ = true;
  bool is_reduction_ = false;
  bool is_meta_ = false;
  bool has_cast_outputs_ = false;
  std::optional<PointwiseRule::Result> result_rule_;
};

inline c10::ScalarType PointwiseCall::computation_dtype() const {
  return C10_LIKELY(count != 0) ? dtype_1d : static_cast<const TensorIteratorBase*>(this)->common_dtype();
}
inline void PointwiseCall::finish() {
  if (C10_UNLIKELY(count == 0)) {
    static_cast<TensorIteratorBase*>(this)->cast_outputs();
  }
}

struct TORCH_API TensorIterator final : public TensorIteratorBase {
  TensorIterator() = default;
  TensorIterator(const TensorIteratorBase& iter) : TensorIteratorBase(iter.materialized()) {}
  TensorIterator(const TensorIterator& iter) : TensorIteratorBase(iter.materialized()) {}
  TensorIterator(TensorIterator&& iter) noexcept
      : TensorIteratorBase(std::move(const_cast<TensorIteratorBase&>(iter.materialized()))) {}
  TensorIterator& operator=(const TensorIterator& iter) {
    TensorIteratorBase::operator=(iter.materialized());
    return *this;
  }
  TensorIterator& operator=(TensorIterator&& iter) noexcept {
    TensorIteratorBase::operator=(std::move(const_cast<TensorIteratorBase&>(iter.materialized())));
    return *this;
  }
  ~TensorIterator() = default;

  static TensorIterator binary_float_op(TensorBase& out, const TensorBase& a, const TensorBase& b);
  static TensorIterator binary_op(TensorBase& out, const TensorBase& a, const TensorBase& b);
  static TensorIterator borrowing_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b);
  static TensorIterator comparison_op(TensorBase& out, const TensorBase& a, const TensorBase& b);
  static TensorIterator unary_op(TensorBase& out, const TensorBase& a);
  static TensorIterator unary_float_op(TensorBase& out, const TensorBase& a);
  static TensorIterator nullary_op(TensorBase& out);
  static TensorIterator borrowing_nullary_op(const TensorBase& out);
  static TensorIterator borrowing_nullary_op(TensorBase&& out) = delete;
  /// `out` must have the shape of `a`, with size 1 or stride 0 in the reduced dimensions.
  static TensorIterator reduce_op(TensorBase& out, const TensorBase& a);
  static TensorIterator reduce_op(TensorBase& out1, TensorBase& out2, const TensorBase& a);
};

/// What to iterate over, and under which rules. Outputs are added before inputs.
class TORCH_API TensorIteratorConfig final {
 public:
  TensorIteratorConfig() = default;
  TensorIteratorConfig(const TensorIteratorConfig&) = delete;
  TensorIteratorConfig& operator=(const TensorIteratorConfig&) = delete;
  TensorIteratorConfig(TensorIteratorConfig&&) = default;
  TensorIteratorConfig& operator=(TensorIteratorConfig&&) = default;
  ~TensorIteratorConfig() = default;

  // Borrowed operands must outlive the iterator; owned ones are kept alive by it. An undefined output is allocated.
  TensorIteratorConfig& add_output(const TensorBase& output) {
    return add_borrowed_output(output);
  }
  TensorIteratorConfig& add_input(const TensorBase& input) {
    return add_borrowed_input(input);
  }
  TensorIteratorConfig& add_const_input(const TensorBase& input) {
    return add_borrowed_const_input(input);
  }
  TensorIteratorConfig& add_output(TensorBase&& output) = delete;
  TensorIteratorConfig& add_input(TensorBase&& input) = delete;
  TensorIteratorConfig& add_const_input(TensorBase&& input) = delete;

  TensorIteratorConfig& add_owned_output(const TensorBase& output);
  TensorIteratorConfig& add_owned_input(const TensorBase& input);
  TensorIteratorConfig& add_owned_const_input(const TensorBase& input);

  TensorIteratorConfig& add_borrowed_output(const TensorBase& output);
  TensorIteratorConfig& add_borrowed_input(const TensorBase& input);
  TensorIteratorConfig& add_borrowed_const_input(const TensorBase& input);
  TensorIteratorConfig& add_borrowed_output(TensorBase&& output) = delete;
  TensorIteratorConfig& add_borrowed_input(TensorBase&& input) = delete;
  TensorIteratorConfig& add_borrowed_const_input(TensorBase&& input) = delete;

  /// An input that is a scalar, see Note [Scalars as operands].
  TensorIteratorConfig& add_scalar_input(const c10::Scalar& scalar);

  /// Check that outputs share no memory with themselves or, partly, with inputs (default).
  TensorIteratorConfig& set_check_mem_overlap(bool check) {
    return set(kCheckMemOverlap, check);
  }
  /// All operands must have one dtype (default).
  TensorIteratorConfig& check_all_same_dtype(bool check) {
    return set(kCheckSameDtype, check);
  }
  /// All operands must be on one device (default).
  TensorIteratorConfig& check_all_same_device(bool check) {
    return set(kCheckSameDevice, check);
  }
  /// The common dtype must be castable to the output's: integer outputs refuse floating results.
  TensorIteratorConfig& enforce_safe_casting_to_output(bool enforce) {
    return set(kSafeCasting, enforce);
  }
  /// Visit elements in row-major order of the tensors' own dimensions.
  TensorIteratorConfig& enforce_linear_iteration(bool enforce = true) {
    return set(kLinear, enforce);
  }
  /// Inputs are converted to their promoted dtype.
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool promote) {
    if (promote) {
      set(kCheckSameDtype, false);
    }
    return set(kPromoteInputs, promote);
  }
  /// Integers and bools are promoted to the default dtype.
  TensorIteratorConfig& promote_integer_inputs_to_float(bool promote) {
    return set(kIntegersToFloat, promote);
  }
  TensorIteratorConfig& is_reduction(bool reduction) {
    return set(kReduction, reduction);
  }
  /// 0-dim CPU tensors may stand beside tensors on another device.
  TensorIteratorConfig& allow_cpu_scalars(bool allow) {
    return set(kCpuScalars, allow);
  }
  /// Outputs are computed in the common dtype and converted to their own at the end.
  TensorIteratorConfig& cast_common_dtype_to_outputs(bool cast) {
    if (cast) {
      set(kCheckSameDtype, false);
    }
    return set(kCastOutputs, cast);
  }
  /// Outputs of another shape are resized (default).
  TensorIteratorConfig& resize_outputs(bool resize) {
    return set(kResizeOutputs, resize);
  }

  /// Dtype and device of outputs that are allocated.
  TensorIteratorConfig& declare_static_dtype_and_device(c10::ScalarType dtype, c10::Device device);
  TensorIteratorConfig& declare_static_dtype(c10::ScalarType dtype);
  TensorIteratorConfig& declare_static_device(c10::Device device);
  /// The shape to iterate over, instead of the operands' broadcast shape. `squash_dims` are iterated as size 1.
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape);
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape, IntArrayRef squash_dims);

  /// Checks and sets up everything. The config is used up.
  TensorIterator build() {
    TensorIterator iter;
    iter.build(*this);
    return iter;
  }

 private:
  friend struct TensorIteratorBase;

  enum Flag : std::uint32_t {
    kCheckMemOverlap = 1u << 0,
    kCheckSameDtype = 1u << 1,
    kCheckSameDevice = 1u << 2,
    kSafeCasting = 1u << 3,
    kLinear = 1u << 4,
    kPromoteInputs = 1u << 5,
    kIntegersToFloat = 1u << 6,
    kReduction = 1u << 7,
    kCpuScalars = 1u << 8,
    kCastOutputs = 1u << 9,
    kResizeOutputs = 1u << 10,
    kLoopConverts = 1u << 11, // PointwiseRule::loop_converts
  };

  TensorIteratorConfig& set(Flag flag, bool on) {
    flags_ = on ? flags_ | flag : flags_ & ~static_cast<std::uint32_t>(flag);
    return *this;
  }
  OperandInfo& add(bool output);

  SmallVector<OperandInfo, 4> operands_;
  int num_outputs_ = 0;
  std::uint32_t flags_ = kCheckMemOverlap | kCheckSameDtype | kCheckSameDevice | kResizeOutputs;
  std::optional<DimVector> static_shape_;
  std::optional<c10::ScalarType> static_dtype_;
  std::optional<c10::Device> static_device_;
};

/// Range over the parts of an iterator that fit 32-bit indexing.
struct TORCH_API SplitUntil32Bit {
  struct TORCH_API iterator {
    iterator() = default;
    explicit iterator(const TensorIteratorBase& iter);
    iterator(iterator&&) = default;
    iterator& operator=(iterator&&) = default;
    ~iterator() = default;

    TensorIterator& operator*() const;
    iterator& operator++();
    bool operator==(const iterator& other) const {
      return this == &other || (vec.empty() && other.vec.empty());
    }
    bool operator!=(const iterator& other) const {
      return !(*this == other);
    }

    std::vector<std::unique_ptr<TensorIterator>> vec;
  };

  explicit SplitUntil32Bit(const TensorIteratorBase& base) : iter(base) {}

  iterator begin() const;
  iterator end() const;

 private:
  const TensorIteratorBase& iter;
};

} // namespace at
