// Scans, selection, counting, searching, differences and moments.
#include <cmath>
#include <limits>
#include <numeric>

#include "test/support/reference_array.h"

namespace test {

namespace {

Complex number(size_t i) {
  return static_cast<double>(i);
}

bool is_nan(Complex value) {
  return std::isnan(value.real());
}

/// Replaces the lines along the dimension at `position`.
Tensors along(const Stack& args, size_t position, const std::function<Group(const Group&)>& f) {
  const Array self(args.at(0));
  return {map_lines(self, dim_argument(args, position, self.rank()), f).tensor()};
}

// ---- scans --------------------------------------------------------------------

Tensors cumprod(const Stack& args) {
  return along(args, 1, [](Group line) {
    std::partial_sum(line.begin(), line.end(), line.begin(), std::multiplies<Complex>());
    return line;
  });
}

Tensors logcumsumexp(const Stack& args) {
  return along(args, 1, [](Group line) {
    Complex sum = 0;
    for (Complex& value : line) {
      value = std::log(sum += std::exp(value));
    }
    return line;
  });
}

/// Positions of the running extreme, the last of equal ones.
Group running_best(const Group& line, bool largest) {
  Group places;
  size_t best = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (largest ? line[i].real() >= line[best].real() : line[i].real() <= line[best].real()) {
      best = i;
    }
    places.push_back(number(best));
  }
  return places;
}

Tensors running_extreme(const Stack& args, bool largest) {
  const Array self(args.at(0));
  const int64_t dim = dim_argument(args, 1, self.rank());
  const auto places = [largest](const Group& line) { return running_best(line, largest); };
  const auto values = [&](const Group& line) {
    Group out;
    for (const Complex place : places(line)) {
      out.push_back(line[static_cast<size_t>(place.real())]);
    }
    return out;
  };
  return {map_lines(self, dim, values).tensor(), map_lines(self, dim, places).index_tensor()};
}

// ---- counts and extremes ------------------------------------------------------------

Tensors count_nonzero(const Stack& args) {
  return {reduce(args, 1, 9, [](const Group& group) {
            return number(
                static_cast<size_t>(std::count_if(group.begin(), group.end(), [](Complex v) { return v != 0.0; })));
          }).index_tensor()};
}

Tensors nansum(const Stack& args) {
  return {reduce(args, 1, 2, [](const Group& group) {
            Complex sum = 0;
            for (const Complex value : group) {
              sum += is_nan(value) ? 0 : value;
            }
            return sum;
          }).tensor()};
}

Tensors aminmax(const Stack& args) {
  const auto by = [](bool largest) {
    return [largest](const Group& group) {
      Complex best = group.at(0);
      for (const Complex value : group) {
        if (largest ? value.real() > best.real() : value.real() < best.real()) {
          best = value;
        }
      }
      return best;
    };
  };
  return {reduce(args, 1, 2, by(false)).tensor(), reduce(args, 1, 2, by(true)).tensor()};
}

/// var_mean.correction(self, dim, *, correction, keepdim) and std_mean.
Tensors moments(const Stack& args, bool root) {
  const double correction = args.at(2).isNone() ? 1 : args[2].toScalar().toDouble();
  const auto mean = [](const Group& group) {
    return std::accumulate(group.begin(), group.end(), Complex(0)) / static_cast<double>(group.size());
  };
  const auto spread = [&](const Group& group) {
    double sum = 0;
    for (const Complex value : group) {
      sum += std::norm(value - mean(group));
    }
    const double variance = sum / (static_cast<double>(group.size()) - correction);
    return Complex(root ? std::sqrt(variance) : variance);
  };
  return {reduce(args, 1, 3, spread).tensor(), reduce(args, 1, 3, mean).tensor()};
}

// ---- selection ----------------------------------------------------------------

std::vector<size_t> ascending(const Group& line) {
  std::vector<size_t> order(line.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return line[a].real() < line[b].real(); });
  return order;
}

/// The value at place(line) and, with a dimension, the place.
Tensors select(const Stack& args, size_t dim, size_t keepdim, const std::function<size_t(const Group&)>& place) {
  Tensors results = {reduce(args, dim, keepdim, [&](const Group& group) { return group[place(group)]; }).tensor()};
  if (args.size() > dim) {
    results.push_back(
        reduce(args, dim, keepdim, [&](const Group& group) { return number(place(group)); }).index_tensor());
  }
  return results;
}

/// median(self) and median.dim(self, dim, keepdim), of distinct elements.
Tensors median(const Stack& args) {
  return select(args, 1, 2, [](const Group& line) { return ascending(line)[(line.size() - 1) / 2]; });
}

/// kthvalue(self, k, dim, keepdim)
Tensors kthvalue(const Stack& args) {
  const auto k = static_cast<size_t>(args.at(1).toInt());
  return select(args, 2, 3, [k](const Group& line) { return ascending(line).at(k - 1); });
}

/// The smallest of the most frequent elements and its last place.
Tensors mode(const Stack& args) {
  return select(args, 1, 2, [](const Group& line) {
    size_t best = 0;
    int64_t most = 0;
    for (const size_t i : ascending(line)) {
      const int64_t count = std::count(line.begin(), line.end(), line[i]);
      if (count > most || (count == most && line[i] == line[best])) {
        best = i;
      }
      most = std::max(most, count);
    }
    return best;
  });
}

// ---- searching and counting ---------------------------------------------------------

/// The first place in `sorted` whose element is not less (right: is greater) than `value`.
Complex insertion_place(const Group& sorted, Complex value, bool right) {
  size_t place = 0;
  while (place < sorted.size() &&
         (right ? sorted[place].real() <= value.real() : sorted[place].real() < value.real())) {
    ++place;
  }
  return number(place);
}

/// searchsorted.Tensor(sorted_sequence [R, N], self [R, M], *, out_int32, right, ...)
Tensors searchsorted(const Stack& args) {
  const Array sorted(args.at(0));
  Array out(args.at(1));
  const auto width = static_cast<size_t>(sorted.sizes.back());
  const size_t per_row = out.values.size() / (sorted.values.size() / width);
  for (size_t i = 0; i < out.values.size(); ++i) {
    const auto first = sorted.values.begin() + static_cast<std::ptrdiff_t>(i / per_row * width);
    out.values[i] =
        insertion_place(Group(first, first + static_cast<std::ptrdiff_t>(width)), out.values[i], args.at(3).toBool());
  }
  return {out.index_tensor()};
}

/// bucketize.Tensor(self, boundaries, *, out_int32, right)
Tensors bucketize(const Stack& args) {
  Array out(args.at(0));
  const Array boundaries(args.at(1));
  for (Complex& value : out.values) {
    value = insertion_place(boundaries.values, value, args.at(3).toBool());
  }
  return {out.index_tensor()};
}

/// bincount(self, weights, minlength)
Tensors bincount(const Stack& args) {
  const Array self(args.at(0));
  const bool weighted = args.at(1).isTensor() && args[1].toTensor().defined();
  int64_t length = args.at(2).toInt();
  for (const Complex value : self.values) {
    length = std::max(length, static_cast<int64_t>(value.real()) + 1);
  }
  Array out(Shape{length});
  for (size_t i = 0; i < self.values.size(); ++i) {
    out.values[static_cast<size_t>(self.values[i].real())] += weighted ? Array(args[1]).values[i] : 1.0;
  }
  return {out.tensor()};
}

/// histc(self, bins, min, max) with min below max
Tensors histc(const Stack& args) {
  const Array self(args.at(0));
  const auto bins = static_cast<double>(args.at(1).toInt());
  const double low = args.at(2).toScalar().toDouble(), high = args.at(3).toScalar().toDouble();
  Array out(Shape{args[1].toInt()});
  for (const Complex value : self.values) {
    const double x = value.real();
    if (!(x >= low && x <= high)) {
      continue;
    }
    out.values[static_cast<size_t>(std::min(std::floor((x - low) / (high - low) * bins), bins - 1))] += 1.0;
  }
  return {out.tensor()};
}

/// isin.Tensor_Tensor(elements, test_elements, *, assume_unique, invert)
Tensors isin(const Stack& args) {
  Array out(args.at(0));
  const Array tests(args.at(1));
  for (Complex& value : out.values) {
    const bool found = std::find(tests.values.begin(), tests.values.end(), value) != tests.values.end();
    value = found != args.at(3).toBool();
  }
  return {out.tensor()};
}

// ---- differences and moments ------------------------------------------------------------

/// Along the last dimension of `self`: f(line) of `length` elements for each line.
Array last_lines(const Array& self, int64_t length, const std::function<Group(const Group&)>& f) {
  Shape sizes = self.sizes;
  const auto width = static_cast<size_t>(sizes.back());
  sizes.back() = length;
  Array out(sizes);
  for (size_t start = 0, to = 0; start < self.values.size(); start += width) {
    const auto first = self.values.begin() + static_cast<std::ptrdiff_t>(start);
    for (const Complex value : f(Group(first, first + static_cast<std::ptrdiff_t>(width)))) {
      out.values[to++] = value;
    }
  }
  return out;
}

/// diff(self, n) along the last dimension
Tensors diff(const Stack& args) {
  Array self(args.at(0));
  for (int64_t i = 0; i < args.at(1).toInt(); ++i) {
    self = last_lines(self, self.sizes.back() - 1, [](const Group& line) {
      Group out;
      for (size_t k = 1; k < line.size(); ++k) {
        out.push_back(line[k] - line[k - 1]);
      }
      return out;
    });
  }
  return {self.tensor()};
}

/// trapezoid.dx(y, *, dx, dim) along the last dimension; cumulative: every partial integral.
Tensors trapezoid(const Stack& args, bool cumulative) {
  const Array y(args.at(0));
  const double dx = args.at(1).toScalar().toDouble();
  Array out = last_lines(y, cumulative ? y.sizes.back() - 1 : 1, [=](const Group& line) {
    Group partial;
    Complex sum = 0;
    for (size_t k = 1; k < line.size(); ++k) {
      partial.push_back(sum += 0.5 * dx * (line[k] + line[k - 1]));
    }
    return cumulative ? partial : Group{sum};
  });
  if (!cumulative) {
    out.sizes.pop_back();
  }
  return {out.tensor()};
}

/// cov(self [R, N], *, correction)
Tensors cov(const Stack& args) {
  const Array self(args.at(0));
  const int64_t rows = self.sizes.at(0), count = self.sizes.at(1);
  Array out({rows, rows});
  const auto mean = [&](int64_t row) {
    Complex sum = 0;
    for (int64_t k = 0; k < count; ++k) {
      sum += self.at({row, k});
    }
    return sum / static_cast<double>(count);
  };
  for_each_index(out.sizes, [&](const Shape& index) {
    for (int64_t k = 0; k < count; ++k) {
      out.at(index) += (self.at({index[0], k}) - mean(index[0])) * std::conj(self.at({index[1], k}) - mean(index[1]));
    }
    out.at(index) /= static_cast<double>(count - args.at(1).toInt());
  });
  return {out.tensor()};
}

/// dist(self, other, p)
Tensors dist(const Stack& args) {
  const Array a(args.at(0)), b(args.at(1));
  const double p = args.at(2).toScalar().toDouble();
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    sum += std::pow(std::abs(a.values[i] - b.values[i]), p);
  }
  Array out{Shape{}};
  out.values[0] = std::pow(sum, 1 / p);
  return {out.tensor()};
}

/// renorm(self, p, dim, maxnorm)
Tensors renorm(const Stack& args) {
  Array self(args.at(0));
  const double p = args.at(1).toScalar().toDouble(), most = args.at(3).toScalar().toDouble();
  const auto dim = static_cast<size_t>(dim_argument(args, 2, self.rank()));
  std::vector<double> norms(static_cast<size_t>(self.sizes[dim]));
  for_each_index(self.sizes, [&](const Shape& index) { norms[index[dim]] += std::pow(std::abs(self.at(index)), p); });
  for (double& norm : norms) {
    norm = std::pow(norm, 1 / p);
  }
  for_each_index(self.sizes, [&](const Shape& index) {
    const double norm = norms[index[dim]];
    if (norm > most) {
      self.at(index) *= most / (norm + 1e-7);
    }
  });
  return {self.tensor()};
}

Tensors frexp(const Stack& args) {
  Array mantissa(args.at(0));
  Array exponent = mantissa;
  for (size_t i = 0; i < mantissa.values.size(); ++i) {
    int power = 0;
    mantissa.values[i] = std::frexp(mantissa.values[i].real(), &power);
    exponent.values[i] = power;
  }
  return {mantissa.tensor(), exponent.tensor()};
}

} // namespace

const References& statistics_references() {
  static const References references = {
      {"cumprod", cumprod},
      {"logcumsumexp", logcumsumexp},
      {"cummax", [](const Stack& args) { return running_extreme(args, true); }},
      {"cummin", [](const Stack& args) { return running_extreme(args, false); }},
      {"count_nonzero", count_nonzero},
      {"nansum", nansum},
      {"aminmax", aminmax},
      {"var_mean.correction", [](const Stack& args) { return moments(args, false); }},
      {"std_mean.correction", [](const Stack& args) { return moments(args, true); }},
      {"median", median},
      {"nanmedian", median},
      {"kthvalue", kthvalue},
      {"mode", mode},
      {"searchsorted.Tensor", searchsorted},
      {"bucketize.Tensor", bucketize},
      {"bincount", bincount},
      {"histc", histc},
      {"isin.Tensor_Tensor", isin},
      {"diff", diff},
      {"trapezoid.dx", [](const Stack& args) { return trapezoid(args, false); }},
      {"cumulative_trapezoid.dx", [](const Stack& args) { return trapezoid(args, true); }},
      {"cov", cov},
      {"dist", dist},
      {"renorm", renorm},
      {"frexp", frexp}};
  return references;
}

} // namespace test
