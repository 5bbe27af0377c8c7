// Arrays of numbers, their groups and their lines: what the naive references are written with.
#pragma once

#include <algorithm>
#include <complex>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "test/support/host_view.h"
#include "test/support/random.h"
#include "test/support/reference.h"

namespace test {

/// References by operator, with or without the overload.
using References = std::map<std::string, Reference>;

const References& network_references();
const References& statistics_references();
const References& loss_references();

using Complex = std::complex<double>;
using Tensors = std::vector<at::Tensor>;
using Shape = std::vector<int64_t>;

/// A tensor as a plain array of numbers.
struct Array {
  Shape sizes;
  std::vector<Complex> values;

  explicit Array(Shape shape) : sizes(std::move(shape)), values(count()) {}
  explicit Array(const at::Tensor& tensor) : Array(tensor.sizes().vec()) {
    const HostView view(tensor);
    const bool integer = c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = integer ? Complex(static_cast<double>(view.integer(static_cast<int64_t>(i))))
                          : view.number(static_cast<int64_t>(i));
    }
  }
  explicit Array(const c10::IValue& value) : Array(value.toTensor()) {}

  size_t count() const {
    int64_t product = 1;
    for (const int64_t size : sizes) {
      product *= size;
    }
    return static_cast<size_t>(product);
  }
  int64_t rank() const {
    return static_cast<int64_t>(sizes.size());
  }

  Complex& at(const Shape& index) {
    return values[flat(index)];
  }
  Complex at(const Shape& index) const {
    return values[flat(index)];
  }

  at::Tensor tensor() const {
    return tensor_of(c10::ScalarType::ComplexDouble, sizes, [this](int64_t i) { return values[i]; });
  }
  at::Tensor index_tensor() const {
    return tensor_of(c10::ScalarType::Long, sizes, [this](int64_t i) { return values[i]; });
  }

 private:
  size_t flat(const Shape& index) const {
    int64_t position = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      position = position * sizes[d] + index[d];
    }
    return static_cast<size_t>(position);
  }
};

/// Calls `visit(index)` for every index of a shape, in row-major order.
inline void for_each_index(const Shape& sizes, const std::function<void(const Shape&)>& visit) {
  for (const int64_t size : sizes) {
    if (size == 0) {
      return;
    }
  }
  Shape index(sizes.size(), 0);
  for (;;) {
    visit(index);
    size_t d = sizes.size();
    for (; d > 0; --d) {
      if (++index[d - 1] < sizes[d - 1]) {
        break;
      }
      index[d - 1] = 0;
    }
    if (d == 0) {
      return;
    }
  }
}

inline int64_t wrap(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + std::max<int64_t>(rank, 1) : dim;
}

inline int64_t dim_argument(const Stack& args, size_t position, int64_t rank) {
  return wrap(args.at(position).toInt(), rank);
}

/// The dimensions a reduction is asked for: an int, a list, or all.
inline std::vector<bool> reduced_dims(const Stack& args, size_t position, int64_t rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), true);
  if (position >= args.size() || args[position].isNone()) {
    return reduced;
  }
  Shape dims;
  if (args[position].isInt()) {
    dims = {args[position].toInt()};
  } else {
    dims = args[position].toIntVector();
  }
  if (dims.empty()) {
    return reduced;
  }
  std::fill(reduced.begin(), reduced.end(), false);
  for (const int64_t dim : dims) {
    if (rank > 0) {
      reduced[static_cast<size_t>(wrap(dim, rank))] = true;
    }
  }
  return reduced;
}

using Group = std::vector<Complex>;

inline Complex total(const Group& group) {
  return std::accumulate(group.begin(), group.end(), Complex(0));
}

inline double variance(const Group& group, double correction) {
  const Complex mean = total(group) / static_cast<double>(group.size());
  double sum = 0;
  for (const Complex value : group) {
    sum += std::norm(value - mean);
  }
  return sum / std::max(0.0, static_cast<double>(group.size()) - correction);
}

inline int64_t integer_at(const Array& indices, const Shape& index) {
  return static_cast<int64_t>(indices.at(index).real());
}

/// One result for each group of elements that share the indices of the kept dimensions.
inline Array reduce_groups(
    const Array& self, const std::vector<bool>& reduced, bool keepdim, const std::function<Complex(const Group&)>& f) {
  Shape kept_sizes = self.sizes;
  for (size_t d = 0; d < kept_sizes.size(); ++d) {
    if (reduced[d]) {
      kept_sizes[d] = 1;
    }
  }
  std::vector<Group> groups(Array(kept_sizes).count());
  for_each_index(self.sizes, [&](const Shape& index) {
    int64_t position = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      position = position * kept_sizes[d] + (reduced[d] ? 0 : index[d]);
    }
    groups[static_cast<size_t>(position)].push_back(self.at(index));
  });
  Shape sizes;
  for (size_t d = 0; d < kept_sizes.size(); ++d) {
    if (keepdim || !reduced[d]) {
      sizes.push_back(kept_sizes[d]);
    }
  }
  Array out(sizes);
  for (size_t i = 0; i < groups.size(); ++i) {
    out.values[i] = f(groups[i]);
  }
  return out;
}

/// `self, dim, keepdim` with dim at `position`; overloads without dim reduce everything.
inline Array reduce(
    const Stack& args, size_t position, size_t keepdim_position, const std::function<Complex(const Group&)>& f) {
  const Array self(args.at(0));
  const bool keepdim =
      args.size() > keepdim_position && args[keepdim_position].isBool() && args[keepdim_position].toBool();
  return reduce_groups(self, reduced_dims(args, position, self.rank()), keepdim, f);
}

/// Replaces every line along `dim` by f(line).
inline Array map_lines(const Array& self, int64_t dim, const std::function<Group(const Group&)>& f) {
  if (self.rank() == 0) {
    Array out(self.sizes);
    out.values = f(self.values);
    return out;
  }
  Array out = self;
  Shape starts = self.sizes;
  starts[dim] = std::min<int64_t>(1, starts[dim]);
  for_each_index(starts, [&](const Shape& start) {
    Shape index = start;
    Group line;
    for (index[dim] = 0; index[dim] < self.sizes[dim]; ++index[dim]) {
      line.push_back(self.at(index));
    }
    const Group changed = f(line);
    for (index[dim] = 0; index[dim] < self.sizes[dim]; ++index[dim]) {
      out.at(index) = changed[index[dim]];
    }
  });
  return out;
}

} // namespace test
