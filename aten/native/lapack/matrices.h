// Matrices in tensors, one by one, as LAPACK wants them: by columns.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/lapack/routines.h>
#include <aten/parallel/Parallel.h>

#include <c10/util/DimVector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace at::native::lapack {

/// The dtypes that LAPACK knows.
inline constexpr auto kDtypes = kFloatDouble | kComplex;

/// A matrix anywhere in memory.
template <class T>
struct Strided {
  T* data;
  int64_t rows, cols;
  int64_t row_stride, col_stride;

  T& operator()(int64_t row, int64_t col) const {
    return data[row * row_stride + col * col_stride];
  }
};

/// All matrices (or vectors, or numbers) of a tensor, which is read as if expanded to `batch_sizes` in front of its
/// last `trailing` dimensions.
template <class T>
class Batch {
 public:
  Batch(const TensorBase& t, int64_t trailing, IntArrayRef batch_sizes)
      : data_(pointer(t)), conj_(t.is_conj()), neg_(t.is_neg()), sizes_(batch_sizes.begin(), batch_sizes.end()) {
    const int64_t own = t.dim() - trailing;
    const int64_t missing = static_cast<int64_t>(batch_sizes.size()) - own;
    for (int64_t d = 0; d < static_cast<int64_t>(batch_sizes.size()); ++d) {
      strides_.push_back(d < missing || t.size(d - missing) == 1 ? 0 : t.stride(d - missing));
    }
    if (trailing == 2) {
      shape_ = {nullptr, t.size(-2), t.size(-1), t.stride(-2), t.stride(-1)};
    } else if (trailing == 1) {
      shape_ = {nullptr, t.size(-1), 1, t.stride(-1), 0};
    } else {
      shape_ = {nullptr, 1, 1, 0, 0};
    }
  }
  /// With the tensor's own batch.
  Batch(const TensorBase& t, int64_t trailing) : Batch(t, trailing, t.sizes().slice(0, t.dim() - trailing)) {}

  Strided<T> operator[](int64_t index) const {
    int64_t offset = 0;
    for (int64_t d = static_cast<int64_t>(sizes_.size()) - 1; d >= 0; --d) {
      offset += index % sizes_[d] * strides_[d];
      index /= sizes_[d];
    }
    Strided<T> matrix = shape_;
    matrix.data = data_ + offset;
    return matrix;
  }

  int64_t count() const {
    int64_t n = 1;
    for (const int64_t size : sizes_) {
      n *= size;
    }
    return n;
  }

  int64_t rows() const {
    return shape_.rows;
  }
  int64_t cols() const {
    return shape_.cols;
  }
  bool is_conj() const {
    return conj_;
  }
  bool is_neg() const {
    return neg_;
  }

 private:
  static T* pointer(const TensorBase& t) {
    if constexpr (std::is_const_v<T>) {
      return t.const_data_ptr<std::remove_const_t<T>>();
    } else {
      return t.mutable_data_ptr<T>();
    }
  }

  T* data_;
  bool conj_, neg_;
  c10::DimVector sizes_, strides_;
  Strided<T> shape_{};
};

/// Copies elements, turned over where the tensor they come from is a lazy conjugate or negative.
template <class T>
void copy_matrix(
    const Batch<const T>& batch, const Strided<const T>& from, T* to, int64_t row_stride, int64_t col_stride) {
  const bool conj = batch.is_conj(), neg = batch.is_neg();
  const auto value = [&](T x) {
    if constexpr (is_complex_v<T>) {
      x = conj ? T(x.real(), -x.imag()) : x;
    }
    return neg ? -x : x;
  };
  if (!conj && !neg && from.row_stride == 1 && row_stride == 1) {
    for (int64_t col = 0; col < from.cols; ++col) {
      std::copy_n(from.data + col * from.col_stride, from.rows, to + col * col_stride);
    }
    return;
  }
  // Square blocks, so that one side of a transposition does not leave the cache.
  constexpr int64_t kBlock = 16;
  for (int64_t col0 = 0; col0 < from.cols; col0 += kBlock) {
    const int64_t col_end = std::min(from.cols, col0 + kBlock);
    for (int64_t row0 = 0; row0 < from.rows; row0 += kBlock) {
      const int64_t row_end = std::min(from.rows, row0 + kBlock);
      for (int64_t col = col0; col < col_end; ++col) {
        for (int64_t row = row0; row < row_end; ++row) {
          to[row * row_stride + col * col_stride] = value(from(row, col));
        }
      }
    }
  }
}

/// A matrix by columns: an output itself where it lies so, else memory of its own that `store` copies to the output.
template <class T>
class ByColumns {
 public:
  /// With `apart` never the output itself: for routines that read behind their operands, see `scratch`, which are all
  /// of complex numbers.
  explicit ByColumns(const Strided<T>& target, bool apart = is_complex_v<T>) : target_(target) {
    const int64_t rows = std::max<int64_t>(target.rows, 1);
    if (!apart && target.data != nullptr && (target.row_stride == 1 || target.rows <= 1) &&
        (target.col_stride >= rows || target.cols <= 1)) {
      data_ = target.data;
      leading_ = to_int(target.cols <= 1 ? rows : target.col_stride);
    } else {
      own_ = scratch<T>(target.rows * target.cols, rows);
      data_ = own_.get();
      leading_ = to_int(rows);
    }
  }
  /// Memory for a matrix that is no output.
  ByColumns(int64_t rows, int64_t cols)
      : target_{nullptr, rows, cols, 1, std::max<int64_t>(rows, 1)},
        own_(scratch<T>(rows * cols, rows)),
        data_(own_.get()),
        leading_(to_int(std::max<int64_t>(rows, 1))) {}

  T* data() const {
    return data_;
  }
  int leading() const {
    return leading_;
  }
  int rows() const {
    return to_int(target_.rows);
  }
  int cols() const {
    return to_int(target_.cols);
  }
  T& operator()(int64_t row, int64_t col) const {
    return data_[row + col * leading_];
  }

  void load(const Batch<const T>& batch, int64_t index) {
    copy_matrix(batch, batch[index], data_, 1, leading_);
  }

  void store() const {
    if (data_ != target_.data && target_.data != nullptr) {
      for (int64_t col = 0; col < target_.cols; ++col) {
        for (int64_t row = 0; row < target_.rows; ++row) {
          target_(row, col) = (*this)(row, col);
        }
      }
    }
  }

  void fill(T value) const {
    for (int64_t col = 0; col < target_.cols; ++col) {
      std::fill_n(data_ + col * int64_t(leading_), target_.rows, value);
    }
  }

  /// Sets the elements below (or above) the diagonal to zero.
  void clear_triangle(bool lower) const {
    for (int64_t col = 0; col < target_.cols; ++col) {
      const int64_t begin = lower ? std::min(col + 1, target_.rows) : 0;
      const int64_t end = lower ? target_.rows : std::min(col, target_.rows);
      std::fill(data_ + begin + col * int64_t(leading_), data_ + end + col * int64_t(leading_), T(0));
    }
  }

 private:
  Strided<T> target_;
  std::unique_ptr<T[]> own_;
  T* data_;
  int leading_;
};

template <class T>
bool is_finite(T x) {
  if constexpr (is_complex_v<T>) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  } else {
    return std::isfinite(x);
  }
}

enum class Part : uint8_t { All, Lower, Upper };

/// Whether no element, or none of that triangle, is NaN or infinite. The algorithms that iterate need it: some
/// libraries never come back from such numbers, others read outside of their arguments.
template <class T>
bool all_finite(const Strided<const T>& matrix, Part part = Part::All) {
  for (int64_t col = 0; col < matrix.cols; ++col) {
    const int64_t begin = part == Part::Lower ? std::min(col, matrix.rows) : 0;
    const int64_t end = part == Part::Upper ? std::min(col + 1, matrix.rows) : matrix.rows;
    for (int64_t row = begin; row < end; ++row) {
      if (!is_finite(matrix(row, col))) {
        return false;
      }
    }
  }
  return true;
}
template <class T>
bool all_finite(const Batch<const T>& batch, Part part = Part::All) {
  for (int64_t i = 0; i < batch.count(); ++i) {
    if (!all_finite(batch[i], part)) {
      return false;
    }
  }
  return true;
}

/// Whether an element is NaN, or has a part that is.
template <class T>
bool any_nan(const Batch<const T>& batch) {
  for (int64_t i = 0; i < batch.count(); ++i) {
    const Strided<const T> matrix = batch[i];
    for (int64_t col = 0; col < matrix.cols; ++col) {
      for (int64_t row = 0; row < matrix.rows; ++row) {
        const T element = matrix(row, col);
        if (element != element) {
          return true;
        }
      }
    }
  }
  return false;
}

/// Calls f(index) for each matrix of a batch, on several threads when `work`, some number of operations a matrix, is
/// worth it.
template <class F>
void for_each_matrix(int64_t count, int64_t work, const F& f) {
  at::parallel_for(0, count, std::max<int64_t>(1, 20000 / std::max<int64_t>(work, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      f(i);
    }
  });
}

} // namespace at::native::lapack
