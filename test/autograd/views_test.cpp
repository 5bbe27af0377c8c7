#include "support.h"

using namespace autograd_test;

namespace {

const char* const kViewOfLeaf = "a view of a leaf Variable that requires grad is being used in an in-place operation";
const char* const kLeaf = "a leaf Variable that requires grad is being used in an in-place operation";

} // namespace

TEST_CASE("views know their base", "[autograd][views]") {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor v = x.view({2, 2});
  const Tensor w = v.select(0, 1);
  CHECK(v.is_view());
  CHECK(w.is_view());
  CHECK(w._base().is_same(x));
  CHECK_FALSE(x.is_view());
  CHECK_FALSE((x * 2).is_view());
  CHECK_FALSE(x.detach().is_view());
  CHECK_THAT(error_of([&] { x._base(); }), says("Can't get base of non-view Tensor"));
  CHECK(values({1, 2}).select(0, 0).is_view());
}

TEST_CASE("views share a version with their base", "[autograd][views]") {
  Tensor x = values({1, 2, 3});
  const Tensor v = x.slice(0, 1);
  const Tensor d = x.detach();
  const Tensor data = x.data();
  CHECK(x._version() == 0);
  v.add_(1);
  CHECK(x._version() == 1);
  x.mul_(2);
  CHECK(v._version() == 2);
  CHECK(d._version() == 2);
  CHECK(data._version() == 0);
  x.zero_();
  x.fill_(3);
  CHECK(v._version() == 4);
}

TEST_CASE("in-place operators take part in the graph", "[autograd][inplace]") {
  const Tensor x = leaf({2, 3});
  Tensor y = x * 1;
  y.mul_(x);
  y.add_(x);
  y.sum().backward();
  CHECK(same(x.grad(), {5, 7}));

  SECTION("a tensor without history gets one") {
    Tensor z = values({1, 1});
    CHECK(z.is_leaf());
    z.mul_(x);
    CHECK_FALSE(z.is_leaf());
    CHECK(z.requires_grad());
    x.mutable_grad().reset();
    z.sum().backward();
    CHECK(same(x.grad(), {1, 1}));
  }
}

TEST_CASE("leaves may not be changed in place", "[autograd][inplace][errors]") {
  Tensor x = leaf({2, 3});
  CHECK_THAT(error_of([&] { x.add_(1); }), says(kLeaf));
  CHECK_THAT(error_of([&] { x.view({2, 1}).mul_(2); }), says(kViewOfLeaf));
  CHECK_THAT(error_of([&] { x[0].zero_(); }), says(kViewOfLeaf));
  CHECK_THAT(error_of([&] { x.copy_(values({1, 2})); }), says(kLeaf));
  CHECK(same(x, {2, 3}));
  CHECK(x._version() == 0);
  {
    torch::NoGradGuard no_grad;
    x.add_(1);
    x[0].zero_();
  }
  CHECK(same(x, {0, 4}));
  CHECK(x._version() == 2);
  CHECK(x.is_leaf());

  SECTION("a leaf without a gradient may, by one with") {
    Tensor z = values({1, 2});
    z.slice(0, 0, 1).add_(x.slice(0, 1, 2));
    CHECK(z.requires_grad());
    z.sum().backward();
    CHECK(same(x.grad(), {0, 1}));
  }
}

TEST_CASE("a change of a view changes the base's history", "[autograd][views][inplace]") {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = leaf({10, 20});
  Tensor base = x * 1;
  Tensor view = base.slice(0, 1, 3);

  SECTION("by multiplication") {
    view.mul_(y);
    CHECK(same(base, {1, 20, 60, 4}));
    CHECK(base.grad_fn()->name().find("CopySlices") != std::string::npos);
    CHECK(view.grad_fn()->name() == "AsStridedBackward0");
    (base * values({1, 2, 3, 4})).sum().backward();
    CHECK(same(x.grad(), {1, 20, 60, 4}));
    CHECK(same(y.grad(), {4, 9}));
  }
  SECTION("by filling") {
    view.fill_(7);
    base.sum().backward();
    CHECK(same(x.grad(), {1, 0, 0, 1}));
  }
  SECTION("by copying") {
    view.copy_(y);
    (base * values({1, 2, 3, 4})).sum().backward();
    CHECK(same(x.grad(), {1, 0, 0, 4}));
    CHECK(same(y.grad(), {2, 3}));
  }
  SECTION("a broadcast copy") {
    const Tensor s = leaf({5});
    view.copy_(s);
    base.sum().backward();
    CHECK(same(s.grad(), {2}));
  }
  SECTION("the view's own gradient") {
    view.mul_(y);
    view.sum().backward();
    CHECK(same(x.grad(), {0, 10, 20, 0}));
    CHECK(same(y.grad(), {2, 3}));
  }
  SECTION("several changes of several views") {
    Tensor other = base.view({2, 2}).select(0, 1);
    view.mul_(2);
    other.mul_(3);
    view.add_(y);
    base.sum().backward();
    CHECK(same(x.grad(), {1, 2, 6, 3}));
    CHECK(same(y.grad(), {1, 1}));
  }
  SECTION("a view of a view") {
    Tensor inner = view.select(0, 1);
    inner.mul_(5);
    CHECK(same(view, {2, 15}));
    view.sum().backward();
    CHECK(same(x.grad(), {0, 1, 5, 0}));
  }
  SECTION("the base is changed") {
    base.mul_(4);
    CHECK(view.grad_fn()->name() == "AsStridedBackward0");
    view.sum().backward();
    CHECK(same(x.grad(), {0, 4, 4, 0}));
  }
  SECTION("a view made before the base had a history") {
    Tensor plain = values({1, 2, 3});
    Tensor v = plain.slice(0, 0, 2);
    CHECK_FALSE(v.requires_grad());
    plain.mul_(x.slice(0, 0, 3));
    CHECK(v.requires_grad());
    v.sum().backward();
    CHECK(same(x.grad(), {1, 2, 0, 0}));
  }
  SECTION("twice differentiated") {
    view.mul_(view * 1);
    const Tensor g = torch::autograd::grad({base.sum()}, {x}, {}, std::nullopt, true)[0];
    CHECK(same(g, {1, 4, 6, 1}));
    const Tensor gg = torch::autograd::grad({g.sum()}, {x}, {}, std::nullopt, false, true)[0];
    CHECK(same(gg, {0, 2, 2, 0}));
  }
}

TEST_CASE("two views of a constant may be changed in turn", "[autograd][views][inplace]") {
  const Tensor x = leaf({1, 1});
  const Tensor base = torch::zeros({4}, doubles());
  Tensor first = base.slice(0, 0, 2);
  Tensor second = base.slice(0, 1, 3);
  CHECK(second.is_leaf());
  first.add_(x);
  CHECK_FALSE(second.is_leaf());
  second.mul_(2);
  base.sum().backward();
  CHECK(same(x.grad(), {1, 2}));
}

TEST_CASE("in place on an output that the operator keeps, through a view", "[autograd][views][inplace]") {
  const Tensor x = leaf({0.5, 1});
  Tensor base = x * 1;
  Tensor view = base.select(0, 1);
  view.exp_();
  const Tensor g = torch::autograd::grad({base.sum()}, {x}, {}, std::nullopt, true)[0];
  CHECK(same(g, torch::stack({torch::ones({}, doubles()), x.detach()[1].exp()})));
  const Tensor gg = torch::autograd::grad({g.sum()}, {x})[0];
  CHECK(same(gg, torch::stack({torch::zeros({}, doubles()), x.detach()[1].exp()})));
}

TEST_CASE("views of several outputs", "[autograd][views][errors]") {
  const Tensor x = leaf({1, 2, 3, 4});
  Tensor base = x * 1;

  SECTION("may be read") {
    const std::vector<Tensor> parts = base.split(2);
    (parts[0] * parts[1]).sum().backward();
    CHECK(same(x.grad(), {3, 4, 1, 2}));
  }
  SECTION("only one of them is used") {
    base.unbind()[2].backward();
    CHECK(same(x.grad(), {0, 0, 1, 0}));
  }
  SECTION("may not be changed while recording") {
    Tensor part = base.unbind()[1];
    const std::string message = error_of([&] { part.mul_(2); });
    CHECK_THAT(message, says("is a view and is being modified inplace"));
    CHECK_THAT(message, says("This view is the output of a function that returns multiple views"));
    torch::NoGradGuard no_grad;
    part.mul_(2);
    CHECK(same(base, {1, 4, 3, 4}));
  }
  SECTION("nor used after the base was changed") {
    Tensor part = base.split(2)[0];
    base.mul_(2);
    CHECK_THAT(
        error_of([&] { part.grad_fn(); }),
        says("is a view and its base or another view of its base has been modified inplace"));
  }
}

TEST_CASE("views made without recording", "[autograd][views][errors]") {
  const Tensor x = leaf({1, 2, 3});
  Tensor base = x * 1;
  Tensor view;
  {
    torch::NoGradGuard no_grad;
    view = base.slice(0, 1);
  }
  CHECK(view.is_view());
  CHECK(view.requires_grad());
  CHECK_THAT(
      error_of([&] { view.mul_(2); }),
      says("A view was created in no_grad mode and is being modified inplace with grad mode enabled"));

  SECTION("may be changed without recording") {
    torch::NoGradGuard no_grad;
    view.mul_(2);
    CHECK(same(base, {1, 4, 6}));
  }
  SECTION("and then have no history") {
    base.mul_(2);
    CHECK_THAT(
        error_of([&] { view.grad_fn(); }),
        says("A view was created in no_grad mode and its base or another view of its base has been modified inplace"));
  }

  SECTION("of a leaf") {
    Tensor v;
    {
      torch::NoGradGuard no_grad;
      v = x.view({3, 1});
    }
    CHECK_THAT(error_of([&] { v.mul_(2); }), says("A view was created in no_grad mode"));
  }
  SECTION("a view of such a view") {
    Tensor v = view.slice(0, 0, 1);
    CHECK_THAT(error_of([&] { v.mul_(2); }), says("is a view of a view which was created in no_grad mode"));
  }
}

TEST_CASE("detach", "[autograd][views]") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  Tensor d = y.detach();
  CHECK_FALSE(d.requires_grad());
  CHECK(d.is_leaf());
  CHECK(d.data_ptr() == y.data_ptr());
  d.add_(1);
  CHECK(same(y, {4, 7}));

  SECTION("in place") {
    Tensor z = x * 2;
    z.detach_();
    CHECK_FALSE(z.requires_grad());
    CHECK(z.is_leaf());
    Tensor view = (x * 2).view({2, 1});
    CHECK_THAT(error_of([&] { view.detach_(); }), says("Can't detach views in-place. Use detach() instead"));
  }
}

TEST_CASE("as_strided over overlapping memory", "[autograd][views]") {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor windows = x.as_strided({3, 2}, {1, 1});
  windows.backward(torch::tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}, doubles()));
  CHECK(same(x.grad(), {1, 5, 9, 6}));
}

TEST_CASE("expanded tensors in place", "[autograd][views]") {
  const Tensor x = leaf({2});
  const Tensor wide = (x * 1).expand({3});
  (wide * values({1, 2, 3})).sum().backward();
  CHECK(same(x.grad(), {6}));
}

TEST_CASE("complex views in place", "[autograd][views][complex]") {
  const Tensor x = leaf({1, 2, 3, 4});
  Tensor base = (x * 1).view({2, 2});
  Tensor complex = torch::view_as_complex(base);
  CHECK(complex.is_view());
  complex.mul_(c10::complex<double>(0, 1));
  CHECK(same(base.reshape({4}), {-2, 1, -4, 3}));
  (base.reshape({4}) * values({1, 10, 100, 1000})).sum().backward();
  CHECK(same(x.grad(), {10, -1, 1000, -100}));
}

TEST_CASE("sizes changed in place", "[autograd][views][inplace]") {
  const Tensor x = torch::ones({2, 3}, doubles()).requires_grad_();
  const Tensor weight = torch::arange(6, doubles()).view({2, 3});
  Tensor base = x * 2;
  Tensor view = base.view({2, 3});
  SECTION("of a view leave the base alone") {
    view.t_();
    CHECK(base.grad_fn()->name() == "MulBackward1");
    (base * weight).sum().backward();
    CHECK(same(x.grad(), weight * 2));
  }
  SECTION("of a view which is then used") {
    view.t_();
    (view * weight.t()).sum().backward();
    CHECK(same(x.grad(), weight * 2));
  }
  SECTION("of a view which is then changed") {
    view.t_();
    view.mul_(weight.t());
    (base * weight).sum().backward();
    CHECK(same(x.grad(), weight * weight * 2));
  }
  SECTION("without recording") {
    {
      torch::NoGradGuard no_grad;
      view.t_();
    }
    (view * weight.t()).sum().backward();
    CHECK(same(x.grad(), weight * 2));
  }
  SECTION("of a part, by as_strided_") {
    view.as_strided_({2}, {3}, 1);
    view.mul_(10);
    base.sum().backward();
    CHECK(same(x.grad(), torch::tensor({{2, 20, 2}, {2, 20, 2}}, doubles())));
  }
  SECTION("of the base, before other views are used") {
    base.t_();
    (view * weight).sum().backward();
    CHECK(same(x.grad(), weight * 2));
  }
  SECTION("not of leaves") {
    Tensor w = leaf({1, 2});
    CHECK_THAT(error_of([&] { w.unsqueeze_(0); }), says("a leaf Variable that requires grad"));
    CHECK(w.dim() == 1);
  }
}

TEST_CASE("sizes of a view by numbers of another dtype are changed in place", "[autograd][views][inplace][complex]") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor base = torch::complex(x, x);
  Tensor view = torch::view_as_real(base); // [3, 2]
  view.t_();
  SECTION("and then a part of it") {
    view.select(0, 0).mul_(5);
    (torch::view_as_real(base) * values({1, 10})).sum().backward();
    CHECK(same(x.grad(), {15, 15, 15}));
  }
  SECTION("and then the base") {
    base.mul_(2);
    (view * values({1, 10}).view({2, 1})).sum().backward();
    CHECK(same(x.grad(), {22, 22, 22}));
  }
  SECTION("where the base begins within its memory") {
    const Tensor w = leaf({2});
    const Tensor part = torch::zeros({6, 2}, doubles()).slice(0, 2, 5).detach();
    torch::view_as_real(torch::view_as_complex(part)).select(1, 1).copy_(w.expand({3}));
    (part * torch::arange(6, doubles()).view({3, 2})).sum().backward();
    CHECK(same(w.grad(), {1 + 3 + 5}));
  }
}

TEST_CASE("a long way of views from numbers of another dtype", "[autograd][views][complex]") {
  const Tensor x = leaf({1, 2});
  Tensor view = torch::view_as_real(torch::complex(x, x));
  for (int i = 0; i < 200; ++i) {
    view = view.t();
  }
  view.mul_(2);
  view.sum().backward();
  CHECK(same(x.grad(), {4, 4}));
}

TEST_CASE("a tensor that requires grad has a size", "[autograd][views][errors]") {
  Tensor w = leaf({1, 2});
  CHECK_THAT(error_of([&] { w.resize_({3}); }), says("cannot resize variables that require grad"));
  Tensor inner = w * 1;
  CHECK_THAT(error_of([&] { inner.resize_as_(values({1})); }), says("cannot resize variables that require grad"));
  CHECK_THAT(error_of([&] { w.set_(values({1})); }), says("a leaf Variable that requires grad"));
  CHECK(w.numel() == 2);
  Tensor plain = values({1, 2});
  plain.resize_({2});
  plain.resize_as_(plain);
  CHECK(plain._version() == 0); // nothing has changed
  plain.resize_({1, 2});
  CHECK(plain._version() == 1);
  inner.set_(values({5}));
  CHECK_THAT(error_of([&] { inner.backward(values({1})); }), says("derivative for set_ is not implemented"));
  torch::NoGradGuard no_grad;
  w.set_(values({7}));
  CHECK(same(w.detach(), {7}));
}

TEST_CASE("a view made without recording stays a leaf", "[autograd][views]") {
  const Tensor base = leaf({1, 2}) * 1;
  Tensor plain;
  Tensor inference;
  {
    torch::NoGradGuard no_grad;
    plain = base.view({2});
    plain.mul_(2);
  }
  {
    c10::InferenceMode mode;
    inference = base.view({2});
    inference.mul_(2);
  }
  CHECK(plain.is_leaf());
  CHECK(inference.is_leaf());
  CHECK_THAT(error_of([&] { plain.sum(); }), says("A view was created in no_grad mode"));
}

TEST_CASE("composite operators end in the nodes that PyTorch ends them in", "[views]") {
  const auto grad = torch::requires_grad();
  const torch::Tensor a = torch::rand({3, 4}, grad), b = torch::rand({4, 3}, grad), v = torch::rand({4}, grad);
  const torch::Tensor c = torch::rand({2, 3, 4}, grad);
  const auto name = [](const torch::Tensor& t) { return t.grad_fn()->name(); };
  // reshape is view where the tensor is contiguous, another view where strides allow it, else a copy.
  CHECK(name(a.reshape({4, 3})) == "ViewBackward0");
  CHECK(name(c.transpose(0, 1).reshape({3, 2, 2, 2})) == "ReshapeAliasBackward0");
  CHECK(name(a.t().reshape({12})) == "UnsafeViewBackward0");
  CHECK(name(a.reshape_as(b)) == "ViewBackward0");
  CHECK(name(a.flatten()) == "ViewBackward0");
  CHECK(name(torch::inner(a, v)) == "ViewBackward0");
  CHECK(name(torch::tensordot(a, b, {1}, {0})) == "ViewBackward0");
  CHECK(name(torch::repeat_interleave(a, 2)) == "ViewBackward0");
  CHECK(name(torch::kron(a, b)) == "UnsafeViewBackward0");
  CHECK(name(torch::kron(a.t(), b)) == "UnsafeViewBackward0");
  CHECK(name(torch::matmul(v, b)) == "SqueezeBackward4");
  CHECK(name(torch::linear(c, a, torch::rand({3}))) == "UnsafeViewBackward0");
  // What has no gradient in place leaves the history as it is.
  CHECK(name(a.clone().logical_and_(a)) == "CloneBackward0");
  CHECK(name(a.clone().logical_not_()) == "CloneBackward0");
}
