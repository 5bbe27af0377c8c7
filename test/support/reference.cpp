#include "test/support/reference.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <numeric>

#include "test/support/reference_array.h"

namespace test {

namespace {

// ---- reductions ---------------------------------------------------------------

// The full overloads take (self, dtype), whose dtype is None here.
Tensors sum(const Stack& args) {
  return {reduce(args, 1, 2, total).tensor()};
}

Tensors prod(const Stack& args) {
  return {reduce(args, 1, 2, [](const Group& group) {
            return std::accumulate(group.begin(), group.end(), Complex(1), std::multiplies<Complex>());
          }).tensor()};
}

Tensors mean(const Stack& args) {
  return {
      reduce(args, 1, 2, [](const Group& group) { return total(group) / static_cast<double>(group.size()); }).tensor()};
}

size_t position_of_best(const Group& group, bool largest) {
  size_t best = 0;
  for (size_t i = 1; i < group.size(); ++i) {
    if (largest ? group[i].real() > group[best].real() : group[i].real() < group[best].real()) {
      best = i;
    }
  }
  return best;
}

/// max, min, amax, amin; with the index where the overload takes one dimension.
Tensors extreme(const Stack& args, bool largest, bool with_index) {
  Tensors results = {
      reduce(args, 1, 2, [largest](const Group& group) { return group[position_of_best(group, largest)]; }).tensor()};
  if (with_index && args.size() > 1) {
    results.push_back(reduce(args, 1, 2, [largest](const Group& group) {
                        return Complex(static_cast<double>(position_of_best(group, largest)));
                      }).index_tensor());
  }
  return results;
}

Tensors arg_extreme(const Stack& args, bool largest) {
  return {reduce(args, 1, 2, [largest](const Group& group) {
            return Complex(static_cast<double>(position_of_best(group, largest)));
          }).index_tensor()};
}

Tensors any(const Stack& args) {
  return {reduce(args, 1, 2, [](const Group& group) {
            return Complex(std::any_of(group.begin(), group.end(), [](Complex value) { return value != 0.0; }));
          }).tensor()};
}

Tensors all(const Stack& args) {
  return {reduce(args, 1, 2, [](const Group& group) {
            return Complex(std::all_of(group.begin(), group.end(), [](Complex value) { return value != 0.0; }));
          }).tensor()};
}

/// var(self, unbiased), var.dim(self, dim, unbiased, keepdim), var.correction(self, dim, *, correction, keepdim).
Array variances(const Stack& args) {
  const c10::IValue& last = args.size() == 2 ? args[1] : args.at(2);
  const double correction = last.isNone() ? 1 : last.isBool() ? (last.toBool() ? 1 : 0) : last.toScalar().toDouble();
  const auto f = [correction](const Group& group) { return Complex(variance(group, correction)); };
  return args.size() == 2 ? reduce({args[0]}, 1, 2, f) : reduce(args, 1, 3, f);
}

Tensors var(const Stack& args) {
  return {variances(args).tensor()};
}

Tensors std_(const Stack& args) {
  Array out = variances(args);
  for (Complex& value : out.values) {
    value = std::sqrt(value.real());
  }
  return {out.tensor()};
}

/// norm(self, p, dim, keepdim)
Tensors norm(const Stack& args) {
  const double p = args.at(1).isNone() ? 2 : args[1].toScalar().toDouble();
  return {reduce(args, 2, 3, [p](const Group& group) {
            double sum = 0;
            for (const Complex value : group) {
              sum += std::pow(std::abs(value), p);
            }
            return Complex(std::pow(sum, 1 / p));
          }).tensor()};
}

Tensors logsumexp(const Stack& args) {
  return {reduce(args, 1, 2, [](const Group& group) {
            Complex sum = 0;
            for (const Complex value : group) {
              sum += std::exp(value);
            }
            return std::log(sum);
          }).tensor()};
}

// ---- along one dimension --------------------------------------------------------

Tensors cumsum(const Stack& args) {
  const Array self(args.at(0));
  return {map_lines(self, dim_argument(args, 1, self.rank()), [](Group line) {
            std::partial_sum(line.begin(), line.end(), line.begin());
            return line;
          }).tensor()};
}

Group softmax_line(const Group& line) {
  Group out;
  Complex sum = 0;
  for (const Complex value : line) {
    sum += std::exp(value);
  }
  for (const Complex value : line) {
    out.push_back(std::exp(value) / sum);
  }
  return out;
}

Tensors softmax(const Stack& args) {
  const Array self(args.at(0));
  return {map_lines(self, dim_argument(args, 1, self.rank()), softmax_line).tensor()};
}

Tensors log_softmax(const Stack& args) {
  const Array self(args.at(0));
  return {map_lines(self, dim_argument(args, 1, self.rank()), [](const Group& line) {
            Group out = softmax_line(line);
            for (Complex& value : out) {
              value = std::log(value);
            }
            return out;
          }).tensor()};
}

/// Positions of a line's elements in sorted order.
std::vector<size_t> sorted_positions(const Group& line, bool descending) {
  std::vector<size_t> order(line.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return descending ? line[a].real() > line[b].real() : line[a].real() < line[b].real();
  });
  return order;
}

Tensors sort_lines(const Array& self, int64_t dim, bool descending) {
  const auto values = [descending](const Group& line) {
    Group out;
    for (const size_t i : sorted_positions(line, descending)) {
      out.push_back(line[i]);
    }
    return out;
  };
  const auto indices = [descending](const Group& line) {
    Group out;
    for (const size_t i : sorted_positions(line, descending)) {
      out.emplace_back(static_cast<double>(i));
    }
    return out;
  };
  return {map_lines(self, dim, values).tensor(), map_lines(self, dim, indices).index_tensor()};
}

/// sort(self, dim, descending) and sort.stable(self, stable, dim, descending)
Tensors sort(const Stack& args) {
  const Array self(args.at(0));
  const size_t first = args.size() == 4 ? 2 : 1;
  return sort_lines(self, dim_argument(args, first, self.rank()), args.at(first + 1).toBool());
}

// ---- matrices -----------------------------------------------------------------

Array matrix_product(const Array& a, const Array& b) {
  Array out({a.sizes[0], b.sizes[1]});
  for (int64_t i = 0; i < a.sizes[0]; ++i) {
    for (int64_t j = 0; j < b.sizes[1]; ++j) {
      for (int64_t k = 0; k < a.sizes[1]; ++k) {
        out.at({i, j}) += a.at({i, k}) * b.at({k, j});
      }
    }
  }
  return out;
}

Array batched_product(const Array& a, const Array& b) {
  Array out({a.sizes[0], a.sizes[1], b.sizes[2]});
  for_each_index(out.sizes, [&](const Shape& index) {
    for (int64_t k = 0; k < a.sizes[2]; ++k) {
      out.at(index) += a.at({index[0], index[1], k}) * b.at({index[0], k, index[2]});
    }
  });
  return out;
}

Array reshaped(Array self, Shape sizes) {
  self.sizes = std::move(sizes);
  return self;
}

/// beta * self (broadcast to the product) + alpha * product
Tensors add_product(const Stack& args, Array product) {
  const at::Tensor self = args.at(0).toTensor();
  const Array addend(self);
  const double beta = args.at(3).toScalar().toDouble();
  const double alpha = args.at(4).toScalar().toDouble();
  const size_t missing = product.sizes.size() - addend.sizes.size();
  for_each_index(product.sizes, [&](const Shape& index) {
    Shape from;
    for (size_t d = missing; d < index.size(); ++d) {
      from.push_back(addend.sizes[d - missing] == 1 ? 0 : index[d]);
    }
    product.at(index) = alpha * product.at(index) + (beta == 0 ? Complex(0) : beta * addend.at(from));
  });
  return {product.tensor()};
}

Tensors mm(const Stack& args) {
  return {matrix_product(Array(args.at(0)), Array(args.at(1))).tensor()};
}
Tensors bmm(const Stack& args) {
  return {batched_product(Array(args.at(0)), Array(args.at(1))).tensor()};
}
Tensors addmm(const Stack& args) {
  return add_product(args, matrix_product(Array(args.at(1)), Array(args.at(2))));
}
Tensors addmm_activation(const Stack& args) {
  Array sum(addmm(args).at(0));
  const bool gelu = args.at(5).toBool();
  for (Complex& value : sum.values) {
    const double x = value.real();
    value = gelu ? 0.5 * x * std::erfc(-x / std::sqrt(2.0)) : std::max(x, 0.0);
  }
  return {sum.tensor()};
}
Tensors baddbmm(const Stack& args) {
  return add_product(args, batched_product(Array(args.at(1)), Array(args.at(2))));
}

Array matrix_vector(const Array& matrix, const Array& vector) {
  const Array column = reshaped(vector, {vector.sizes[0], 1});
  return reshaped(matrix_product(matrix, column), {matrix.sizes[0]});
}

Tensors mv(const Stack& args) {
  return {matrix_vector(Array(args.at(0)), Array(args.at(1))).tensor()};
}
Tensors addmv(const Stack& args) {
  return add_product(args, matrix_vector(Array(args.at(1)), Array(args.at(2))));
}

Tensors inner(const Stack& args, bool conjugate) {
  const Array a(args.at(0));
  const Array b(args.at(1));
  Array out((Shape()));
  for (size_t i = 0; i < a.values.size(); ++i) {
    out.values[0] += (conjugate ? std::conj(a.values[i]) : a.values[i]) * b.values[i];
  }
  return {out.tensor()};
}

Tensors outer(const Stack& args) {
  const Array a(args.at(0));
  const Array b(args.at(1));
  return {matrix_product(reshaped(a, {a.sizes[0], 1}), reshaped(b, {1, b.sizes[0]})).tensor()};
}

Tensors linear(const Stack& args) {
  const Array input(args.at(0));
  const Array weight(args.at(1));
  Shape sizes = input.sizes;
  sizes.back() = weight.sizes[0];
  Array out(sizes);
  for_each_index(sizes, [&](const Shape& index) {
    Shape from = index;
    for (from.back() = 0; from.back() < weight.sizes[1]; ++from.back()) {
      out.at(index) += input.at(from) * weight.at({index.back(), from.back()});
    }
    if (args.at(2).isTensor() && args[2].toTensor().defined()) {
      out.at(index) += Array(args[2]).at({index.back()});
    }
  });
  return {out.tensor()};
}

Tensors triangle(const Stack& args, bool lower) {
  Array out(args.at(0));
  const int64_t diagonal = args.at(1).toInt();
  for_each_index(out.sizes, [&](const Shape& index) {
    const int64_t offset = index.back() - index[index.size() - 2];
    if (lower ? offset > diagonal : offset < diagonal) {
      out.at(index) = 0;
    }
  });
  return {out.tensor()};
}

// ---- indexing -----------------------------------------------------------------

Tensors gather(const Stack& args) {
  const Array self(args.at(0));
  const int64_t dim = dim_argument(args, 1, self.rank());
  const Array index(args.at(2));
  Array out(index.sizes);
  for_each_index(index.sizes, [&](const Shape& at) {
    Shape from = at;
    if (!from.empty()) {
      from[dim] = integer_at(index, at);
    }
    out.at(at) = self.at(from);
  });
  return {out.tensor()};
}

/// Of each place in a padded tensor: where in `self` it takes its value from, or nothing.
using PlaceInside = std::function<int64_t(int64_t place, int64_t size)>;

Array pad_with(const Array& self, const Shape& widths, Complex outside, const PlaceInside& inside) {
  Shape sizes = self.sizes;
  for (size_t i = 0; i < widths.size(); ++i) {
    sizes[sizes.size() - 1 - i / 2] += widths[i];
  }
  Array out(sizes);
  for_each_index(sizes, [&](const Shape& at) {
    Shape from = at;
    bool found = true;
    for (size_t i = 0; i < widths.size(); i += 2) {
      const size_t d = sizes.size() - 1 - i / 2;
      from[d] = inside(at[d] - widths[i], self.sizes[d]);
      found = found && from[d] >= 0;
    }
    out.at(at) = found ? self.at(from) : outside;
  });
  return out;
}

Tensors constant_pad(const Stack& args) {
  const Complex value(args.at(2).toScalar().toDouble());
  return {pad_with(Array(args.at(0)), args.at(1).toIntVector(), value, [](int64_t place, int64_t size) {
            return place < size ? place : -1;
          }).tensor()};
}

/// Walks from the first element to the wanted place, turning round at each end.
Tensors reflection_pad(const Stack& args) {
  return {pad_with(Array(args.at(0)), args.at(1).toIntVector(), 0, [](int64_t place, int64_t size) {
            int64_t at = 0;
            int64_t step = 1;
            for (int64_t walked = 0; walked < std::abs(place); ++walked) {
              if (at + step < 0 || at + step >= size) {
                step = -step;
              }
              at += step;
            }
            return at;
          }).tensor()};
}

Tensors replication_pad(const Stack& args) {
  return {pad_with(Array(args.at(0)), args.at(1).toIntVector(), 0, [](int64_t place, int64_t size) {
            return std::min(std::max<int64_t>(place, 0), size - 1);
          }).tensor()};
}

Tensors circular_pad(const Stack& args) {
  return {pad_with(Array(args.at(0)), args.at(1).toIntVector(), 0, [](int64_t place, int64_t size) {
            return (place % size + size) % size;
          }).tensor()};
}

/// Collects what meets in each element of self, and reduces it. Means of integers are rounded down.
Tensors index_reduce(const Stack& args) {
  const bool integral = c10::isIntegralType(args.at(0).toTensor().scalar_type(), /*includeBool=*/false);
  const Array self(args.at(0));
  const int64_t dim = dim_argument(args, 1, self.rank());
  const Array index(args.at(2)), source(args.at(3));
  const std::string reduce = args.at(4).toStringRef();
  const bool include_self = args.at(5).toBool();
  Array out(self.sizes);
  for_each_index(self.sizes, [&](const Shape& at) {
    Group group;
    if (include_self) {
      group.push_back(self.at(at));
    }
    for (int64_t k = 0; k < source.sizes[dim]; ++k) {
      Shape from = at;
      from[dim] = k;
      if (integer_at(index, {k}) == at[dim]) {
        group.push_back(source.at(from));
      }
    }
    if (group.empty()) {
      out.at(at) = self.at(at);
    } else if (reduce == "prod") {
      out.at(at) = std::accumulate(group.begin(), group.end(), Complex(1), std::multiplies<Complex>());
    } else if (reduce == "mean") {
      // Integers are divided towards minus infinity.
      const Complex mean = total(group) / static_cast<double>(group.size());
      out.at(at) = integral ? Complex(std::floor(mean.real())) : mean;
    } else {
      out.at(at) = group[position_of_best(group, reduce == "amax")];
    }
  });
  return {out.tensor()};
}

/// From [..., c * f * f, h, w] to [..., c, h * f, w * f].
Tensors pixel_shuffle(const Stack& args) {
  const Array self(args.at(0));
  const int64_t f = args.at(1).toInt();
  Shape sizes = self.sizes;
  const size_t c = sizes.size() - 3;
  sizes[c] /= f * f;
  sizes[c + 1] *= f;
  sizes[c + 2] *= f;
  Array out(sizes);
  for_each_index(sizes, [&](const Shape& at) {
    Shape from = at;
    from[c] = at[c] * f * f + at[c + 1] % f * f + at[c + 2] % f;
    from[c + 1] = at[c + 1] / f;
    from[c + 2] = at[c + 2] / f;
    out.at(at) = self.at(from);
  });
  return {out.tensor()};
}

Tensors select_scatter(const Stack& args) {
  Array out(args.at(0));
  const Array src(args.at(1));
  const int64_t dim = dim_argument(args, 2, out.rank());
  const int64_t index = wrap(args.at(3).toInt(), out.sizes[dim]);
  for_each_index(src.sizes, [&](const Shape& at) {
    Shape to = at;
    to.insert(to.begin() + dim, index);
    out.at(to) = src.at(at);
  });
  return {out.tensor()};
}

/// The rows of each bag: their sum with weights, mean or maximum.
Tensors embedding_bag(const Stack& args) {
  const Array table(args.at(0)), indices(args.at(1)), offsets(args.at(2));
  const int64_t mode = args.at(4).toInt();
  const int64_t padding = args.at(8).toInt();
  Array out({offsets.sizes[0], table.sizes[1]});
  for_each_index(out.sizes, [&](const Shape& at) {
    Group group;
    for (int64_t i = 0; i < indices.sizes[0]; ++i) {
      const bool last = at[0] + 1 == offsets.sizes[0];
      const bool inside = i >= integer_at(offsets, {at[0]}) && (last || i < integer_at(offsets, {at[0] + 1}));
      if (!inside || integer_at(indices, {i}) == padding) {
        continue;
      }
      const Complex weight = args.at(6).isNone() ? Complex(1) : Array(args[6]).at({i});
      group.push_back(table.at({integer_at(indices, {i}), at[1]}) * weight);
    }
    if (group.empty()) {
      return;
    }
    out.at(at) = mode == 2 ? group[position_of_best(group, true)]
        : mode == 1        ? total(group) / static_cast<double>(group.size())
                           : total(group);
  });
  return {out.tensor()};
}

/// scatter and scatter_add of a tensor, or of one value.
Tensors scatter(const Stack& args, bool add) {
  Array out(args.at(0));
  const int64_t dim = dim_argument(args, 1, out.rank());
  const Array index(args.at(2));
  for_each_index(index.sizes, [&](const Shape& at) {
    Shape to = at;
    if (!to.empty()) {
      to[dim] = integer_at(index, at);
    }
    const Complex value = args.at(3).isTensor() ? Array(args[3]).at(at) : Complex(args[3].toScalar().toDouble());
    out.at(to) = add ? out.at(to) + value : value;
  });
  return {out.tensor()};
}

Tensors scatter_src(const Stack& args) {
  return scatter(args, /*add=*/false);
}
Tensors scatter_add(const Stack& args) {
  return scatter(args, /*add=*/true);
}

Tensors index_select(const Stack& args) {
  const Array self(args.at(0));
  const int64_t dim = dim_argument(args, 1, self.rank());
  const Array index(args.at(2));
  Shape sizes = self.sizes;
  sizes[dim] = index.sizes[0];
  Array out(sizes);
  for_each_index(sizes, [&](const Shape& at) {
    Shape from = at;
    from[dim] = integer_at(index, {at[dim]});
    out.at(at) = self.at(from);
  });
  return {out.tensor()};
}

Tensors nonzero(const Stack& args) {
  const Array self(args.at(0));
  std::vector<Complex> coordinates;
  for_each_index(self.sizes, [&](const Shape& index) {
    if (self.at(index) == 0.0) {
      return;
    }
    for (const int64_t i : index) {
      coordinates.emplace_back(static_cast<double>(i));
    }
  });
  const int64_t found =
      std::count_if(self.values.begin(), self.values.end(), [](Complex value) { return value != 0.0; });
  Array out({found, self.rank()});
  out.values = coordinates;
  return {out.index_tensor()};
}

Tensors masked_select(const Stack& args) {
  const Array self(args.at(0));
  const Array mask(args.at(1));
  Array out(Shape{0});
  for_each_index(self.sizes, [&](const Shape& index) {
    Shape from(index.end() - mask.rank(), index.end());
    if (mask.at(from) != 0.0) {
      out.values.push_back(self.at(index));
    }
  });
  out.sizes = {static_cast<int64_t>(out.values.size())};
  return {out.tensor()};
}

Tensors cat(const Stack& args) {
  const Tensors parts = args.at(0).toTensorVector();
  const int64_t dim = dim_argument(args, 1, parts.at(0).dim());
  Shape sizes = parts[0].sizes().vec();
  for (size_t i = 1; i < parts.size(); ++i) {
    sizes[dim] += parts[i].size(dim);
  }
  Array out(sizes);
  int64_t start = 0;
  for (const at::Tensor& part : parts) {
    const Array from(part);
    for_each_index(from.sizes, [&](const Shape& index) {
      Shape to = index;
      to[dim] += start;
      out.at(to) = from.at(index);
    });
    start += part.size(dim);
  }
  return {out.tensor()};
}

Tensors stack(const Stack& args) {
  const Tensors parts = args.at(0).toTensorVector();
  const int64_t dim = dim_argument(args, 1, parts.at(0).dim() + 1);
  Shape sizes = parts[0].sizes().vec();
  sizes.insert(sizes.begin() + dim, static_cast<int64_t>(parts.size()));
  Array out(sizes);
  for_each_index(sizes, [&](const Shape& index) {
    Shape from = index;
    from.erase(from.begin() + dim);
    out.at(index) = Array(parts[index[dim]]).at(from);
  });
  return {out.tensor()};
}

const References& table() {
  static const References references = {
      {"sum", sum},
      {"prod", prod},
      {"mean", mean},
      {"any", any},
      {"all", all},
      {"var", var},
      {"std", std_},
      {"max", [](const Stack& args) { return extreme(args, true, true); }},
      {"min", [](const Stack& args) { return extreme(args, false, true); }},
      {"amax", [](const Stack& args) { return extreme(args, true, false); }},
      {"amin", [](const Stack& args) { return extreme(args, false, false); }},
      {"argmax", [](const Stack& args) { return arg_extreme(args, true); }},
      {"argmin", [](const Stack& args) { return arg_extreme(args, false); }},
      {"norm", norm},
      {"linalg_vector_norm", norm},
      {"logsumexp", logsumexp},
      {"cumsum", cumsum},
      {"softmax", softmax},
      {"_softmax", softmax},
      {"log_softmax", log_softmax},
      {"_log_softmax", log_softmax},
      {"sort", sort},
      {"mm", mm},
      {"bmm", bmm},
      {"addmm", addmm},
      {"addmm_activation", addmm_activation},
      {"baddbmm", baddbmm},
      {"mv", mv},
      {"addmv", addmv},
      {"dot", [](const Stack& args) { return inner(args, false); }},
      {"vdot", [](const Stack& args) { return inner(args, true); }},
      {"outer", outer},
      {"linear", linear},
      {"tril", [](const Stack& args) { return triangle(args, true); }},
      {"triu", [](const Stack& args) { return triangle(args, false); }},
      {"gather", gather},
      {"scatter.src", scatter_src},
      {"scatter.value", scatter_src},
      {"scatter_add", scatter_add},
      {"index_select", index_select},
      {"nonzero", nonzero},
      {"masked_select", masked_select},
      {"cat", cat},
      {"stack", stack},
      {"_embedding_bag", embedding_bag},
      {"_embedding_bag_forward_only", embedding_bag},
      {"constant_pad_nd", constant_pad},
      {"reflection_pad1d", reflection_pad},
      {"reflection_pad2d", reflection_pad},
      {"reflection_pad3d", reflection_pad},
      {"replication_pad1d", replication_pad},
      {"replication_pad2d", replication_pad},
      {"replication_pad3d", replication_pad},
      {"_pad_circular", circular_pad},
      {"index_reduce", index_reduce},
      {"pixel_shuffle", pixel_shuffle},
      {"select_scatter", select_scatter}};
  return references;
}

} // namespace

Reference find_reference(const std::string& name) {
  for (const References* references : {&table(), &network_references(), &statistics_references(), &loss_references()}) {
    if (const auto found = references->find(name); found != references->end()) {
      return found->second;
    }
  }
  return nullptr;
}

} // namespace test
