#include "support.h"

#include <optional>

using namespace autograd_test;
using torch::autograd::Function;

namespace {

// x * y * scale, with everything that save_for_backward and saved_data can do.
struct ScaledProduct : Function<ScaledProduct> {
  static Variable forward(AutogradContext* ctx, const Variable& x, double scale, const Variable& y) {
    ctx->saved_data["scale"] = scale;
    ctx->save_for_backward({x, y});
    CHECK_FALSE(torch::GradMode::is_enabled());
    return x * y * scale;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    const double scale = ctx->saved_data["scale"].toDouble();
    return {grads[0] * saved[1] * scale, Variable(), grads[0] * saved[0] * scale};
  }
};

struct Exp : Function<Exp> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    const Variable y = x.exp();
    ctx->save_for_backward({y, Variable()});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    CHECK_FALSE(saved[1].defined());
    return {grads[0] * saved[0]};
  }
};

struct TwoOutputs : Function<TwoOutputs> {
  static variable_list forward(AutogradContext* ctx, const Variable& x, bool materialize) {
    ctx->set_materialize_grads(materialize);
    ctx->saved_data["materialize"] = materialize;
    return {x * 2, x * 3};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    if (ctx->saved_data["materialize"].toBool()) {
      CHECK(grads[0].defined());
      CHECK(grads[1].defined());
      return {grads[0] * 2 + grads[1] * 3, Variable()};
    }
    CHECK_FALSE(grads[1].defined());
    return {grads[0] * 2, Variable()};
  }
};

struct Doubled : Function<Doubled> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 2};
  }
};

struct SortWithIndex : Function<SortWithIndex> {
  static variable_list forward(AutogradContext* ctx, const Variable& x) {
    const Variable rounded = x.round();
    ctx->mark_non_differentiable({rounded});
    return {x * 5, rounded};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    CHECK(same(grads[1], torch::zeros_like(grads[0])));
    return {grads[0] * 5};
  }
};

struct ReturnsInput : Function<ReturnsInput> {
  static Variable forward(AutogradContext*, const Variable& x) {
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 7};
  }
};

struct ReturnsView : Function<ReturnsView> {
  static Variable forward(AutogradContext*, const Variable& x) {
    return x.view({-1});
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 7};
  }
};

struct Wanted : Function<Wanted> {
  static Variable forward(AutogradContext*, const Variable& x, const Variable& y) {
    return x + y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    last = {ctx->needs_input_grad(0), ctx->needs_input_grad(1), ctx->needs_input_grad({{0, 2}})};
    return {grads[0], grads[0]};
  }
  static inline std::vector<bool> last;
};

struct ListOfInputs : Function<ListOfInputs> {
  static Variable forward(AutogradContext* ctx, at::TensorList xs, std::optional<Variable> extra, int64_t n) {
    ctx->saved_data["count"] = static_cast<int64_t>(xs.size());
    Variable sum = xs[0] * n;
    for (size_t i = 1; i < xs.size(); ++i) {
      sum = sum + xs[i];
    }
    return extra.has_value() ? sum + *extra : sum;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    variable_list result(static_cast<size_t>(ctx->saved_data["count"].toInt()), grads[0]);
    result[0] = grads[0] * 10;
    result.emplace_back();
    result.emplace_back();
    return result;
  }
};

// One gradient for each argument: the vector is one, whatever it holds.
struct WeightedByVector : Function<WeightedByVector> {
  static Variable forward(AutogradContext* ctx, const Variable& x, const std::vector<Tensor>& weights) {
    ctx->saved_data["weight"] = (weights[0] + weights[1]).item().toDouble();
    return x * ctx->saved_data["weight"].toDouble();
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["weight"].toDouble(), Tensor()};
  }
};

template <int kExtra>
struct WrongCount : Function<WrongCount<kExtra>> {
  static Variable forward(AutogradContext*, const Variable& x, double) {
    return x * 1;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    variable_list result{grads[0], Variable()};
    for (int i = 0; i < kExtra; ++i) {
      result.push_back(grads[0]);
    }
    if (kExtra < 0) {
      result.pop_back();
    }
    return result;
  }
};

struct GradForNumber : Function<GradForNumber> {
  static Variable forward(AutogradContext*, const Variable& x, double) {
    return x * 1;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0], grads[0]};
  }
};

struct DirtyNotReturned : Function<DirtyNotReturned> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x * 1;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return grads;
  }
};

struct WrongShape : Function<WrongShape> {
  static Variable forward(AutogradContext*, const Variable& x) {
    return x * 1;
  }
  static variable_list backward(AutogradContext*, variable_list) {
    return {torch::ones({7}, doubles())};
  }
};

} // namespace

TEST_CASE("a custom function", "[autograd][custom]") {
  const Tensor x = leaf({2, 3});
  const Tensor y = leaf({5, 7});
  const Tensor z = ScaledProduct::apply(x, 10.0, y);
  CHECK(same(z, {100, 210}));
  CHECK(z.requires_grad());
  z.sum().backward();
  CHECK(same(x.grad(), {50, 70}));
  CHECK(same(y.grad(), {20, 30}));

  SECTION("is not recorded without gradients") {
    CHECK_FALSE(ScaledProduct::apply(values({1}), 1.0, values({2})).requires_grad());
    torch::NoGradGuard no_grad;
    CHECK_FALSE(ScaledProduct::apply(x, 1.0, y).requires_grad());
  }
  SECTION("frees what it kept") {
    CHECK_THAT(error_of([&] { z.sum().backward(); }), says("Trying to backward through the graph a second time"));
  }
  SECTION("notices changes") {
    Tensor changed = values({1, 2});
    const Tensor w = ScaledProduct::apply(x, 1.0, changed);
    changed.add_(1);
    CHECK_THAT(error_of([&] { w.sum().backward(); }), says("modified by an inplace operation"));
  }
  SECTION("can be differentiated twice") {
    const Tensor w = ScaledProduct::apply(x, 1.0, x);
    const Tensor g = torch::autograd::grad({w.sum()}, {x}, {}, std::nullopt, true)[0];
    CHECK(same(g, {4, 6}));
    CHECK(same(torch::autograd::grad({g.sum()}, {x})[0], {2, 2}));
  }
}

TEST_CASE("a custom function that keeps its output", "[autograd][custom]") {
  const Tensor x = leaf({0.5});
  const Tensor g = torch::autograd::grad({Exp::apply(x)}, {x}, {}, std::nullopt, true)[0];
  const Tensor gg = torch::autograd::grad({g}, {x})[0];
  CHECK(same(gg, x.detach().exp()));

  c10::weak_intrusive_ptr<c10::TensorImpl> watch(x.getIntrusivePtr());
  {
    const Tensor y = Exp::apply(x) * 1;
    const Tensor z = Exp::apply(y);
    watch = c10::weak_intrusive_ptr<c10::TensorImpl>(z.getIntrusivePtr());
  }
  CHECK(watch.expired());
}

TEST_CASE("undefined gradients of a custom function", "[autograd][custom]") {
  const Tensor x = leaf({1});
  const bool materialize = GENERATE(true, false);
  const variable_list outputs = TwoOutputs::apply(x, materialize);
  outputs[0].backward();
  CHECK(same(x.grad(), {2}));
}

TEST_CASE("a custom function that changes its input", "[autograd][custom][inplace]") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 1;
  const Tensor z = Doubled::apply(y);
  CHECK(z.is_same(y));
  CHECK(y._version() >= 1);
  (z * 3).sum().backward();
  CHECK(same(x.grad(), {6, 6}));

  SECTION("a view") {
    Tensor base = x * 1;
    Tensor view = base.select(0, 1);
    Doubled::apply(view);
    x.mutable_grad().reset();
    base.sum().backward();
    CHECK(same(x.grad(), {1, 2}));
  }
  SECTION("not a leaf") {
    Tensor l = leaf({1});
    CHECK_THAT(error_of([&] { Doubled::apply(l); }), says("a leaf Variable that requires grad"));
  }
  SECTION("and must return it") {
    Tensor w = x * 1;
    CHECK_THAT(
        error_of([&] { DirtyNotReturned::apply(w); }),
        says("Some elements marked as dirty during the forward method were not returned as output"));
  }
}

TEST_CASE("a custom function may change no view that an operator may not", "[autograd][custom][inplace][errors]") {
  const Tensor x = leaf({1, 2});
  Tensor of_leaf = x.view({2});
  CHECK_THAT(
      error_of([&] { Doubled::apply(of_leaf); }),
      says("a view of a leaf Variable that requires grad is being used in an in-place operation"));
  CHECK(x.is_leaf());
  const Tensor y = x * 1;
  CHECK_THAT(
      error_of([&] { Doubled::apply(y.split(1)[0]); }),
      says("is a view and is being modified inplace. This view is the output of a function that returns multiple "
           "views"));
}

TEST_CASE("outputs without a gradient", "[autograd][custom]") {
  const Tensor x = leaf({1.2, 2.7});
  const variable_list outputs = SortWithIndex::apply(x);
  CHECK(outputs[0].requires_grad());
  CHECK_FALSE(outputs[1].requires_grad());
  outputs[0].sum().backward();
  CHECK(same(x.grad(), {5, 5}));
}

TEST_CASE("an input returned as it is", "[autograd][custom]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = ReturnsInput::apply(x);
  CHECK_FALSE(y.is_same(x));
  CHECK(y.data_ptr() == x.data_ptr());
  y.sum().backward();
  CHECK(same(x.grad(), {7, 7}));

  SECTION("may not be changed") {
    Tensor z = ReturnsInput::apply(x * 1);
    CHECK_THAT(error_of([&] { z.mul_(2); }), says("This view was created inside a custom Function"));
  }
}

TEST_CASE("a view returned by a custom function may not be changed", "[autograd][custom][views]") {
  const Tensor x = filled({2, 2}, 1).requires_grad_();
  Tensor y = ReturnsView::apply(x * 1);
  CHECK_THAT(error_of([&] { y.mul_(2); }), says("This view was created inside a custom Function"));
}

TEST_CASE("which gradients are wanted", "[autograd][custom]") {
  const Tensor x = leaf({1});
  const Tensor y = leaf({1});
  Wanted::apply(x, values({1})).backward();
  CHECK(Wanted::last == std::vector<bool>{true, false, true});
  torch::autograd::grad({Wanted::apply(x, y)}, {y});
  CHECK(Wanted::last == std::vector<bool>{false, true, true});
}

TEST_CASE("lists and optional arguments", "[autograd][custom]") {
  const Tensor x = leaf({1});
  const Tensor y = leaf({2});
  const std::vector<Tensor> list{x, y};
  const Tensor z = ListOfInputs::apply(at::TensorList(list), std::optional<Variable>(), 3);
  CHECK(same(z, {5}));
  z.backward();
  CHECK(same(x.grad(), {10}));
  CHECK(same(y.grad(), {1}));
}

TEST_CASE("a vector of tensors is no input of a custom function", "[autograd][custom]") {
  const Tensor x = leaf({3});
  const std::vector<Tensor> weights{leaf({1}), leaf({2})};
  const Tensor z = WeightedByVector::apply(x, weights);
  CHECK(same(z, {9}));
  z.backward();
  CHECK(same(x.grad(), {3}));
  CHECK_FALSE(weights[0].grad().defined());
}

TEST_CASE("what a custom backward may not return", "[autograd][custom][errors]") {
  const Tensor x = leaf({1});
  CHECK_THAT(
      error_of([&] { WrongCount<1>::apply(x, 1.0).backward(); }),
      says("returned an incorrect number of gradients (expected 2, got 3)"));
  CHECK_THAT(
      error_of([&] { WrongCount<-1>::apply(x, 1.0).backward(); }),
      says("returned an incorrect number of gradients (expected 2, got 1)"));
  CHECK_THAT(
      error_of([&] { GradForNumber::apply(x, 1.0).backward(); }),
      says("returned a gradient different that is defined at position 2"));
  CHECK_THAT(
      error_of([] {
        WrongShape::apply(leaf({1, 2})).sum().backward();
      }),
      says("returned an invalid gradient at index 0 - got [7] but expected shape compatible with [2]"));
}

namespace {

// Knows in forward already which gradients may be asked for.
struct KeepsWhatIsNeeded : Function<KeepsWhatIsNeeded> {
  static Variable forward(AutogradContext* ctx, const Variable& x, const Variable& y) {
    ctx->save_for_backward({ctx->needs_input_grad(1) ? x : Variable(), ctx->needs_input_grad(0) ? y : Variable()});
    return x * y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    kept = {saved[0].defined(), saved[1].defined()};
    return {
        saved[1].defined() ? grads[0] * saved[1] : Variable(), saved[0].defined() ? grads[0] * saved[0] : Variable()};
  }
  static inline std::vector<bool> kept;
};

struct NoGradientForFirst : Function<NoGradientForFirst> {
  static Variable forward(AutogradContext*, const Variable& x, const Variable& y) {
    return x + y;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {Variable(), grads[0]};
  }
};

struct ManyKinds : Function<ManyKinds> {
  static variable_list forward(AutogradContext*, const Variable& x) {
    return {x * 2, Variable(), torch::complex(x, x), x.to(torch::kFloat).unsqueeze(0)};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    CHECK(grads[0].sizes() == torch::IntArrayRef({2}));
    CHECK_FALSE(grads[1].defined());
    CHECK(grads[2].scalar_type() == torch::kComplexDouble);
    CHECK(grads[3].scalar_type() == torch::kFloat);
    CHECK(grads[3].sizes() == torch::IntArrayRef({1, 2}));
    return {grads[0] * 2 + torch::real(grads[2]) + torch::imag(grads[2]) + grads[3].squeeze(0).to(torch::kDouble)};
  }
};

struct SwapsInPlace : Function<SwapsInPlace> {
  static variable_list forward(AutogradContext* ctx, Variable x, Variable y) {
    const Variable old = x.clone();
    x.copy_(y);
    y.copy_(old);
    ctx->mark_dirty({x, y});
    return {x, y};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[1], grads[0]};
  }
};

struct ExpOfExp : Function<ExpOfExp> {
  static Variable forward(AutogradContext* ctx, const Variable& x) {
    ctx->save_for_backward({x});
    return Exp::apply(x.exp());
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    // A graph within the backward pass, with a custom function in it.
    const torch::AutoGradMode record(true);
    const Variable x = ctx->get_saved_variables()[0].detach().requires_grad_();
    return {grads[0] * torch::autograd::grad({Exp::apply(x.exp())}, {x})[0]};
  }
};

} // namespace

TEST_CASE("needs_input_grad in forward", "[autograd][custom]") {
  const Tensor x = leaf({2});
  const Tensor y = leaf({5});
  KeepsWhatIsNeeded::apply(x, values({5})).backward();
  CHECK(KeepsWhatIsNeeded::kept == std::vector<bool>{false, true});
  CHECK(same(x.grad(), {5}));
  KeepsWhatIsNeeded::apply(x, y).backward();
  CHECK(KeepsWhatIsNeeded::kept == std::vector<bool>{true, true});
  CHECK(same(y.grad(), {2}));
}

TEST_CASE("a custom function may give no gradient", "[autograd][custom]") {
  const Tensor x = leaf({2});
  const Tensor y = leaf({5});
  const Tensor inner = x * 3;
  NoGradientForFirst::apply(inner, y).backward();
  CHECK_FALSE(x.grad().defined());
  CHECK(same(y.grad(), {1}));
  // Together with one from elsewhere that one counts.
  const Tensor again = x * 3;
  (NoGradientForFirst::apply(again, y) + again).backward();
  CHECK(same(x.grad(), {3}));
}

TEST_CASE("gradients of zeros fit the outputs they stand for", "[autograd][custom]") {
  const Tensor x = leaf({1, 2});
  const size_t used = GENERATE(0, 2, 3);
  const variable_list outputs = ManyKinds::apply(x);
  CHECK_FALSE(outputs[1].defined());
  torch::real(outputs[used]).sum().backward();
  CHECK(same(x.grad(), used == 0 ? values({2, 2}) : values({1, 1})));
}

TEST_CASE("a custom function that changes two inputs", "[autograd][custom][inplace]") {
  const Tensor a = leaf({1});
  const Tensor b = leaf({2});
  Tensor x = a * 1;
  Tensor y = b * 1;
  SwapsInPlace::apply(x, y);
  CHECK(same(x.detach(), {2}));
  (x * 10 + y * 100).backward();
  CHECK(same(a.grad(), {100}));
  CHECK(same(b.grad(), {10}));
}

TEST_CASE("custom functions within custom functions", "[autograd][custom]") {
  const Tensor x = leaf({0.5});
  ExpOfExp::apply(x).backward();
  const Tensor e = x.detach().exp();
  CHECK(same(x.grad(), e.exp() * e));
}
