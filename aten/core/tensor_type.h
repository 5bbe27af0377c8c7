// What TensorType knows of sizes: libtorch's VaryingShape.
#pragma once

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <iosfwd>
#include <optional>
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
  /// Length and members are all known.
  bool isComplete() const {
    return dims_ &&
        std::all_of(dims_->begin(), dims_->end(), [](const std::optional<T>& dim) { return dim.has_value(); });
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

} // namespace c10
