// Layers of networks: convolution, pooling, norms, attention, embedding, and the losses of the first operators.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "test/support/reference_array.h"

namespace test {

namespace {

// ---- convolution and pooling --------------------------------------------------------

int64_t setting(const c10::IValue& values, size_t d) {
  const auto list = values.toIntVector();
  return list.size() == 1 ? list[0] : list.at(d);
}

/// Each element of the input times each of the kernel, added where it lands. A transposed convolution lands the other
/// way.
Tensors convolution(const Stack& args) {
  const Array input(args.at(0));
  const Array weight(args.at(1));
  const bool transposed = args.at(6).toBool();
  const int64_t groups = args.at(8).toInt();
  const size_t dims = weight.sizes.size() - 2;
  const int64_t per_group_in = transposed ? weight.sizes[0] / groups : weight.sizes[1];
  const int64_t per_group_out = transposed ? weight.sizes[1] : weight.sizes[0] / groups;
  Shape sizes{input.sizes[0], per_group_out * groups};
  for (size_t d = 0; d < dims; ++d) {
    const int64_t stride = setting(args[3], d), padding = setting(args[4], d),
                  reach = setting(args[5], d) * (weight.sizes[d + 2] - 1);
    sizes.push_back(
        transposed ? (input.sizes[d + 2] - 1) * stride - 2 * padding + reach + setting(args[7], d) + 1
                   : (input.sizes[d + 2] + 2 * padding - reach - 1) / stride + 1);
  }
  Array out(sizes);
  // The side whose places are counted in strides, and the one they lie on.
  const Shape& coarse = transposed ? input.sizes : sizes;
  const Shape& fine = transposed ? sizes : input.sizes;
  for_each_index(coarse, [&](const Shape& place) {
    const int64_t group = place[1] / (transposed ? per_group_in : per_group_out);
    const Shape kernel(weight.sizes.begin() + 1, weight.sizes.end());
    for_each_index(kernel, [&](const Shape& k) {
      Shape other = place;
      other[1] = group * kernel[0] + k[0];
      for (size_t d = 0; d < dims; ++d) {
        other[d + 2] = place[d + 2] * setting(args[3], d) - setting(args[4], d) + k[d + 1] * setting(args[5], d);
        if (other[d + 2] < 0 || other[d + 2] >= fine[d + 2]) {
          return;
        }
      }
      Shape at = k;
      at.insert(at.begin(), place[1]);
      if (transposed) {
        out.at(other) += input.at(place) * weight.at(at);
      } else {
        out.at(place) += input.at(other) * weight.at(at);
      }
    });
  });
  if (args.at(2).isTensor() && args[2].toTensor().defined()) {
    const Array bias(args[2]);
    for_each_index(sizes, [&](const Shape& index) { out.at(index) += bias.at({index[1]}); });
  }
  return {out.tensor()};
}

/// Calls visit(result index, elements of its window, places of these, elements counted with the padding).
void pool_windows(
    const Array& input,
    const Stack& args,
    size_t dilation_at,
    bool ceil,
    Shape& sizes,
    const std::function<void(const Shape&, const Group&, const std::vector<int64_t>&, int64_t)>& visit) {
  const size_t dims = 2, lead = input.sizes.size() - dims;
  const c10::IValue& strides = args.at(2).toIntVector().empty() ? args.at(1) : args.at(2);
  const auto dilation = [&](size_t d) { return dilation_at == 0 ? 1 : setting(args.at(dilation_at), d); };
  sizes.assign(input.sizes.begin(), input.sizes.begin() + static_cast<std::ptrdiff_t>(lead));
  for (size_t d = 0; d < dims; ++d) {
    const int64_t in = input.sizes[lead + d], stride = setting(strides, d), padding = setting(args.at(3), d);
    const int64_t room = in + 2 * padding - dilation(d) * (setting(args.at(1), d) - 1) - 1;
    int64_t out = (room + (ceil ? stride - 1 : 0)) / stride + 1;
    if (ceil && (out - 1) * stride >= in + padding) {
      --out;
    }
    sizes.push_back(out);
  }
  const int64_t height = input.sizes[lead], width = input.sizes[lead + 1];
  for_each_index(sizes, [&](const Shape& index) {
    Group elements;
    std::vector<int64_t> places;
    int64_t counted = 0;
    for (int64_t i = 0; i < setting(args.at(1), 0); ++i) {
      for (int64_t j = 0; j < setting(args.at(1), 1); ++j) {
        const int64_t y = index[lead] * setting(strides, 0) - setting(args.at(3), 0) + i * dilation(0);
        const int64_t x = index[lead + 1] * setting(strides, 1) - setting(args.at(3), 1) + j * dilation(1);
        counted += y < height + setting(args.at(3), 0) && x < width + setting(args.at(3), 1);
        if (y < 0 || y >= height || x < 0 || x >= width) {
          continue;
        }
        Shape from = index;
        from[lead] = y;
        from[lead + 1] = x;
        elements.push_back(input.at(from));
        places.push_back(y * width + x);
      }
    }
    visit(index, elements, places, counted);
  });
}

Tensors max_pool2d(const Stack& args) {
  const Array input(args.at(0));
  Shape sizes;
  std::vector<std::pair<Complex, int64_t>> found;
  pool_windows(
      input, args, 4, args.at(5).toBool(), sizes,
      [&](const Shape&, const Group& elements, const std::vector<int64_t>& places, int64_t) {
        size_t best = 0;
        for (size_t i = 1; i < elements.size(); ++i) {
          if (elements[i].real() > elements[best].real()) {
            best = i;
          }
        }
        found.emplace_back(elements[best], places[best]);
      });
  Array values(sizes), indices(sizes);
  for (size_t i = 0; i < found.size(); ++i) {
    values.values[i] = found[i].first;
    indices.values[i] = static_cast<double>(found[i].second);
  }
  return {values.tensor(), indices.index_tensor()};
}

Tensors avg_pool2d(const Stack& args) {
  const Array input(args.at(0));
  const bool count_padding = args.at(5).toBool();
  Shape sizes;
  Group means;
  pool_windows(
      input, args, 0, args.at(4).toBool(), sizes,
      [&](const Shape&, const Group& elements, const std::vector<int64_t>&, int64_t counted) {
        const int64_t fixed = args.at(6).isNone() ? 0 : args[6].toInt();
        const int64_t divisor = fixed != 0 ? fixed : count_padding ? counted : static_cast<int64_t>(elements.size());
        means.push_back(total(elements) / static_cast<double>(divisor));
      });
  Array out(sizes);
  out.values.assign(means.begin(), means.end());
  return {out.tensor()};
}

/// In training mode: by the mean and variance of each channel.
Tensors batch_norm(const Stack& args) {
  const Array input(args.at(0));
  const auto given = [&](size_t i) { return args.at(i).isTensor() && args[i].toTensor().defined(); };
  Array out(input.sizes);
  for (int64_t c = 0; c < input.sizes[1]; ++c) {
    Group channel;
    for_each_index(input.sizes, [&](const Shape& index) {
      if (index[1] == c) {
        channel.push_back(input.at(index));
      }
    });
    const bool training = args.at(5).toBool();
    const Complex mean = training ? total(channel) / static_cast<double>(channel.size()) : Array(args[3]).at({c});
    const double spread = training ? variance(channel, 0) : Array(args[4]).at({c}).real();
    for_each_index(input.sizes, [&](const Shape& index) {
      if (index[1] != c) {
        return;
      }
      Complex value = (input.at(index) - mean) / std::sqrt(spread + args.at(7).toDouble());
      if (given(1)) {
        value *= Array(args[1]).at({c});
      }
      if (given(2)) {
        value += Array(args[2]).at({c});
      }
      out.at(index) = value;
    });
  }
  return {out.tensor()};
}

/// softmax(query key^T scale + bias) value; several heads of the query may share a key.
Tensors biased_attention(const Stack& args, const c10::IValue& given_bias) {
  const Array query(args.at(0)), key(args.at(1)), value(args.at(2));
  const bool causal = args.at(4).toBool();
  const double scale = args.at(6).isNone() ? 1 / std::sqrt(static_cast<double>(query.sizes[3])) : args[6].toDouble();
  std::optional<Array> bias;
  if (!given_bias.isNone()) {
    bias.emplace(
        given_bias.toTensor().expand({query.sizes[0], query.sizes[1], query.sizes[2], key.sizes[2]}).contiguous());
  }
  Array out(Shape{query.sizes[0], query.sizes[1], query.sizes[2], value.sizes[3]});
  for_each_index({query.sizes[0], query.sizes[1], query.sizes[2]}, [&](const Shape& row) {
    const int64_t head = row[1] / (query.sizes[1] / key.sizes[1]),
                  seen = causal ? std::min(row[2] + 1, key.sizes[2]) : key.sizes[2];
    std::vector<double> weight(static_cast<size_t>(seen));
    double sum = 0;
    for (int64_t j = 0; j < seen; ++j) {
      Complex score = 0;
      for (int64_t e = 0; e < query.sizes[3]; ++e) {
        score += query.at({row[0], row[1], row[2], e}) * key.at({row[0], head, j, e});
      }
      if (bias) {
        score += bias->at({row[0], row[1], row[2], j}) / scale;
      }
      sum += weight[static_cast<size_t>(j)] = std::exp(score.real() * scale);
    }
    for (int64_t j = 0; j < seen; ++j) {
      for (int64_t e = 0; e < value.sizes[3]; ++e) {
        out.at({row[0], row[1], row[2], e}) += weight[static_cast<size_t>(j)] / sum * value.at({row[0], head, j, e});
      }
    }
  });
  return {out.tensor()};
}

Tensors attention(const Stack& args) {
  return biased_attention(args, c10::IValue());
}

/// With the arguments of _scaled_dot_product_efficient_attention.
Tensors efficient_attention(const Stack& args) {
  return biased_attention(
      {args.at(0), args.at(1), args.at(2), args.at(5), args.at(6), args.at(3), args.at(7)}, args.at(3));
}

// ---- networks -----------------------------------------------------------------

/// reduction: 0 none, 1 mean (by `weight`), 2 sum
Tensors reduced_loss(const Array& losses, int64_t reduction, double weight) {
  if (reduction == 0) {
    return {losses.tensor()};
  }
  Array out((Shape()));
  out.values[0] = total(losses.values) / (reduction == 1 ? weight : 1.0);
  return {out.tensor()};
}

Tensors mse_loss(const Stack& args) {
  Array losses(args.at(0));
  const Array target(args.at(1));
  for (size_t i = 0; i < losses.values.size(); ++i) {
    losses.values[i] = std::pow(losses.values[i] - target.values[i], 2);
  }
  return reduced_loss(losses, args.at(2).toInt(), static_cast<double>(losses.values.size()));
}

/// nll_loss(self [N, C], target [N], weight, reduction, ignore_index)
Tensors nll_loss(const Stack& args) {
  const Array self(args.at(0));
  const Array target(args.at(1));
  const bool weighted = args.at(2).isTensor() && args[2].toTensor().defined();
  Array losses(target.sizes);
  double total_weight = 0;
  for (int64_t i = 0; i < target.sizes[0]; ++i) {
    const int64_t chosen = integer_at(target, {i});
    if (chosen == args.at(4).toInt()) {
      continue;
    }
    const double weight = weighted ? Array(args[2]).at({chosen}).real() : 1.0;
    losses.at({i}) = -weight * self.at({i, chosen});
    total_weight += weight;
  }
  return reduced_loss(losses, args.at(3).toInt(), total_weight);
}

/// layer_norm(input, normalized_shape, weight, bias, eps)
Tensors layer_norm(const Stack& args) {
  const Array input(args.at(0));
  const size_t normalized = args.at(1).toIntVector().size();
  const double eps = args.at(4).toDouble();
  size_t width = 1;
  for (size_t d = input.sizes.size() - normalized; d < input.sizes.size(); ++d) {
    width *= static_cast<size_t>(input.sizes[d]);
  }
  const auto given = [&](size_t i) { return args.at(i).isTensor() && args[i].toTensor().defined(); };
  Array out = input;
  for (size_t start = 0; start < input.values.size(); start += width) {
    const auto first = input.values.begin() + static_cast<std::ptrdiff_t>(start);
    const Group row(first, first + static_cast<std::ptrdiff_t>(width));
    const Complex mean = total(row) / static_cast<double>(width);
    const double scale = 1 / std::sqrt(variance(row, 0) + eps);
    for (size_t i = 0; i < width; ++i) {
      Complex value = (row[i] - mean) * scale;
      if (given(2)) {
        value *= Array(args[2]).values[i];
      }
      if (given(3)) {
        value += Array(args[3]).values[i];
      }
      out.values[start + i] = value;
    }
  }
  return {out.tensor()};
}

/// rms_norm(input, normalized_shape, weight, eps)
Tensors rms_norm(const Stack& args) {
  const Array input(args.at(0));
  size_t width = 1;
  for (const int64_t size : args.at(1).toIntVector()) {
    width *= static_cast<size_t>(size);
  }
  const bool weighted = args.at(2).isTensor() && args[2].toTensor().defined();
  Array out = input;
  for (size_t start = 0; start < input.values.size(); start += width) {
    double squares = 0;
    for (size_t i = 0; i < width; ++i) {
      squares += std::norm(input.values[start + i]);
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + args.at(3).toDouble());
    for (size_t i = 0; i < width; ++i) {
      out.values[start + i] *= weighted ? Array(args[2]).values[i] * scale : Complex(scale);
    }
  }
  return {out.tensor()};
}

Tensors embedding(const Stack& args) {
  const Array weight(args.at(0));
  const Array indices(args.at(1));
  Shape sizes = indices.sizes;
  sizes.push_back(weight.sizes[1]);
  Array out(sizes);
  for_each_index(sizes, [&](const Shape& index) {
    const Shape row(index.begin(), index.end() - 1);
    out.at(index) = weight.at({integer_at(indices, row), index.back()});
  });
  return {out.tensor()};
}

} // namespace

const References& network_references() {
  static const References references = {
      {"mse_loss", mse_loss},
      {"nll_loss", nll_loss},
      {"nll_loss_forward", nll_loss},
      {"layer_norm", layer_norm},
      {"native_layer_norm", layer_norm},
      {"_fused_rms_norm", rms_norm},
      {"embedding", embedding},
      {"convolution", convolution},
      {"max_pool2d_with_indices", max_pool2d},
      {"avg_pool2d", avg_pool2d},
      {"native_batch_norm", batch_norm},
      {"_scaled_dot_product_flash_attention_for_cpu", attention},
      {"_scaled_dot_product_efficient_attention", efficient_attention}};
  return references;
}

} // namespace test
