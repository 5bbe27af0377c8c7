// What TensorType knows of sizes: libtorch's VaryingShape.
#pragma once

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <iosfwd>
#include <optional>
#include <type_traits>
#include <vector>

namespace c10 {

/// A list of known length or not, each of whose members is known or not.
template <class T>
struct VaryingShape {
  using ListOfOptionalElements = std::vector<std::optional<T>>;

  VaryingShape() = default;
  /// Of unknown length, too.
  /* implicit */ VaryingShape(std::nullopt_t) {}
  VaryingShape(const std::vector<T>& values) : dims_(ListOfOptionalElements(values.begin(), values.end())) {}
  VaryingShape(ArrayRef<T> values) : dims_(ListOfOptionalElements(values.begin(), values.end())) {}
  VaryingShape(ListOfOptionalElements dims) : dims_(std::move(dims)) {}
  VaryingShape(std::optional<ListOfOptionalElements> dims) : dims_(std::move(dims)) {}
  /// `size` members, none of which is known.
  explicit VaryingShape(std::optional<size_t> size) {
    if (size) {
      dims_ = ListOfOptionalElements(*size);
    }
  }

  bool operator==(const VaryingShape& other) const {
    return dims_ == other.dims_;
  }
  /// Throws if the length is not known.
  const std::optional<T>& operator[](size_t i) const {
    TORCH_CHECK(dims_, "Rank isn't fixed");
    return dims_->at(i);
  }
  /// The length.
  std::optional<size_t> size() const {
    return dims_ ? std::optional<size_t>(dims_->size()) : std::nullopt;
  }
  const std::optional<ListOfOptionalElements>& sizes() const {
    return dims_;
  }
  /// Length and members are all known, and what members are made of.
  bool isComplete() const {
    return dims_ && std::all_of(dims_->begin(), dims_->end(), [](const std::optional<T>& dim) {
             if constexpr (std::is_class_v<T>) {
               return dim && dim->isComplete();
             } else {
               return dim.has_value();
             }
           });
  }
  /// All members, if they are known.
  std::optional<std::vector<T>> concrete_sizes() const {
    if (!isComplete()) {
      return std::nullopt;
    }
    std::vector<T> values;
    for (const std::optional<T>& dim : *dims_) {
      values.push_back(*dim);
    }
    return values;
  }
  /// What both know alike.
  VaryingShape merge(const VaryingShape& other) const {
    if (!dims_ || !other.dims_ || dims_->size() != other.dims_->size()) {
      return VaryingShape();
    }
    ListOfOptionalElements both;
    for (size_t i = 0; i < dims_->size(); ++i) {
      both.push_back((*dims_)[i] == (*other.dims_)[i] ? (*dims_)[i] : std::nullopt);
    }
    return both;
  }

 private:
  std::optional<ListOfOptionalElements> dims_;
};

TORCH_API std::ostream& operator<<(std::ostream& out, const VaryingShape<int64_t>& shape);

/// A size: a number, or a name for one that is not known, which is written as a
/// negative number.
class ShapeSymbol {
 public:
  ShapeSymbol() = default;
  static ShapeSymbol fromStaticSize(int64_t size) {
    return ShapeSymbol(size);
  }
  /// A name that no other symbol has.
  TORCH_API static ShapeSymbol newSymbol();
  bool is_static() const {
    return value_ >= 0;
  }
  /// Throws if the size is not known.
  int64_t static_size() const {
    TORCH_CHECK(is_static(), "the size ", value_, " is a symbol: it is not known");
    return value_;
  }
  int64_t value() const {
    return value_;
  }
  bool operator==(const ShapeSymbol& other) const {
    return value_ == other.value_;
  }
  bool operator<(const ShapeSymbol& other) const {
    return value_ < other.value_;
  }

 private:
  explicit ShapeSymbol(int64_t value) : value_(value) {}
  int64_t value_ = -1;
};

/// Sizes of a tensor, of which some have names; or nothing, if not even their
/// number is known.
class TORCH_API SymbolicShape {
 public:
  SymbolicShape() = default;
  /// `rank` sizes that are not known.
  SymbolicShape(std::optional<size_t> rank);
  SymbolicShape(const std::vector<std::optional<int64_t>>& dims);
  SymbolicShape(std::vector<ShapeSymbol> dims) : dims_(std::move(dims)) {}
  SymbolicShape(ArrayRef<int64_t> dims);

  std::optional<size_t> rank() const {
    return dims_ ? std::optional<size_t>(dims_->size()) : std::nullopt;
  }
  const std::optional<std::vector<ShapeSymbol>>& sizes() const {
    return dims_;
  }
  /// Throws if the number of sizes is not known.
  ShapeSymbol operator[](size_t i) const {
    return at(i);
  }
  ShapeSymbol at(size_t i) const {
    TORCH_CHECK(dims_, "Rank isn't fixed");
    return dims_->at(i);
  }
  /// Which sizes are symbols.
  std::optional<std::vector<bool>> symbolicDims() const;
  /// All sizes are numbers.
  bool isComplete() const;
  /// What both know alike: other sizes are new symbols, and nothing is known
  /// where the numbers of sizes differ.
  SymbolicShape merge(const SymbolicShape& other) const;
  bool operator==(const SymbolicShape& other) const {
    return dims_ == other.dims_;
  }

 private:
  std::optional<std::vector<ShapeSymbol>> dims_;
};

TORCH_API std::ostream& operator<<(std::ostream& out, const ShapeSymbol& symbol);
TORCH_API std::ostream& operator<<(std::ostream& out, const SymbolicShape& shape);

/// A stride, which dimension it is of, and whether that dimension lies densely
/// over the one with the next smaller stride. Lists of them begin with the
/// smallest.
struct Stride {
  Stride() = default;
  Stride(std::optional<size_t> stride_index, std::optional<bool> contiguous, std::optional<size_t> stride)
      : stride_index_(stride_index), contiguous_(contiguous), stride_(stride) {}
  bool isComplete() const {
    return stride_index_ && contiguous_ && stride_;
  }
  bool operator==(const Stride& other) const {
    return stride_index_ == other.stride_index_ && contiguous_ == other.contiguous_ && stride_ == other.stride_;
  }

  std::optional<size_t> stride_index_;
  std::optional<bool> contiguous_;
  std::optional<size_t> stride_;
};

} // namespace c10
