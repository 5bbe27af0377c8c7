// What the operator table cannot see of attention in blocks, recurrent layers and ctc_loss.

#include <aten/Functions.h>
#include <aten/parallel/Parallel.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/Reduction.h>
#include <aten/ops/_gru_steps_ops.h>
#include <aten/ops/_lstm_steps_ops.h>
#include <aten/ops/_rnn_steps_ops.h>
#include <autograd/autograd.h>
#include <aten/core/random.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using at::Tensor;

Tensor values(at::IntArrayRef sizes, at::ScalarType dtype = at::kDouble) {
  return at::randn(sizes, at::kDouble).to(dtype);
}

bool close(const Tensor& got, const Tensor& want, double tolerance) {
  return got.sizes() == want.sizes() && at::allclose(got.to(at::kDouble), want.to(at::kDouble), tolerance, tolerance);
}

Tensor by_operators(
    const Tensor& q, const Tensor& k, const Tensor& v, const std::optional<Tensor>& mask, bool causal, bool shared) {
  return std::get<0>(
      at::_scaled_dot_product_attention_math(q, k, v, mask, 0.0, causal, std::nullopt, std::nullopt, shared));
}

} // namespace

TEST_CASE("attention in blocks equals attention by operators", "[aten][attention]") {
  at::manual_seed(1);
  // Lengths below, at and above the blocks of queries and keys.
  for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{5, 7}, {33, 512}, {200, 1100}, {800, 600}}) {
    const Tensor q = values({1, 4, queries, 16}), k = values({1, 2, keys, 16}), v = values({1, 2, keys, 24});
    Tensor kept = at::rand({queries, keys}) > 0.3;
    kept.select(0, 2).fill_(false);
    const Tensor bias = values({1, 1, queries, keys});
    for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
      const double tolerance = dtype == at::kDouble ? 1e-10 : dtype == at::kFloat ? 1e-4 : 4e-2;
      const auto run = [&](const std::optional<Tensor>& mask, bool causal) {
        return at::scaled_dot_product_attention(
            q.to(dtype), k.to(dtype), v.to(dtype), mask, 0.0, causal, std::nullopt, true);
      };
      CHECK(close(run(std::nullopt, false), by_operators(q, k, v, std::nullopt, false, true), tolerance));
      CHECK(close(run(std::nullopt, true), by_operators(q, k, v, std::nullopt, true, true), tolerance));
      CHECK(close(run(kept, false), by_operators(q, k, v, kept, false, true), tolerance));
      CHECK(close(run(bias.to(dtype), false), by_operators(q, k, v, bias, false, true), tolerance));
    }
    // Row 2 sees nothing.
    CHECK(at::equal(
        at::scaled_dot_product_attention(q, k, v, kept, 0.0, false, std::nullopt, true).select(2, 2),
        at::zeros({1, 4, 24}, at::kDouble)));
  }
}

TEST_CASE("gradients of attention in blocks equal those by operators", "[aten][attention]") {
  at::manual_seed(2);
  for (const bool causal : {false, true}) {
    const Tensor q = values({2, 4, 70, 8}).requires_grad_(), k = values({2, 2, 530, 8}).requires_grad_(),
                 v = values({2, 2, 530, 8}).requires_grad_();
    const Tensor g = values({2, 4, 70, 8});
    const auto gradients = [&](const Tensor& result) {
      (result * g).sum().backward();
      std::vector<Tensor> grads;
      for (const Tensor& t : {q, k, v}) {
        grads.push_back(t.grad().clone());
        t.mutable_grad() = Tensor();
      }
      return grads;
    };
    const auto want = gradients(by_operators(q, k, v, std::nullopt, causal, true));
    const auto got =
        gradients(at::scaled_dot_product_attention(q, k, v, std::nullopt, 0.0, causal, std::nullopt, true));
    for (size_t i = 0; i < 3; ++i) {
      CHECK(close(got[i], want[i], 1e-9));
    }
  }
}

TEST_CASE("a packed sequence gives what its sequences give alone", "[aten][rnn]") {
  at::manual_seed(3);
  const int64_t size = 4, features = 3;
  std::vector<Tensor> params;
  for (int layer = 0; layer < 2; ++layer) {
    for (int direction = 0; direction < 2; ++direction) {
      const int64_t in = layer == 0 ? features : 2 * size;
      for (const auto& shape : {std::vector<int64_t>{4 * size, in}, {4 * size, size}, {4 * size}, {4 * size}}) {
        params.push_back(values(shape) * 0.3);
      }
    }
  }
  const Tensor x = values({6, 3, features}), h = values({4, 3, size}), c = values({4, 3, size});
  const std::vector<int64_t> lengths{6, 4, 1};
  const Tensor length = at::empty({3}, at::kLong);
  std::copy(lengths.begin(), lengths.end(), length.mutable_data_ptr<int64_t>());
  const auto [data, sizes] = at::_pack_padded_sequence(x, length, false);
  const auto [out, hn, cn] = at::lstm(data, sizes, {h, c}, params, true, 2, 0.0, false, true);
  const auto [padded, back] = at::_pad_packed_sequence(out, sizes, false, 0.0, 0);
  CHECK(at::equal(back, length));
  for (int64_t i = 0; i < 3; ++i) {
    const auto one = [&](const Tensor& t) { return t.narrow(1, i, 1).contiguous(); };
    const auto [alone, ha, ca] =
        at::lstm(one(x).slice(0, 0, lengths[i]), {one(h), one(c)}, params, true, 2, 0.0, false, true, false);
    CHECK(close(one(padded).slice(0, 0, lengths[i]), alone, 1e-12));
    CHECK(close(one(hn), ha, 1e-12));
    CHECK(close(one(cn), ca, 1e-12));
  }
}

TEST_CASE("gradients of packed sequences equal those of the sequences alone", "[aten][rnn]") {
  at::manual_seed(11);
  // Many sequences, so that the batch is cut in parts; few, so that it is not.
  const auto lengths = GENERATE(
      std::vector<int64_t>{7, 5, 5, 4, 1}, std::vector<int64_t>{6, 6, 6},
      std::vector<int64_t>{9, 9, 8, 8, 8, 8, 8, 7, 7, 7, 7, 7, 7, 7, 7, 6, 6, 6, 6,
                           6, 6, 6, 5, 5, 5, 5, 5, 5, 5, 4, 4, 4, 4, 3, 2, 2, 1});
  const bool twice = GENERATE(false, true); // differentiates the gradients again
  const int64_t batch = static_cast<int64_t>(lengths.size()), size = 5, in = 3;
  if (twice && batch > 10) {
    return;
  }
  const auto check = [&](const char* name, int64_t gates, size_t states, const auto& packed_layer,
                         const auto& plain_layer) {
    const auto values = [](at::IntArrayRef sizes) { return (at::randn(sizes, at::kDouble) * 0.5).requires_grad_(); };
    const Tensor x = values({lengths[0], batch, in});
    std::vector<Tensor> hx, inputs{x}, params;
    for (size_t i = 0; i < states; ++i) {
      hx.push_back(values({2, batch, size}));
    }
    for (int direction = 0; direction < 2; ++direction) {
      for (const auto& sizes :
           {std::vector<int64_t>{gates * size, in}, {gates * size, size}, {gates * size}, {gates * size}}) {
        params.push_back(values(sizes));
      }
    }
    inputs.insert(inputs.end(), hx.begin(), hx.end());
    inputs.insert(inputs.end(), params.begin(), params.end());
    const auto differentiate = [&](const std::vector<Tensor>& results) {
      Tensor sum = at::zeros({}, at::kDouble);
      for (const Tensor& r : results) {
        sum = sum + (r * r.detach().cos()).sum() + r.pow(3).sum();
      }
      auto grads = torch::autograd::grad({sum}, inputs, {}, twice, twice);
      if (!twice) {
        return grads;
      }
      Tensor again = at::zeros({}, at::kDouble);
      for (const Tensor& g : grads) {
        again = again + g.square().sum();
      }
      return torch::autograd::grad({again}, inputs);
    };
    // Packed.
    const auto [data, batch_sizes] = at::_pack_padded_sequence(x, at::tensor(lengths), false);
    std::vector<Tensor> packed = packed_layer(data, batch_sizes, hx, params);
    packed[0] = std::get<0>(at::_pad_packed_sequence(packed[0], batch_sizes, false, 0.0, lengths[0]));
    // Alone.
    std::vector<std::vector<Tensor>> alone(packed.size());
    for (int64_t b = 0; b < batch; ++b) {
      std::vector<Tensor> own;
      for (const Tensor& h : hx) {
        own.push_back(h.narrow(1, b, 1));
      }
      std::vector<Tensor> results = plain_layer(x.narrow(0, 0, lengths[b]).narrow(1, b, 1), own, params);
      results[0] = at::constant_pad_nd(results[0], {0, 0, 0, 0, 0, lengths[0] - lengths[b]});
      for (size_t i = 0; i < results.size(); ++i) {
        alone[i].push_back(results[i]);
      }
    }
    std::vector<Tensor> joined;
    for (const auto& parts : alone) {
      joined.push_back(at::cat(parts, 1));
    }
    INFO(name << ", " << batch << " sequences" << (twice ? ", twice" : ""));
    REQUIRE(joined.size() == packed.size());
    for (size_t i = 0; i < joined.size(); ++i) {
      CHECK(close(packed[i], joined[i], 1e-11));
    }
    const auto got = differentiate(packed), want = differentiate(joined);
    for (size_t i = 0; i < want.size(); ++i) {
      INFO("input " << i);
      CHECK(close(got[i], want[i], 1e-9));
    }
  };
  const auto two = [](const auto& results) { return std::vector<Tensor>{std::get<0>(results), std::get<1>(results)}; };
  const auto three = [](const auto& results) {
    return std::vector<Tensor>{std::get<0>(results), std::get<1>(results), std::get<2>(results)};
  };
  check(
      "lstm", 4, 2,
      [&](const auto& x, const auto& n, const auto& h, const auto& p) {
        return three(at::lstm(x, n, h, p, true, 1, 0.0, true, true));
      },
      [&](const auto& x, const auto& h, const auto& p) {
        return three(at::lstm(x, h, p, true, 1, 0.0, true, true, false));
      });
  check(
      "gru", 3, 1,
      [&](const auto& x, const auto& n, const auto& h, const auto& p) {
        return two(at::gru(x, n, h[0], p, true, 1, 0.0, true, true));
      },
      [&](const auto& x, const auto& h, const auto& p) {
        return two(at::gru(x, h[0], p, true, 1, 0.0, true, true, false));
      });
  check(
      "rnn_tanh", 1, 1,
      [&](const auto& x, const auto& n, const auto& h, const auto& p) {
        return two(at::rnn_tanh(x, n, h[0], p, true, 1, 0.0, true, true));
      },
      [&](const auto& x, const auto& h, const auto& p) {
        return two(at::rnn_tanh(x, h[0], p, true, 1, 0.0, true, true, false));
      });
}

TEST_CASE("recurrent layers are their cells, step by step", "[aten][rnn]") {
  at::manual_seed(4);
  const Tensor x = values({5, 2, 3}), h = values({1, 2, 4});
  const auto check = [&](int64_t gates, const auto& layer, const auto& cell) {
    const std::vector<Tensor> p{
        values({gates * 4, 3}), values({gates * 4, 4}), values({gates * 4}), values({gates * 4})};
    const auto [out, last] = layer(p);
    Tensor state = h[0];
    for (int64_t t = 0; t < 5; ++t) {
      state = cell(x[t], state, p);
      CHECK(close(out[t], state, 1e-12));
    }
    CHECK(close(last[0], state, 1e-12));
  };
  check(
      3, [&](const auto& p) { return at::gru(x, h, p, true, 1, 0.0, false, false, false); },
      [](const Tensor& in, const Tensor& s, const auto& p) { return at::gru_cell(in, s, p[0], p[1], p[2], p[3]); });
  check(
      1, [&](const auto& p) { return at::rnn_tanh(x, h, p, true, 1, 0.0, false, false, false); },
      [](const Tensor& in, const Tensor& s, const auto& p) {
        return ((in.matmul(p[0].t()) + p[2]) + (s.matmul(p[1].t()) + p[3])).tanh();
      });
  CHECK_THROWS_WITH(
      at::gru(x, h, {values({12, 3}), values({12, 5})}, false, 1, 0.0, false, false, false),
      Catch::Contains("hidden0 has inconsistent hidden_size: got 4, expected 5"));
  CHECK_THROWS_WITH(
      at::gru(x, h, {values({12, 3})}, false, 1, 0.0, false, false, false),
      Catch::Contains("incorrect number of RNN parameters"));
}

TEST_CASE("gradients of the steps of an LSTM equal those of its cells", "[aten][rnn]") {
  at::manual_seed(6);
  const int64_t steps = GENERATE(1, 5), size = 4;
  std::vector<Tensor> inputs{values({steps, 2, 3}), values({2, 2, size}), values({2, 2, size})};
  for (int direction = 0; direction < 2; ++direction) {
    for (const auto& shape : {std::vector<int64_t>{4 * size, 3}, {4 * size, size}, {4 * size}, {4 * size}}) {
      inputs.push_back(values(shape));
    }
  }
  for (Tensor& t : inputs) {
    t.requires_grad_();
  }
  const Tensor &x = inputs[0], &h = inputs[1], &c = inputs[2];
  const std::vector<Tensor> params(inputs.begin() + 3, inputs.end());
  const auto cells = [&] {
    std::vector<Tensor> outputs[2], hidden, cell;
    for (int direction = 0; direction < 2; ++direction) {
      const auto p = params.begin() + 4 * direction;
      Tensor sh = h[direction], sc = c[direction];
      for (int64_t i = 0; i < steps; ++i) {
        std::tie(sh, sc) = at::lstm_cell(x[direction == 0 ? i : steps - 1 - i], {sh, sc}, p[0], p[1], p[2], p[3]);
        outputs[direction].push_back(sh);
      }
      hidden.push_back(sh);
      cell.push_back(sc);
    }
    std::reverse(outputs[1].begin(), outputs[1].end());
    return std::make_tuple(
        at::cat({at::stack(outputs[0]), at::stack(outputs[1])}, 2), at::stack(hidden), at::stack(cell));
  };
  // Of all results, and of each alone.
  const int which = GENERATE(0, 1, 2, 3);
  const auto gradients = [&](const std::tuple<Tensor, Tensor, Tensor>& results) {
    const auto& [out, hn, cn] = results;
    const Tensor loss[] = {
        (out * out).sum() + hn.sin().sum() + cn.exp().sum(), (out * out).sum(), hn.sin().sum(), cn.exp().sum()};
    auto all = torch::autograd::grad({loss[which]}, inputs, {}, true, true, true);
    // Gradients of a function of the gradients.
    Tensor second = at::zeros({}, at::kDouble);
    for (const Tensor& g : all) {
      if (g.defined()) {
        second = second + (g * g).sum();
      }
    }
    const auto again = torch::autograd::grad({second}, inputs, {}, true, false, true);
    const auto plain = torch::autograd::grad({loss[which]}, inputs, {}, false, false, true);
    all.insert(all.end(), again.begin(), again.end());
    all.insert(all.end(), plain.begin(), plain.end());
    return all;
  };
  const auto want = gradients(cells()), got = gradients(at::lstm(x, {h, c}, params, true, 1, 0.0, true, true, false));
  for (size_t i = 0; i < want.size(); ++i) {
    INFO("gradient " << i);
    const auto number = [&](const Tensor& t) { return t.defined() ? t : at::zeros_like(inputs[i % inputs.size()]); };
    CHECK(close(number(got[i]), number(want[i]), 1e-10));
  }
}

TEST_CASE("gradients of the steps of GRU and simple layers equal those of their cells", "[aten][rnn]") {
  at::manual_seed(8);
  using Cell = Tensor (*)(
      const Tensor&, const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&,
      const std::optional<Tensor>&);
  using Layer = std::tuple<Tensor, Tensor> (*)(
      const Tensor&, const Tensor&, at::TensorList, bool, int64_t, double, bool, bool, bool);
  const auto& [name, gates, cell, layer] = GENERATE(table<const char*, int64_t, Cell, Layer>(
      {{"gru", 3, at::gru_cell, at::gru},
       {"rnn_tanh", 1, at::rnn_tanh_cell, at::rnn_tanh},
       {"rnn_relu", 1, at::rnn_relu_cell, at::rnn_relu}}));
  // More rows than a block of the kernel has, and sizes that fill no vector; few steps go cell by cell.
  const auto& [steps, batch, size] = GENERATE(table<int64_t, int64_t, int64_t>({{1, 2, 4}, {4, 1, 1}, {5, 19, 11}}));
  const bool biases = GENERATE(true, false);
  INFO(name << " of " << steps << " steps, batch " << batch << ", size " << size << (biases ? "" : ", no biases"));
  std::vector<Tensor> inputs{values({steps, batch, 3}), values({2, batch, size})};
  for (int direction = 0; direction < 2; ++direction) {
    inputs.push_back(values({gates * size, 3}));
    inputs.push_back(values({gates * size, size}) / 4);
    for (int bias = 0; biases && bias < 2; ++bias) {
      inputs.push_back(values({gates * size}));
    }
  }
  for (Tensor& t : inputs) {
    t.requires_grad_();
  }
  const Tensor &x = inputs[0], &h = inputs[1];
  const std::vector<Tensor> params(inputs.begin() + 2, inputs.end());
  const auto cells = [&] {
    std::vector<Tensor> outputs[2], last;
    for (int direction = 0; direction < 2; ++direction) {
      const auto p = params.begin() + direction * (biases ? 4 : 2);
      Tensor state = h[direction];
      for (int64_t i = 0; i < steps; ++i) {
        state = biases ? cell(x[direction == 0 ? i : steps - 1 - i], state, p[0], p[1], p[2], p[3])
                       : cell(x[direction == 0 ? i : steps - 1 - i], state, p[0], p[1], {}, {});
        outputs[direction].push_back(state);
      }
      last.push_back(state);
    }
    std::reverse(outputs[1].begin(), outputs[1].end());
    return std::make_tuple(at::cat({at::stack(outputs[0]), at::stack(outputs[1])}, 2), at::stack(last));
  };
  const bool of_last = GENERATE(false, true);
  const auto gradients = [&](const std::tuple<Tensor, Tensor>& results) {
    const auto& [out, last] = results;
    const Tensor loss = of_last ? last.sin().sum() : (out * out).sum() + last.sin().sum();
    auto all = torch::autograd::grad({loss}, inputs, {}, true, true);
    Tensor second = at::zeros({}, at::kDouble);
    for (const Tensor& g : all) {
      second = second + (g * g).sum();
    }
    const auto again = torch::autograd::grad({second}, inputs, {}, true), plain = torch::autograd::grad({loss}, inputs);
    all.insert(all.end(), again.begin(), again.end());
    all.insert(all.end(), plain.begin(), plain.end());
    all.push_back(out);
    all.push_back(last);
    return all;
  };
  const auto want = gradients(cells()), got = gradients(layer(x, h, params, biases, 1, 0.0, true, true, false));
  for (size_t i = 0; i < want.size(); ++i) {
    INFO("gradient " << i);
    CHECK(close(got[i], want[i], 1e-9));
  }
}

TEST_CASE("steps of layers do not depend on threads", "[aten][rnn][threads]") {
  at::manual_seed(9);
  const int64_t steps = 6, batch = 21, size = 70;
  const int before = at::get_num_threads();
  const auto results = [&](int threads, int64_t gates, const auto& layer) {
    at::set_num_threads(threads);
    at::manual_seed(10);
    std::vector<Tensor> inputs{
        values({steps, batch, 9}, at::kFloat), values({1, batch, size}, at::kFloat),
        values({gates * size, 9}, at::kFloat), values({gates * size, size}, at::kFloat) / 8};
    for (Tensor& t : inputs) {
      t.requires_grad_();
    }
    const Tensor out = layer(inputs);
    std::vector<Tensor> all = torch::autograd::grad({(out * out).sum()}, inputs);
    all.push_back(out);
    at::set_num_threads(before);
    return all;
  };
  const auto check = [&](int64_t gates, const auto& layer) {
    const auto one = results(1, gates, layer), three = results(3, gates, layer);
    for (size_t i = 0; i < one.size(); ++i) {
      CHECK(at::equal(one[i], three[i]));
    }
  };
  check(4, [](const auto& t) {
    return std::get<0>(at::lstm(t[0], {t[1], t[1]}, {t[2], t[3]}, false, 1, 0.0, true, false, false));
  });
  check(3, [](const auto& t) {
    return std::get<0>(at::gru(t[0], t[1], {t[2], t[3]}, false, 1, 0.0, true, false, false));
  });
  check(1, [](const auto& t) {
    return std::get<0>(at::rnn_tanh(t[0], t[1], {t[2], t[3]}, false, 1, 0.0, true, false, false));
  });
}

TEST_CASE("the steps of an LSTM are its cells for any batch and size", "[aten][rnn]") {
  at::manual_seed(7);
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    for (const auto& [steps, batch, size] : {std::array<int64_t, 3>{4, 1, 1}, {6, 37, 21}, {5, 16, 48}, {4, 3, 70}}) {
      const Tensor x = values({steps, batch, 5}, dtype), h = values({1, batch, size}, dtype),
                   c = values({1, batch, size}, dtype);
      // Weights by columns.
      const std::vector<Tensor> p{
          values({4 * size, 5}, dtype), values({size, 4 * size}, dtype).t(), values({4 * size}, dtype),
          values({4 * size}, dtype)};
      const auto [out, hn, cn] = at::lstm(x, {h, c}, p, true, 1, 0.0, false, false, false);
      Tensor sh = h[0], sc = c[0];
      for (int64_t i = 0; i < steps; ++i) {
        std::tie(sh, sc) = at::lstm_cell(x[i], {sh, sc}, p[0], p[1], p[2], p[3]);
        INFO(at::toString(dtype) << " batch " << batch << " size " << size << " step " << i);
        CHECK(close(out[i], sh, dtype == at::kFloat ? 1e-3 : 1e-11));
      }
      CHECK(close(hn[0], sh, dtype == at::kFloat ? 1e-3 : 1e-11));
      CHECK(close(cn[0], sc, dtype == at::kFloat ? 1e-3 : 1e-11));
    }
  }
}

TEST_CASE("the steps of an LSTM refuse operands that do not fit", "[aten][rnn]") {
  const auto steps = [](at::IntArrayRef input, at::IntArrayRef hx, at::IntArrayRef cx, at::IntArrayRef w_ih,
                        at::IntArrayRef w_hh) {
    return at::_ops::_lstm_steps::call(
        values(input), values(hx), values(cx), values(w_ih), values(w_hh), values({w_ih[0]}), false, {}, std::nullopt);
  };
  CHECK_NOTHROW(steps({2, 3, 5}, {3, 2}, {3, 2}, {8, 5}, {8, 2}));
  CHECK_THROWS_WITH(
      steps({2, 5}, {2, 2}, {2, 2}, {8, 5}, {8, 2}), Catch::Contains("expected an input of steps, batch and features"));
  CHECK_THROWS_WITH(steps({0, 2, 5}, {2, 2}, {2, 2}, {8, 5}, {8, 2}), Catch::Contains("at least one step"));
  CHECK_THROWS_WITH(
      steps({1, 2, 5}, {2, 2}, {3, 2}, {8, 5}, {8, 2}), Catch::Contains("expected states of batch 2 and one size"));
  CHECK_THROWS(steps({1, 2, 5}, {2, 2}, {2, 2}, {8, 4}, {8, 2}));
  CHECK_THROWS(steps({1, 2, 5}, {2, 2}, {2, 2}, {8, 5}, {8, 3}));
  CHECK_THROWS(steps({1, 2, 5}, {2, 2}, {2, 2}, {9, 5}, {9, 2}));
}

TEST_CASE(
    "the steps of GRU and simple layers refuse operands that do not fit, and take any dtype and few steps",
    "[aten][rnn]") {
  const auto gru = [](at::IntArrayRef input, at::IntArrayRef hx, at::IntArrayRef w_hh,
                      at::ScalarType dtype = at::kDouble) {
    const Tensor x = values(input, dtype), bias = values({6}, dtype);
    return std::get<0>(at::_ops::_gru_steps::call(
        x, values(hx, dtype), values({6, 5}, dtype), values(w_hh, dtype), bias, bias, false, {}));
  };
  const auto rnn = [](at::IntArrayRef input, at::IntArrayRef hx, at::IntArrayRef w_hh,
                      at::ScalarType dtype = at::kDouble) {
    return at::_ops::_rnn_steps::call(
        values(input, dtype), values(hx, dtype), values({2, 5}, dtype), values(w_hh, dtype), values({2}, dtype), true,
        true, {});
  };
  for (const int64_t steps : {1, 6}) {
    for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
      CHECK(gru({steps, 3, 5}, {3, 2}, {6, 2}, dtype).sizes() == at::IntArrayRef{steps, 3, 2});
      CHECK(rnn({steps, 3, 5}, {3, 2}, {2, 2}, dtype).sizes() == at::IntArrayRef{steps, 3, 2});
    }
    CHECK_THROWS(gru({steps, 3, 5}, {3, 2}, {6, 3}));
    CHECK_THROWS(gru({steps, 3, 4}, {3, 2}, {6, 2}));
    CHECK_THROWS(gru({steps, 3, 5}, {3, 3}, {9, 3}));
    CHECK_THROWS(rnn({steps, 3, 5}, {3, 2}, {2, 3}));
    CHECK_THROWS(rnn({steps, 3, 5}, {3, 3}, {3, 3}));
  }
  CHECK_THROWS_WITH(
      gru({3, 5}, {3, 2}, {6, 2}), Catch::Contains("_gru_steps: expected an input of steps, batch and features"));
  CHECK_THROWS_WITH(
      gru({1, 3, 5}, {4, 2}, {6, 2}), Catch::Contains("_gru_steps: expected states of batch 3 and one size"));
  CHECK_THROWS_WITH(rnn({0, 3, 5}, {3, 2}, {2, 2}), Catch::Contains("at least one step"));
  const auto packed = [](at::IntArrayRef input, at::IntArrayRef hx, at::IntArrayRef batch_sizes,
                         at::ScalarType dtype = at::kDouble) {
    const Tensor x = values(input, dtype);
    return at::_ops::_rnn_steps::call(
        x, values(hx, dtype), values({2, 5}, dtype), values({2, 2}, dtype), values({2}, dtype), true, true,
        batch_sizes);
  };
  CHECK_NOTHROW(packed({6, 5}, {3, 2}, {3, 2, 1}));
  CHECK_THROWS_WITH(packed({6, 1, 5}, {3, 2}, {3, 2, 1}), Catch::Contains("expected packed rows of features"));
  CHECK_THROWS_WITH(packed({6, 5}, {3, 2}, {3, 3, 1}), Catch::Contains("must add up to the rows of data, 6"));
  CHECK_THROWS_WITH(packed({7, 5}, {3, 2}, {3, 2, 1}), Catch::Contains("add up to 6, but data has 7 rows"));
  CHECK_THROWS_WITH(packed({6, 5}, {2, 2}, {2, 3, 1}), Catch::Contains("must be positive and not grow"));
  CHECK_THROWS_WITH(packed({6, 5}, {2, 2}, {3, 2, 1}), Catch::Contains("expected states of batch 3"));
  CHECK_THROWS_WITH(
      packed({6, 5}, {3, 2}, {3, 2, 1}, at::kBFloat16), Catch::Contains("packed sequences take float or double"));
}

TEST_CASE("the result of an LSTM may be changed before it is differentiated", "[aten][rnn]") {
  const Tensor x = values({3, 2, 4}), h = values({1, 2, 4}), c = values({1, 2, 4});
  const std::vector<Tensor> params{values({16, 4}).requires_grad_(), values({16, 4}).requires_grad_()};
  const Tensor out = std::get<0>(at::lstm(x, {h, c}, params, false, 1, 0.0, true, false, false));
  out.mul_(2);
  CHECK_NOTHROW(out.sum().backward());
}

TEST_CASE("a row that is masked as a whole is zero and passes no gradient", "[aten][attention]") {
  at::manual_seed(3);
  const Tensor query = at::randn({1, 1, 3, 4}, at::kDouble).requires_grad_(),
               key = at::randn({1, 1, 3, 4}, at::kDouble).requires_grad_();
  const Tensor value = at::randn({1, 1, 3, 4}, at::kDouble);
  Tensor mask = at::ones({3, 3}, at::kBool);
  mask.select(0, 1).fill_(false);
  const Tensor by_operators = std::get<0>(at::_scaled_dot_product_attention_math(query, key, value, mask));
  CHECK(at::equal(by_operators.select(2, 1), at::zeros({1, 1, 4}, at::kDouble)));
  const auto grads = torch::autograd::grad({by_operators.sum()}, {query, key});
  CHECK(at::equal(grads[0].select(2, 1), at::zeros({1, 1, 4}, at::kDouble)));
  const Tensor in_blocks = at::scaled_dot_product_attention(query, key, value, mask);
  const auto same = torch::autograd::grad({in_blocks.sum()}, {query, key});
  CHECK(at::allclose(grads[0], same[0], 1e-9, 1e-12));
  CHECK(at::allclose(grads[1], same[1], 1e-9, 1e-12));
  const Tensor scores = at::full({2}, -std::numeric_limits<double>::infinity(), at::kDouble).requires_grad_();
  CHECK(
      at::equal(torch::autograd::grad({at::_safe_softmax(scores, 0).sum()}, {scores})[0], at::zeros({2}, at::kDouble)));
}

TEST_CASE("ctc_loss sums over all ways to write the labels", "[aten][ctc]") {
  at::manual_seed(5);
  const int64_t steps = 4, classes = 3;
  const Tensor probs = at::randn({steps, 1, classes}, at::kDouble).log_softmax(2);
  const std::vector<int64_t> labels{1, 1};
  const Tensor target = at::full({1, 2}, 1, at::kLong);
  double sum = 0;
  for (int64_t path = 0; path < 81; ++path) {
    std::vector<int64_t> written;
    double p = 0;
    int64_t previous = 0, rest = path;
    for (int64_t t = 0; t < steps; ++t, rest /= classes) {
      const int64_t c = rest % classes;
      p += probs[t][0][c].item<double>();
      if (c != 0 && c != previous) {
        written.push_back(c);
      }
      previous = c;
    }
    if (written == labels) {
      sum += std::exp(p);
    }
  }
  const Tensor loss = at::ctc_loss(probs, target, {steps}, {2}, 0, at::Reduction::Sum);
  CHECK(std::abs(loss.item<double>() + std::log(sum)) < 1e-12);
  // Two equal labels need a blank between them: not in two steps.
  CHECK(
      at::ctc_loss(probs, target, {2}, {2}, 0, at::Reduction::Sum).item<double>() ==
      std::numeric_limits<double>::infinity());
  CHECK(at::ctc_loss(probs, target, {2}, {2}, 0, at::Reduction::Sum, true).item<double>() == 0);
}
