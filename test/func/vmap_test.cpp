// vmap against a loop over samples: where batches stand, nested calls, structures, chunks, and wrong use.
#include "support.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>

using namespace func_test;
using torch::func::vmap;
namespace func = torch::func;

namespace {

Tensor rows(const Tensor& x, const std::function<Tensor(const Tensor&)>& f) {
  std::vector<Tensor> results;
  for (const Tensor& row : x.unbind(0)) {
    results.push_back(f(row));
  }
  return at::stack(results);
}

} // namespace

TEST_CASE("vmap is a loop over samples") {
  const Tensor x = randn({4, 3, 2});
  const auto f = [](const Tensor& t) { return (t.sin() * 2 + 1).sum(0); };
  check_close(vmap(f)(x), rows(x, f));
  check_close(vmap(f, 1)(x), rows(x.transpose(0, 1), f));
  check_close(vmap(f, -1)(x), rows(x.movedim(2, 0), f));
  check_close(vmap(f, 0, 1)(x), rows(x, f).t());
  check_close(vmap(f, 0, -1)(x), rows(x, f).t());
}

TEST_CASE("vmap over some of the arguments") {
  const Tensor a = randn({5, 3}), b = randn({3, 4}), w = randn({3});
  const auto f = [](const Tensor& x, const Tensor& y, double scale, const Tensor& v) { return x.dot(y * v) * scale; };
  const Tensor got = vmap(f, {0, std::nullopt, std::nullopt, std::nullopt})(a, w, 2.0, w);
  check_close(got, (a * w * w).sum(1) * 2);
  const auto mv = [](const Tensor& m, const Tensor& v) { return m.matmul(v); };
  check_close(vmap(mv, {std::nullopt, 0})(b.t(), a), a.matmul(b));
  // A result that is the same for all samples is repeated.
  check_close(vmap([&](const Tensor&) { return w; })(a), w.expand({5, 3}));
}

TEST_CASE("one matrix with a batch of them, and a batch with one matrix, are products of each") {
  const Tensor x = randn({5, 3}), weights = randn({4, 2, 3}), rows_of_samples = randn({4, 5, 3}),
               weight = randn({2, 3});
  const auto linear = [](const Tensor& t, const Tensor& w) { return t.mm(w.t()); };
  check_close(vmap(linear, {std::nullopt, 0})(x, weights), at::einsum("nk,bmk->bnm", {x, weights}));
  check_close(vmap(linear, {std::nullopt, 2})(x, weights.movedim(0, 2)), at::einsum("nk,bmk->bnm", {x, weights}));
  check_close(vmap(linear, {0, std::nullopt})(rows_of_samples, weight), rows_of_samples.matmul(weight.t()));
  for (const int64_t n : {1, 5}) {
    const Tensor some = rows_of_samples.narrow(1, 0, n), wanted = some.matmul(weight.t());
    check_close(vmap(linear, {0, 0})(some, weight.expand({4, 2, 3})), wanted);
    check_close(vmap(linear, {0, 0})(some.movedim(1, 2).contiguous().movedim(2, 1), weight.expand({4, 2, 3})), wanted);
  }
}

TEST_CASE("gradients of the weights of a convolution of few channels for each sample") {
  const Tensor x = randn({3, 2, 6, 7}), w = randn({4, 2, 3, 2});
  for (const auto& [stride, padding, dilation] : {std::tuple(1, 0, 1), std::tuple(2, 1, 1), std::tuple(1, 2, 2)}) {
    const auto loss = [&](const Tensor& weight, const Tensor& image) {
      return at::conv2d(image.unsqueeze(0), weight, {}, {stride}, {padding}, {dilation}).tanh().sum();
    };
    std::vector<Tensor> wanted;
    for (const Tensor& image : x.unbind(0)) {
      wanted.push_back(torch::func::grad(loss)(w, image));
    }
    check_close(vmap(torch::func::grad(loss), {std::nullopt, 0})(w, x), at::stack(wanted));
  }
}

TEST_CASE("gradients of tables of the samples are divided by how often each sample has a row") {
  const Tensor tables = randn({3, 5, 2}), places = at::tensor({1, 1, 4, 0, 2, 0, 3, 3, 3}).view({3, 3}),
               g = randn({3, 2});
  const auto loss = [&](const Tensor& table, const Tensor& index) {
    return (at::embedding(table, index, /*padding_idx=*/4, /*scale_grad_by_freq=*/true) * g).sum();
  };
  for (const bool one_list : {false, true}) {
    std::vector<Tensor> wanted;
    for (int64_t i = 0; i < 3; ++i) {
      wanted.push_back(func::grad(loss)(tables[i], places[one_list ? 0 : i]));
    }
    const Tensor given = one_list ? places[0] : places;
    const func::BatchDims dims = one_list ? func::BatchDims{0, std::nullopt} : func::BatchDims{0, 0};
    check_close(vmap(func::grad(loss), dims)(tables, given), at::stack(wanted));
    const auto total = [&](const Tensor& all) { return vmap(loss, dims)(all, given).sum(); };
    check_close(func::grad(total)(tables), at::stack(wanted));
  }
  CHECK_THROWS_AS(vmap(loss)(tables, places + 2), c10::Error);
}

TEST_CASE("nested vmaps") {
  const Tensor x = randn({4, 3}), y = randn({5, 3});
  const auto dot = [](const Tensor& a, const Tensor& b) { return a.dot(b); };
  const auto all = vmap(vmap(dot, {std::nullopt, 0}), {0, std::nullopt});
  check_close(all(x, y), x.matmul(y.t()));
  const Tensor z = randn({2, 3, 4, 5});
  const auto f = [](const Tensor& t) { return t.softmax(0).cumsum(1); };
  check_close(vmap(vmap(f, 1), 2, 3)(z), z.softmax(0).cumsum(3).permute({1, 0, 3, 2}));
}

TEST_CASE("vmap of structures") {
  using Dict = std::map<std::string, Tensor>;
  const Dict params{{"bias", randn({4})}, {"weight", randn({4, 3})}};
  const Tensor x = randn({4, 3});
  const auto f = [](const Dict& p, const Tensor& t) {
    return std::make_tuple(p.at("weight").dot(t) + p.at("bias"), std::vector<Tensor>{t * 2});
  };
  const auto [y, doubled] = vmap(f)(params, x);
  check_close(y, (params.at("weight") * x).sum(1) + params.at("bias"));
  REQUIRE(doubled.size() == 1);
  check_close(doubled[0], x * 2);
  // One dimension of a result for each of its parts.
  const auto [a, b] = vmap([](const Tensor& t) { return std::make_pair(t + 1, t - 1); }, 0, {1, 0})(x);
  check_close(a, (x + 1).t());
  check_close(b, x - 1);
}

TEST_CASE("dimensions of batches in the parts of structures") {
  using Dict = std::map<std::string, Tensor>;
  using func_test::randn;
  using torch::func::BatchDims;
  const Tensor x = randn({4, 3}), y = randn({3, 4}), z = randn({3});
  const auto f = [](const std::tuple<Tensor, std::vector<Tensor>>& in, const Dict& dict) {
    const auto& [a, rest] = in;
    return std::make_pair(a * rest[0] + rest[1], Dict{{"u", a * dict.at("w")}, {"v", dict.at("b") + 1}});
  };
  const std::tuple<Tensor, std::vector<Tensor>> in{x, {y, z}};
  const Dict dict{{"b", z}, {"w", y}};
  const BatchDims dims{{0, {1, std::nullopt}}, BatchDims::named({{"w", 1}, {"b", std::nullopt}})};
  const BatchDims out{1, BatchDims::named({{"u", 0}, {"v", std::nullopt}})};
  const auto [sum, made] = vmap(f, dims, out)(in, dict);
  check_close(sum, (x * y.t() + z).t());
  check_close(made.at("u"), x * y.t());
  check_close(made.at("v"), z + 1);
  const auto [chunked, parts] = vmap(f, dims, out, "error", 3)(in, dict);
  check_close(chunked, sum);
  check_close(parts.at("u"), made.at("u"));
  // None for a whole structure.
  const auto g = [](const Tensor& t, const Dict& d) { return t * d.at("b"); };
  check_close(vmap(g, {0, std::nullopt})(x, dict), x * z);

  const auto says = [&](const auto& call, const char* words) { CHECK_THAT(error_of(call), Catch::Contains(words)); };
  says([&] { vmap(f, {{0, {1, 1, 1}}, std::nullopt})(in, dict); }, "in_dims has 3 entries, but there are 2");
  says([&] { vmap(f, {{0, 1}, {0}})(in, dict); }, "a list of entries stands where there is no tuple or vector");
  says([&] { vmap(f, {0, BatchDims::named({{"b", 0}, {"c", 0}})})(in, dict); }, "it has no entry for 'w'");
  says([&] { vmap(f, {BatchDims::named({{"b", 0}, {"c", 0}}), 0})(in, dict); }, "entries by name stand where");
}

TEST_CASE("vmap in chunks") {
  const Tensor x = randn({7, 3});
  const auto f = [](const Tensor& t) { return std::make_pair(t.exp(), t.sum()); };
  for (const int64_t chunk : {1, 3, 7, 9}) {
    const auto [e, s] = vmap(f, 0, {1, 0}, "error", chunk)(x);
    check_close(e, x.exp().t());
    check_close(s, x.sum(1));
  }
}

TEST_CASE("empty batches") {
  const Tensor x = at::zeros({0, 3}, at::kDouble);
  CHECK(vmap([](const Tensor& t) { return t.sin().sum(); })(x).sizes() == at::IntArrayRef({0}));
  CHECK(vmap([](const Tensor& t) { return t.view({3, 1}).expand({-1, 4}); })(x).sizes() == at::IntArrayRef({0, 3, 4}));
}

TEST_CASE("samples without dimensions keep the dtypes of numbers") {
  const Tensor numbers = randn({4}); // double
  const Tensor x = at::randn({3}, at::kFloat);
  const Tensor got = vmap([&](const Tensor& n) { return x * n; })(numbers);
  CHECK(got.scalar_type() == at::kFloat);
  check_close(got, at::stack({x * numbers[0], x * numbers[1], x * numbers[2], x * numbers[3]}));
  const Tensor wide = randn({});
  CHECK(vmap([&](const Tensor& n) { return n + wide; })(at::randn({4}, at::kFloat)).scalar_type() == at::kDouble);
}

TEST_CASE("a sample looks like one") {
  const Tensor x = randn({4, 3, 2});
  vmap([](const Tensor& t) {
    CHECK(t.sizes() == at::IntArrayRef({3, 2}));
    CHECK(t.dim() == 2);
    CHECK(t.numel() == 6);
    CHECK(t.is_contiguous());
    CHECK(t.scalar_type() == at::kDouble);
    CHECK_FALSE(t.requires_grad());
    return t;
  })(x);
}

TEST_CASE("in-place operators inside of vmap") {
  const Tensor x = randn({4, 3});
  const Tensor original = x.clone();
  const Tensor got = vmap([](const Tensor& t) {
    Tensor y = at::zeros_like(t);
    y.add_(t).mul_(2);
    y.select(0, 0).fill_(7);
    return y;
  })(x);
  const Tensor wanted = original * 2;
  wanted.select(1, 0).fill_(7);
  check_close(got, wanted);
  vmap([](const Tensor& t) { return t.mul_(3); })(x);
  check_close(x, original * 3);
  const Tensor y = randn({3});
  const std::string error = error_of([&] { vmap([&](const Tensor& t) { return y.add_(t); })(x); });
  CHECK_THAT(error, Catch::Contains("vmap: inplace arithmetic(self, *extra_args) is not possible because"));
}

TEST_CASE("one value for the places of a batched mask") {
  const Tensor x = randn({4, 3, 2}), row = randn({2});
  const auto check = [&](const auto& f) {
    std::vector<Tensor> wanted;
    for (const Tensor& sample : x.unbind(0)) {
      wanted.push_back(f(sample.clone()));
    }
    check_close(vmap([&](const Tensor& t) { return f(t.clone()); })(x), at::stack(wanted));
    check_close(
        vmap([&](const Tensor& t) { return f(t.clone()); }, 2)(x.movedim(0, 2).contiguous()), at::stack(wanted));
  };
  check([](Tensor t) { return t.index_put_({t > 0}, at::full({}, 7.0, at::kDouble)); });
  check([&](Tensor t) { return t.index_put_({t.select(1, 0) > 0}, row); });
  check([&](Tensor t) { return t.index_put({t.select(1, 0) > 0}, row.unsqueeze(0), /*accumulate=*/true); });
  check([&](Tensor t) { return t.index_put({std::nullopt, t.select(0, 0) > 0}, row.select(0, 0).view({1, 1})); });
  check([&](Tensor t) { return t.index_put({t > 0}, t.sum()); });
  CHECK_THAT(
      error_of([&] { vmap([](const Tensor& t) { return t.index_put({t > 0}, at::zeros({2}, at::kDouble)); })(x); }),
      Catch::Contains("boolean mask"));
  const Tensor shared = randn({3, 2});
  CHECK_THAT(
      error_of(
          [&] { vmap([&](const Tensor& t) { return shared.index_put_({t > 0}, at::zeros({}, at::kDouble)); })(x); }),
      Catch::Contains("is not possible because there exists a Tensor"));
}

TEST_CASE("backward through writes inside of vmap has the values from before") {
  const Tensor x = randn({4, 3, 2}), w = randn({4, 3, 2}), index = at::tensor({0, 2}, at::kLong);
  const auto check = [&](const std::function<void(Tensor&, const Tensor&)>& write) {
    const auto loss = [&](const Tensor& t, const Tensor& u) {
      Tensor y = t.sin();
      write(y, u);
      return (y * y).sum();
    };
    const auto gradients = vmap(torch::func::grad(loss))(x, w);
    for (int64_t i = 0; i < x.size(0); ++i) {
      check_close(gradients[i], torch::func::grad(loss)(x[i], w[i]));
    }
  };
  check([](Tensor& y, const Tensor&) { y.renorm_(2, 0, 0.5); });
  check([&](Tensor& y, const Tensor& u) { y.index_reduce_(0, index, u.slice(0, 0, 2), "prod"); });
  check([](Tensor& y, const Tensor& u) { y.addcmul_(u, u); });
}

TEST_CASE("masked_scatter inside of vmap takes as many elements as are put") {
  const Tensor x = randn({4, 3}), source = randn({2}), mask = at::tensor({1, 0, 1}, at::kLong).to(at::kBool);
  const auto put = [](const Tensor& m, const Tensor& from) {
    return [=](const Tensor& t) { return t.masked_scatter(m, from); };
  };
  check_close(vmap(put(mask, source))(x), rows(x, put(mask, source)));
  check_close(vmap(put(at::zeros_like(mask), randn({0})))(x), x);
  const auto refused = [&](const Tensor& m, const Tensor& from, const char* words) {
    CHECK_THAT(error_of([&] { vmap(put(m, from))(x); }), Catch::Contains(words));
  };
  refused(mask, randn({1}), "out of range");
  refused(at::tensor({0, 1, 0}, at::kLong).to(at::kBool), randn({0}), "out of range");
  refused(mask.to(at::kByte), source, "only supports boolean masks");
  refused(mask, source.to(at::kHalf), "same dtypes");
}

TEST_CASE("wrong use of vmap gives words") {
  const Tensor x = randn({3, 2});
  const auto identity = [](const Tensor& t) { return t; };
  const auto says = [&](const auto& call, const char* words) { CHECK_THAT(error_of(call), Catch::Contains(words)); };
  says(
      [&] { vmap([](const Tensor& t) { return t * t.sum().item<double>(); })(x); },
      "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item()");
  says(
      [&] { vmap([](const Tensor& t) { return t.sum().is_nonzero() ? t : t * 2; })(x); },
      "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow");
  says(
      [&] { vmap([](const Tensor& t) { return t.nonzero(); })(x); },
      "vmap: We do not support batching operators that can output dynamic shape");
  says(
      [&] { vmap([](const Tensor& t) { return at::full({}, *t.data_ptr<double>()); })(x); },
      "Cannot access data pointer of Tensor that doesn't have storage");
  says(
      [&] { vmap([](const Tensor& t) { return t.requires_grad_(); })(x); },
      "You are attempting to call Tensor.requires_grad_()");
  says(
      [&] {
        vmap([](const Tensor& a, const Tensor& b) { return a + b; })(x, randn({4, 2}));
      },
      "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [3, 4]");
  says([&] { vmap(identity, 5)(x); }, "expected in_dim to satisfy -2 <= in_dim < 2");
  says([&] { vmap(identity, {0, 1})(x); }, "in_dims is not compatible with the structure of `inputs`");
  says([&] { vmap(identity, std::nullopt)(x); }, "vmap: Expected at least one Tensor to vmap over");
  says([&] { vmap(identity, 0, 4)(x); }, "Dimension out of range (expected to be in range of [-2, 1], but got 4)");
  says([&] { vmap(identity, 0, {0, 1})(x); }, "out_dims is not compatible with the structure of `outputs`");
  says([&] { vmap(identity, 0, std::nullopt)(x); }, "cannot return");
  says([&] { vmap([](const Tensor&) { return 3.0; })(x); }, "must only return Tensors");
  says([&] { vmap(identity, 0, 0, "error", -1)(x); }, "chunk_size should be None or greater than 0. (got -1)");
  says(
      [&] { vmap(identity, 0, 0, "foo")(x); },
      "Only allowed values for randomness are 'error', 'different', or 'same'. Got foo");
  Tensor escaped;
  vmap([&](const Tensor& t) { return escaped = t; })(x);
  says([&] { return escaped + 1; }, "may have escaped from inside a function being vmapped");
}

TEST_CASE("one mask for all samples chooses as many elements in each") {
  const Tensor x = randn({4, 2, 3}), mask = randn({3}) > -10;
  const Tensor some = (at::arange(6, at::kLong).view({2, 3}) % 2).eq(0);
  for (const Tensor& m : {mask, some}) {
    const auto select = [&](const Tensor& t) { return t.masked_select(m); };
    std::vector<Tensor> wanted;
    for (const Tensor& sample : x.unbind()) {
      wanted.push_back(select(sample));
    }
    check_close(func::vmap(select)(x), at::stack(wanted));
    const auto loss = [&](const Tensor& t) { return select(t).square().sum(); };
    check_close(func::vmap(func::grad(loss))(x), 2 * x * m);
  }
  CHECK_THAT(
      error_of([&] { func::vmap([](const Tensor& t) { return t.masked_select(t > 0); })(x); }),
      Catch::Contains("dynamic shape"));
}

TEST_CASE("equal elements share the gradient of a median inside of vmap as outside") {
  const Tensor x = at::tensor({1.0, 2.0, 2.0, 3.0, 2.0, 0.0, 5.0, 5.0, 5.0, 5.0, -1.0, 5.0}, at::kDouble).view({2, 6});
  const auto median = [](const Tensor& t) { return t.median(); };
  const Tensor got = func::vmap(func::grad(median))(x);
  check_close(got, at::stack({func::grad(median)(x[0]), func::grad(median)(x[1])}));
  check_close(got[0], at::tensor({0.0, 1.0 / 3, 1.0 / 3, 0.0, 1.0 / 3, 0.0}, at::kDouble));
  check_close(func::vmap(median)(x), at::tensor({2.0, 5.0}, at::kDouble));
}

TEST_CASE("arguments that say sizes may be batched if all samples agree") {
  const Tensor lengths = at::tensor({3, 2}, at::kLong), x = randn({2, 3, 2, 4});
  const Tensor all_lengths = lengths.expand({2, 2}), others = at::tensor({3, 2, 3, 1}, at::kLong).view({2, 2});
  const auto pack = [](const Tensor& t, const Tensor& l) {
    return std::get<0>(at::_pack_padded_sequence(t, l, false));
  };
  check_close(func::vmap(pack)(x, all_lengths), at::stack({pack(x[0], lengths), pack(x[1], lengths)}));
  CHECK_THAT(error_of([&] { func::vmap(pack)(x, others); }), Catch::Contains("must be the same for all samples"));
  const auto pack_one = [&](const Tensor& t) { return pack(t, lengths); };
  check_close(func::jacrev(pack_one)(x[0]), func::jacfwd(pack_one)(x[0]));
  const auto there_and_back = [&](const Tensor& t, const Tensor& l) {
    const auto [data, sizes] = at::_pack_padded_sequence(t, l, false);
    return std::get<0>(at::_pad_packed_sequence(data, sizes, false, 0.5, 3));
  };
  check_close(
      func::vmap(there_and_back)(x, all_lengths),
      at::stack({there_and_back(x[0], lengths), there_and_back(x[1], lengths)}));
  const Tensor shape = at::tensor({6, 4}, at::kLong);
  check_close(func::vmap(&at::_reshape_from_tensor)(x, shape.expand({2, 2})), x.reshape({2, 6, 4}));
}

TEST_CASE("quantiles of each sample at fractions of its own") {
  const Tensor x = randn({3, 5}), q = at::rand({3, 2}, at::kDouble);
  const auto quantile = [](const Tensor& t, const Tensor& at) { return at::quantile(t, at); };
  std::vector<Tensor> wanted;
  for (int64_t i = 0; i < 3; ++i) {
    wanted.push_back(quantile(x[i], q[i]));
  }
  check_close(func::vmap(quantile)(x, q), at::stack(wanted));
  CHECK_THAT(error_of([&] { func::vmap(quantile)(x, q + 1); }), Catch::Contains("must be in the range [0, 1]"));
}

TEST_CASE("copies into a tensor that is the same for all samples") {
  const Tensor x = randn({3, 2}), like = at::zeros({4, 2}, at::kFloat);
  const Tensor got = func::vmap([&](const Tensor& t) { return at::copy(like, t); })(x);
  check_close(got, x.to(at::kFloat).unsqueeze(1).expand({3, 4, 2}));
}

TEST_CASE("windows over numbers have gradients inside of vmap") {
  const Tensor x = randn({3});
  const auto f = [](const Tensor& t) { return t.unfold(0, 1, 1).square().sum(); };
  check_close(func::vmap(func::grad(f))(x), 2 * x);
}

TEST_CASE("batch norm inside of two vmaps updates statistics that have both batches") {
  const Tensor x = randn({2, 3, 5, 4}), mean = at::zeros({2, 3, 4}, at::kDouble),
               var = at::ones({3, 2, 4}, at::kDouble);
  const auto norm = [](const Tensor& t, const Tensor& m, const Tensor& v) {
    return at::batch_norm(t, {}, {}, m, v, /*training=*/true, 0.5, 1e-5, false);
  };
  const Tensor other_mean = mean.clone(), other_var = var.clone();
  const Tensor got = func::vmap(func::vmap(norm), {0, 0, 1})(x, mean, var);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      check_close(got[i][j], norm(x[i][j], other_mean[i][j], other_var[j][i]));
    }
  }
  check_close(mean, other_mean);
  check_close(var, other_var);
}

namespace {

struct EmptyBatchNetImpl : torch::nn::Module {
  EmptyBatchNetImpl() : conv(torch::nn::Conv1dOptions(2, 3, 2)), fc(9, 2) {
    register_module("conv", conv);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = at::batch_norm(conv(x), {}, {}, {}, {}, true, 0.1, 1e-5, false);
    return fc(y.relu().flatten(1));
  }
  torch::nn::Conv1d conv;
  torch::nn::Linear fc;
};
TORCH_MODULE(EmptyBatchNet);

} // namespace

TEST_CASE("gradients of each sample when there are none") {
  EmptyBatchNet net;
  const auto loss = [&](const func::NamedTensors& p, const Tensor& x) {
    return func::functional_call(net, p, x).square().sum();
  };
  const func::NamedTensors params = net->named_parameters();
  const auto grads = func::vmap(func::grad(loss), {std::nullopt, 0})(params, at::zeros({0, 1, 2, 4}));
  for (const auto& item : params) {
    std::vector<int64_t> sizes = item.value().sizes().vec();
    sizes.insert(sizes.begin(), 0);
    CHECK(grads[item.key()].sizes() == at::IntArrayRef(sizes));
  }
}

TEST_CASE("numbers are picked by an index with a dimension inside of vmap") {
  const Tensor x = randn({3}), index = at::zeros({3, 1}, at::kLong);
  const auto pick = [](const Tensor& t, const Tensor& i) { return t.gather(0, i); };
  check_close(func::vmap(pick)(x, index), x.unsqueeze(1));
  check_close(func::vmap(pick, {0, std::nullopt})(x, index[0]), x.unsqueeze(1));
  const auto put = [](const Tensor& t, const Tensor& i) { return t.scatter(0, i, 5); };
  check_close(func::vmap(put)(x, index), at::full({3}, 5.0, at::kDouble));
}

TEST_CASE("the gradient of chosen values with places of each sample and one gradient") {
  const Tensor grad = randn({2}), places = at::tensor({0, 2, 1, 1}, at::kLong).view({2, 2});
  const auto f = [&](const Tensor& i) { return at::value_selecting_reduction_backward(grad, 1, i, {2, 3}, false); };
  check_close(func::vmap(f)(places), at::stack({f(places[0]), f(places[1])}));
}
