// Results do not depend on the number of threads, to the last bit: sizes leave remainders for 2, 3 and 5 of them.
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

using at::Tensor;

namespace {

using Results = std::vector<Tensor>;

class Threads {
 public:
  Threads() : before_(at::get_num_threads()) {}
  ~Threads() {
    at::set_num_threads(before_);
  }

 private:
  const int before_;
};

Tensor values(at::IntArrayRef sizes, at::ScalarType dtype) {
  return at::randn(sizes).to(dtype);
}

/// Compares what `compute` gives on 2, 3 and 5 threads with what it gives on one.
void check_threads(const std::string& name, const std::function<Results()>& compute) {
  const Threads restored;
  const auto on_threads = [&](int threads) {
    at::set_num_threads(threads);
    at::manual_seed(3);
    return compute();
  };
  const Results want = on_threads(1);
  for (const int threads : {2, 3, 5}) {
    const Results got = on_threads(threads);
    for (size_t i = 0; i < want.size(); ++i) {
      INFO(name << ", result " << i << " on " << threads << " threads");
      CHECK(at::equal(got[i], want[i]));
    }
  }
}

/// The result of `f` and the gradients of its square.
Results with_gradients(Results inputs, const std::function<Tensor(const Results&)>& f) {
  for (Tensor& t : inputs) {
    t = t.detach().requires_grad_();
  }
  const Tensor out = f(inputs);
  Results all = torch::autograd::grad({(out * out).sum()}, inputs);
  all.push_back(out.detach());
  return all;
}

std::string text(at::IntArrayRef sizes) {
  return c10::str(sizes);
}

} // namespace

TEST_CASE("products do not depend on threads", "[aten][threads]") {
  const auto dtype = GENERATE(at::kFloat, at::kDouble, at::kBFloat16);
  // Rows, columns and terms that fill no tile, products with blocks of terms, and one whose operands are copied.
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {281, 28, 194},
           {345, 141, 91},
           {101, 257, 333},
           {600, 610, 64},
           {33, 1030, 401},
           {1030, 129, 40},
           {13, 296, 475}}) {
    const Tensor a = values({m, k}, dtype), b = values({k, n}, dtype), bias = values({n}, dtype);
    const Tensor a_columns = a.t().contiguous().t(), b_columns = b.t().contiguous().t();
    const std::string name = std::string(c10::toString(dtype)) + " " + text({m, n, k});
    check_threads("mm " + name, [&] {
      return Results{
          at::mm(a, b),
          at::mm(a, b_columns),
          at::mm(a_columns, b),
          at::mm(a_columns, b_columns),
          at::addmm(bias, a, b_columns),
          at::addmm(bias, a, b, 0.5, 2.0)};
    });
    check_threads("linear " + name, [&] {
      return with_gradients({a, b_columns.t(), bias}, [](const Results& t) { return at::linear(t[0], t[1], t[2]); });
    });
  }
  for (const auto& [batch, m, n, k] :
       std::vector<std::array<int64_t, 4>>{{3, 131, 67, 91}, {7, 50, 33, 101}, {17, 20, 30, 411}, {5, 13, 296, 175}}) {
    const Tensor a = values({batch, m, k}, dtype), b = values({batch, k, n}, dtype), one = values({k, n}, dtype);
    const std::string name = std::string(c10::toString(dtype)) + " " + text({batch, m, n, k});
    check_threads("bmm " + name, [&] {
      return Results{
          at::matmul(a, one), at::bmm(a, one.expand({batch, k, n})), at::addbmm(values({m, n}, dtype), a, b)};
    });
    check_threads("bmm's gradients " + name, [&] {
      return with_gradients({a, b}, [](const Results& t) { return at::bmm(t[0], t[1]); });
    });
    check_threads("linear of batches " + name, [&, n = n, k = k] {
      return with_gradients({a, values({n, k}, dtype), values({n}, dtype)}, [](const Results& t) {
        return at::linear(t[0], t[1], t[2]);
      });
    });
  }
}

TEST_CASE("convolutions do not depend on threads", "[aten][threads]") {
  const bool channels_last = GENERATE(false, true);
  const auto format = channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  // images, channels, size, channels of the result, kernel, stride, groups
  for (const auto& [images, in, size, out, kernel, stride, groups] : std::vector<std::array<int64_t, 7>>{
           {2, 3, 37, 13, 7, 2, 1},
           {1, 16, 29, 24, 3, 1, 1},
           {5, 12, 17, 18, 3, 2, 3},
           {3, 32, 15, 32, 1, 1, 1},
           {3, 24, 21, 24, 3, 1, 24}}) {
    const Tensor x = values({images, in, size, size + 4}, at::kFloat).contiguous(format);
    const Tensor weight = values({out, in / groups, kernel, kernel}, at::kFloat).contiguous(format),
                 bias = values({out}, at::kFloat);
    const std::string name = text({images, in, size, out, kernel, groups}) + (channels_last ? " channels last" : "");
    check_threads("conv2d " + name, [&, stride = stride, kernel = kernel, groups = groups] {
      return with_gradients({x, weight, bias}, [&](const Results& t) {
        return at::conv2d(t[0], t[1], t[2], stride, kernel / 2, 1, groups);
      });
    });
    if (groups == 1) {
      check_threads("conv_transpose2d " + name, [&, stride = stride, kernel = kernel] {
        return with_gradients({x, weight.transpose(0, 1).contiguous(format)}, [&](const Results& t) {
          return at::conv_transpose2d(t[0], t[1], {}, stride, kernel / 2);
        });
      });
    }
  }
}

TEST_CASE("layers of steps and attention do not depend on threads", "[aten][threads]") {
  for (const auto& [steps, batch, size, in] : std::vector<std::array<int64_t, 4>>{{6, 21, 70, 9}, {5, 37, 33, 101}}) {
    const Tensor x = values({steps, batch, in}, at::kFloat), state = values({1, batch, size}, at::kFloat);
    const auto weights = [&, size = size, in = in](int64_t gates) {
      return Results{
          x, state, values({gates * size, in}, at::kFloat) / 4, values({gates * size, size}, at::kFloat) / 16};
    };
    check_threads("lstm " + text({steps, batch, size}), [&] {
      return with_gradients(weights(4), [](const Results& t) {
        return std::get<0>(at::lstm(t[0], {t[1], t[1]}, {t[2], t[3]}, false, 1, 0.0, true, false, false));
      });
    });
    check_threads("gru " + text({steps, batch, size}), [&] {
      return with_gradients(weights(3), [](const Results& t) {
        return std::get<0>(at::gru(t[0], t[1], {t[2], t[3]}, false, 1, 0.0, true, false, false));
      });
    });
  }
  for (const auto& [heads, length, other, width] :
       std::vector<std::array<int64_t, 4>>{{3, 67, 91, 33}, {2, 17, 300, 48}}) {
    const Results inputs{
        values({2, heads, length, width}, at::kFloat), values({2, heads, other, width}, at::kFloat),
        values({2, heads, other, width}, at::kFloat)};
    check_threads("attention " + text({heads, length, other, width}), [&] {
      return with_gradients(
          inputs, [](const Results& t) { return at::scaled_dot_product_attention(t[0], t[1], t[2]); });
    });
  }
}

TEST_CASE("sums, norms and scans do not depend on threads", "[aten][threads]") {
  const auto dtype = GENERATE(at::kFloat, at::kDouble, at::kBFloat16);
  for (const auto& sizes :
       std::vector<std::vector<int64_t>>{{37, 1031}, {1031, 37}, {3, 30001}, {5, 7, 11, 13, 17}, {33, 65, 29}}) {
    const Tensor x = values(sizes, dtype);
    const auto last = static_cast<int64_t>(sizes.size()) - 1;
    const std::string name = std::string(c10::toString(dtype)) + " " + text(sizes);
    check_threads("reductions " + name, [&] {
      return Results{
          x.sum(),
          x.sum(0),
          x.sum(last),
          x.mean(last),
          x.var(at::IntArrayRef{0}, true),
          x.var(at::IntArrayRef{last}, true),
          x.norm(),
          x.logsumexp(last),
          x.transpose(0, last).sum(0),
          x.cumsum(0),
          x.cumsum(last),
          x.logcumsumexp(last)};
    });
    check_threads("softmax " + name, [&] {
      return with_gradients({x}, [&](const Results& t) { return t[0].softmax(last) + t[0].log_softmax(0); });
    });
    const Tensor weight = values({sizes[last]}, dtype), bias = values({sizes[last]}, dtype);
    check_threads("layer_norm " + name, [&] {
      return with_gradients(
          {x, weight, bias}, [&](const Results& t) { return at::layer_norm(t[0], {sizes[last]}, t[1], t[2]); });
    });
    check_threads("broadcast gradients " + name, [&] {
      return with_gradients({x, weight}, [](const Results& t) { return t[0] * t[1]; });
    });
  }
  const Tensor images = values({5, 12, 19, 23}, dtype), weight = values({12}, dtype), bias = values({12}, dtype);
  check_threads("batch_norm", [&] {
    return with_gradients({images, weight, bias}, [](const Results& t) {
      return std::get<0>(at::native_batch_norm(t[0], t[1], t[2], {}, {}, true, 0.1, 1e-5));
    });
  });
  check_threads("group_norm", [&] {
    return with_gradients({images, weight, bias}, [](const Results& t) { return at::group_norm(t[0], 3, t[1], t[2]); });
  });
  check_threads("pooling and upsampling", [&] {
    return with_gradients({images}, [](const Results& t) {
      return at::avg_pool2d(t[0], 3, 2, 1) + at::max_pool2d(t[0], 3, 2, 1) +
          at::upsample_bilinear2d(t[0], {10, 12}, false);
    });
  });
  const Tensor index = at::randint(97, {1001});
  check_threads("embedding", [&] {
    return with_gradients({values({97, 33}, dtype)}, [&](const Results& t) { return at::embedding(t[0], index); });
  });
}
