// Indexing as Python writes it: `x.index({Slice(1, None, 2), None, "...", mask})`.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymInt.h>
#include <c10/util/ArrayRef.h>

#include <climits>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <vector>

namespace at::indexing {

/// Where a slice without bounds ends: values that programs can print and compare.
constexpr int64_t INDEX_MIN = c10::SymInt::min_representable_int();
constexpr int64_t INDEX_MAX = -(INDEX_MIN + 1);

enum class TensorIndexType { None, Ellipsis, SymInt, Integer = SymInt, Boolean, Slice, Tensor };

/// Inserts a dimension of size 1.
constexpr std::nullopt_t None = std::nullopt;

struct EllipsisIndexType final {
  EllipsisIndexType() = default;
};
/// As many full slices as are needed; written "..." too.
TORCH_API extern const EllipsisIndexType Ellipsis;

/// start:stop:step of one dimension; parts that are left out cover the whole dimension. Throws when step is not
/// positive.
struct TORCH_API Slice final {
 public:
  Slice(
      std::optional<c10::SymInt> start_index = std::nullopt,
      std::optional<c10::SymInt> stop_index = std::nullopt,
      std::optional<c10::SymInt> step_index = std::nullopt);

  c10::SymInt start() const {
    return start_;
  }
  c10::SymInt stop() const {
    return stop_;
  }
  c10::SymInt step() const {
    return step_;
  }

 private:
  c10::SymInt start_;
  c10::SymInt stop_;
  c10::SymInt step_;
};

TORCH_API std::ostream& operator<<(std::ostream& stream, const Slice& slice);

/// One index of one dimension.
struct TORCH_API TensorIndex final {
  TensorIndex(std::nullopt_t) : type_(TensorIndexType::None) {}
  TensorIndex(EllipsisIndexType) : type_(TensorIndexType::Ellipsis) {}
  /// Throws for anything but "...".
  TensorIndex(const char* str);
  TensorIndex(c10::SymInt integer) : integer_(std::move(integer)), type_(TensorIndexType::SymInt) {}
  TensorIndex(int64_t integer) : integer_(integer), type_(TensorIndexType::SymInt) {}
  TensorIndex(int integer) : TensorIndex(static_cast<int64_t>(integer)) {}
  template <class T, class = std::enable_if_t<std::is_same_v<bool, T>>>
  TensorIndex(T boolean) : boolean_(boolean), type_(TensorIndexType::Boolean) {}
  TensorIndex(Slice slice) : slice_(std::move(slice)), type_(TensorIndexType::Slice) {}
  TensorIndex(Tensor tensor) : tensor_(std::move(tensor)), type_(TensorIndexType::Tensor) {}

  bool is_none() const {
    return type_ == TensorIndexType::None;
  }
  bool is_ellipsis() const {
    return type_ == TensorIndexType::Ellipsis;
  }
  bool is_integer() const {
    return type_ == TensorIndexType::SymInt;
  }
  c10::SymInt integer() const {
    return integer_;
  }
  bool is_boolean() const {
    return type_ == TensorIndexType::Boolean;
  }
  bool boolean() const {
    return boolean_;
  }
  bool is_slice() const {
    return type_ == TensorIndexType::Slice;
  }
  const Slice& slice() const {
    return slice_;
  }
  bool is_tensor() const {
    return type_ == TensorIndexType::Tensor;
  }
  const Tensor& tensor() const {
    return tensor_;
  }

 private:
  c10::SymInt integer_ = 0;
  bool boolean_ = false;
  Slice slice_;
  Tensor tensor_;
  TensorIndexType type_;
};

TORCH_API std::ostream& operator<<(std::ostream& stream, const TensorIndex& tensor_index);
TORCH_API std::ostream& operator<<(std::ostream& stream, const std::vector<TensorIndex>& tensor_indices);

/// The part of `self` that `indices` names. Throws IndexError for too many indices or values out of range.
/// The flags are libtorch's, for tracing; they change nothing.
TORCH_API Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices, bool disable_slice_optimization = false);
/// Writes `value`, broadcast, to that part.
TORCH_API void set_item(
    const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value, bool disable_slice_optimization = false);
TORCH_API void set_item(
    const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value, bool disable_slice_optimization = false);

} // namespace at::indexing
