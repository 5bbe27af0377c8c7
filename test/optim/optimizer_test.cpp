// Groups, closures, hooks, saved state, and refusals of optimizers.
#include <catch2/catch.hpp>

#include <aten/core/ivalue.h>
#include <csrc/optim/adadelta.h>
#include <csrc/optim/adagrad.h>
#include <csrc/optim/adam.h>
#include <csrc/optim/adamax.h>
#include <csrc/optim/adamw.h>
#include <csrc/optim/asgd.h>
#include <csrc/optim/lbfgs.h>
#include <csrc/optim/nadam.h>
#include <csrc/optim/radam.h>
#include <csrc/optim/rmsprop.h>
#include <csrc/optim/rprop.h>
#include <csrc/optim/sgd.h>
#include <csrc/optim/swa_utils.h>
#include <csrc/serialize/serialize.h>

#include "test/optim/support.h"
#include "test/support/matchers.h"

#include <sstream>
#include <string>
#include <vector>

using at::Tensor;
using namespace torch::optim;
using test::EqualsTensor;
using test::Says;

namespace {

using Betas = std::tuple<double, double>;

Tensor leaf(std::initializer_list<double> values, at::ScalarType dtype = at::kFloat) {
  return torch::tensor(std::vector<double>(values), at::kDouble).to(dtype).set_requires_grad(true);
}

void set_grad(const Tensor& param, double value) {
  param.mutable_grad() = at::full_like(param.detach(), value);
}

void check_near(const Tensor& got, const Tensor& expected, double tolerance) {
  CHECK(at::allclose(got.to(at::kDouble), expected.to(at::kDouble), tolerance, tolerance));
}

} // namespace

TEST_CASE("groups keep the options they set and inherit the others", "[optim]") {
  const Tensor a = leaf({1}), b = leaf({1}), c = leaf({1});
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{a}, std::make_unique<AdamOptions>(AdamOptions().weight_decay(0.1)));
  groups.emplace_back(std::vector<Tensor>{b});
  Adam optimizer(groups, AdamOptions(0.01).weight_decay(0.05).betas(Betas(0.5, 0.6)));
  const auto options = [&](size_t i) -> AdamOptions& {
    return static_cast<AdamOptions&>(optimizer.param_groups()[i].options());
  };
  CHECK(options(0).lr() == 0.01);
  CHECK(options(0).weight_decay() == 0.1);
  CHECK(options(0).betas() == Betas(0.5, 0.6));
  CHECK(options(1) == static_cast<AdamOptions&>(optimizer.defaults()));
  CHECK_FALSE(options(0) == options(1));

  CHECK_THROWS_MATCHES(optimizer.add_param_group({{c * 2}}), c10::Error, Says("can't optimize a non-leaf Tensor"));
  CHECK_THROWS_MATCHES(optimizer.add_param_group({{Tensor()}}), c10::Error, Says("undefined"));
  optimizer.add_param_group({{c}});
  CHECK(optimizer.size() == 3);
  CHECK(optimizer.parameters().size() == 1);
  options(2).set_lr(0.5);
  for (const Tensor& p : {a, b, c}) {
    set_grad(p, 1);
  }
  optimizer.step();
  check_near(c, torch::tensor({0.5}), 1e-6);
  check_near(b, torch::tensor({0.99}), 1e-6);
  CHECK_THROWS_MATCHES(
      optimizer.add_param_group({{a}}), c10::Error, Says("some parameters appear in more than one parameter group"));
}

TEST_CASE("weights that two groups share are stepped by both", "[optim]") {
  const Tensor tied = leaf({1}), own = leaf({1});
  SGD optimizer({OptimizerParamGroup({tied}), OptimizerParamGroup({own, tied})}, SGDOptions(0.1));
  set_grad(tied, 1);
  optimizer.step();
  check_near(tied, torch::tensor({0.8}), 1e-6);
}

TEST_CASE("gradients of another precision are taken in the parameter's", "[optim]") {
  const auto step = [](at::ScalarType type, auto make) {
    const Tensor param = leaf({1, 2});
    param.mutable_grad() = torch::tensor({0.5, -0.25}, type);
    make(param)->step();
    make(param)->step();
    return param.detach();
  };
  const auto check = [&](auto make) {
    const Tensor expected = step(at::kFloat, make);
    for (const auto type : {at::kHalf, at::kBFloat16, at::kDouble}) {
      const Tensor result = step(type, make);
      CHECK(result.scalar_type() == at::kFloat);
      check_near(result, expected, 1e-6);
    }
  };
  const auto params = [](const Tensor& p) { return std::vector<Tensor>{p}; };
  check([&](const Tensor& p) { return std::make_unique<SGD>(params(p), SGDOptions(0.1).momentum(0.9)); });
  check([&](const Tensor& p) { return std::make_unique<Adam>(params(p), AdamOptions(0.1)); });
  check([&](const Tensor& p) { return std::make_unique<AdamW>(params(p), AdamWOptions(0.1)); });
  check([&](const Tensor& p) { return std::make_unique<Adagrad>(params(p), AdagradOptions(0.1)); });
  check([&](const Tensor& p) { return std::make_unique<RMSprop>(params(p), RMSpropOptions(0.1).momentum(0.5)); });
}

TEST_CASE("the archive of another kind of optimizer is refused", "[optim]") {
  const Tensor p = leaf({1, 2});
  set_grad(p, 1);
  const auto saved = [](Optimizer& optimizer) {
    optimizer.step();
    std::ostringstream stream;
    torch::save(optimizer, stream);
    return stream.str();
  };
  const auto load = [](Optimizer&& optimizer, const std::string& bytes) {
    std::istringstream stream(bytes);
    torch::load(optimizer, stream);
  };
  SGD sgd({p}, SGDOptions(0.1).momentum(0.9));
  Adam adam({p}, AdamOptions(0.1));
  RMSprop rmsprop({p}, RMSpropOptions(0.1));
  const std::string of_sgd = saved(sgd), of_adam = saved(adam), of_rmsprop = saved(rmsprop);
  CHECK_THROWS_MATCHES(load(SGD({p}, SGDOptions(0.1)), of_adam), c10::Error, Says("another kind of optimizer"));
  CHECK_THROWS_MATCHES(load(SGD({p}, SGDOptions(0.1)), of_rmsprop), c10::Error, Says("another kind of optimizer"));
  Adam other({p}, AdamOptions(0.5));
  std::istringstream stream(of_sgd);
  CHECK_THROWS_MATCHES(torch::load(other, stream), c10::Error, Says("another kind of optimizer"));
  CHECK(other.param_groups()[0].options().get_lr() == 0.5);
  load(AdamW({p}, AdamWOptions(0.1)), of_adam); // the same fields
}

namespace {

class KeptWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    texts.push_back(warning.msg());
  }
  std::vector<std::string> texts;
};

} // namespace

TEST_CASE("older ways to an optimizer's parameters warn", "[optim]") {
  SGD optimizer({at::zeros({1}).requires_grad_()}, 0.1);
  KeptWarnings kept;
  const c10::WarningUtils::WarningHandlerGuard guard(&kept);
  CHECK(optimizer.size() == 1);
  CHECK(optimizer.parameters().size() == 1);
  optimizer.add_parameters({at::zeros({1}).requires_grad_()});
  REQUIRE(kept.texts.size() == 3);
  CHECK(kept.texts[0] == "Optimizer::size() will be removed in PyTorch 1.6");
  CHECK(kept.texts[1] == "Optimizer::parameters() will be removed in PyTorch 1.6");
}

TEST_CASE("the closure runs with gradients and its value is returned", "[optim]") {
  const auto params = test::parameters(at::kDouble);
  SGD optimizer(params, 0.01);
  const c10::NoGradGuard no_grad;
  const double first = test::loss(params).item<double>();
  const Tensor value = optimizer.step([&] {
    const c10::AutoGradMode enabled(c10::GradMode::is_enabled());
    CHECK(c10::GradMode::is_enabled());
    return test::closure(optimizer, params)();
  });
  CHECK(value.item<double>() == first);
  CHECK(test::loss(params).item<double>() < first);
  CHECK_FALSE(optimizer.step().defined());
}

TEST_CASE("parameters without a gradient stay", "[optim]") {
  const Tensor a = leaf({1, 2}), b = leaf({3});
  AdamW optimizer({a, b}, 0.1);
  set_grad(a, 1);
  optimizer.step();
  CHECK_THAT(b, EqualsTensor({3}));
  CHECK(optimizer.state().size() == 1);
  optimizer.zero_grad();
  CHECK_FALSE(a.grad().defined());
  set_grad(a, 1);
  optimizer.zero_grad(false);
  CHECK_THAT(a.grad(), EqualsTensor({0, 0}));
}

TEST_CASE("SGD keeps nothing before there is momentum", "[optim]") {
  const Tensor a = leaf({1, 2});
  SGD optimizer({a}, 0.5);
  auto& options = static_cast<SGDOptions&>(optimizer.param_groups()[0].options());
  const auto step = [&] {
    set_grad(a, 1);
    optimizer.step();
  };
  step();
  CHECK(optimizer.state().empty());
  options.momentum(0.5);
  step();
  CHECK(optimizer.state().size() == 1);
  step();
  CHECK_THAT(a, EqualsTensor({-0.75, 0.25}));
  options.momentum(0);
  step();
  CHECK_THAT(a, EqualsTensor({-1.25, -0.25}));
}

TEST_CASE("a step changes parameters under autograd's eyes", "[optim]") {
  const Tensor a = leaf({1, 2});
  SGD optimizer({a}, 0.5);
  const Tensor y = (a * a).sum();
  set_grad(a, 1);
  const auto version = a._version();
  optimizer.step();
  CHECK(a._version() > version);
  CHECK_THROWS_MATCHES(y.backward(), c10::Error, Says("modified by an inplace operation"));
}

TEST_CASE("hooks run around a step until they are removed", "[optim]") {
  const Tensor a = leaf({1});
  SGD optimizer({a}, 0.5);
  set_grad(a, 1);
  std::vector<double> seen;
  auto before = optimizer.register_step_pre_hook([&](Optimizer&) { seen.push_back(a.item<double>()); });
  auto after = optimizer.register_step_post_hook([&](Optimizer& o) {
    CHECK(&o == &optimizer);
    seen.push_back(a.item<double>());
  });
  optimizer.step();
  CHECK(seen == std::vector<double>{1, 0.5});
  before.remove();
  optimizer.step();
  CHECK(seen == std::vector<double>{1, 0.5, 0});
  after.remove();
  after.remove();
  optimizer.step();
  CHECK(seen.size() == 3);
}

TEST_CASE("an optimizer goes on from its dictionary", "[optim][state]") {
  const auto check = [](const char* name, const auto& make) {
    INFO(name);
    const auto first = test::parameters(at::kDouble);
    const auto whole = make(first);
    for (int i = 0; i < 9; ++i) {
      whole->step(test::closure(*whole, first));
    }

    const auto second = test::parameters(at::kDouble);
    auto part = make(second);
    for (int i = 0; i < 4; ++i) {
      part->step(test::closure(*part, second));
    }
    const auto third = test::parameters(at::kDouble);
    auto rest = make(third);
    rest->param_groups()[0].options().set_lr(123);
    rest->load_state_dict(part->state_dict());
    {
      const c10::NoGradGuard no_grad;
      for (size_t i = 0; i < third.size(); ++i) {
        third[i].copy_(second[i]);
      }
    }
    part.reset();
    for (int i = 4; i < 9; ++i) {
      rest->step(test::closure(*rest, third));
    }
    CHECK(test::numbers(first) == test::numbers(third));
  };
#define CHECK_GOES_ON(T, options) \
  check(#T, [](const std::vector<Tensor>& p) { return std::make_unique<T>(p, options); })
  CHECK_GOES_ON(SGD, SGDOptions(0.01).momentum(0.9));
  CHECK_GOES_ON(Adam, AdamOptions(0.01).amsgrad(true));
  CHECK_GOES_ON(AdamW, AdamWOptions(0.01));
  CHECK_GOES_ON(Adagrad, AdagradOptions(0.01).lr_decay(0.1));
  CHECK_GOES_ON(RMSprop, RMSpropOptions(0.01).centered(true).momentum(0.5));
  CHECK_GOES_ON(Adadelta, AdadeltaOptions());
  CHECK_GOES_ON(Adamax, AdamaxOptions());
  CHECK_GOES_ON(NAdam, NAdamOptions());
  CHECK_GOES_ON(RAdam, RAdamOptions());
  CHECK_GOES_ON(Rprop, RpropOptions());
  CHECK_GOES_ON(ASGD, ASGDOptions().t0(3));
  CHECK_GOES_ON(LBFGS, LBFGSOptions(0.1).max_iter(3).line_search_fn("strong_wolfe"));
#undef CHECK_GOES_ON
}

TEST_CASE("dictionaries have Python's structure", "[optim][state]") {
  const Tensor a = leaf({1}), b = leaf({2});
  Adam optimizer({a, b}, AdamOptions(0.25));
  set_grad(b, 1);
  optimizer.step();
  const auto whole = optimizer.state_dict().toGenericDict();
  const auto state = whole.at(std::string("state")).toGenericDict();
  CHECK(state.size() == 1);
  const auto of_b = state.at(int64_t{1}).toGenericDict();
  CHECK(of_b.at(std::string("step")).toTensor().item<double>() == 1);
  CHECK(of_b.at(std::string("exp_avg"))
            .toTensor()
            .is_same(static_cast<AdamParamState&>(*optimizer.state().at(b.unsafeGetTensorImpl())).exp_avg()));
  CHECK_FALSE(of_b.contains(std::string("max_exp_avg_sq")));
  const auto group = whole.at(std::string("param_groups")).toListRef()[0].toGenericDict();
  CHECK(group.at(std::string("lr")).toDouble() == 0.25);
  CHECK(group.at(std::string("betas")).toTupleRef().elements()[0].toDouble() == 0.9);
  CHECK(group.at(std::string("params")).toIntVector() == std::vector<int64_t>{0, 1});

  Adam one({a}, AdamOptions());
  CHECK_THROWS_MATCHES(
      one.load_state_dict(optimizer.state_dict()), c10::Error, Says("doesn't match the size of optimizer's group"));
  one.add_param_group({{b}});
  CHECK_THROWS_MATCHES(
      one.load_state_dict(optimizer.state_dict()), c10::Error, Says("different number of parameter groups"));
  CHECK_THROWS(one.load_state_dict(c10::IValue(3)));
}

TEST_CASE("options out of range are refused in libtorch's words", "[optim][errors]") {
  const std::vector<Tensor> p{leaf({1})};
  CHECK_THROWS_MATCHES(SGD(p, -1), c10::Error, Says("Invalid learning rate: -1"));
  CHECK_THROWS_MATCHES(SGD(p, SGDOptions(1).momentum(-1)), c10::Error, Says("Invalid momentum value: -1"));
  CHECK_THROWS_MATCHES(SGD(p, SGDOptions(1).weight_decay(-1)), c10::Error, Says("Invalid weight_decay value: -1"));
  CHECK_THROWS_MATCHES(
      SGD(p, SGDOptions(1).nesterov(true)), c10::Error,
      Says("Nesterov momentum requires a momentum and zero dampening"));
  CHECK_THROWS_MATCHES(Adam(p, -1), c10::Error, Says("Invalid learning rate: -1"));
  CHECK_THROWS_MATCHES(Adam(p, AdamOptions().eps(-1)), c10::Error, Says("Invalid epsilon value: -1"));
  CHECK_THROWS_MATCHES(
      Adam(p, AdamOptions().betas(Betas(1, 0.5))), c10::Error, Says("Invalid beta parameter at index 0: 1"));
  CHECK_THROWS_MATCHES(
      AdamW(p, AdamWOptions().betas(Betas(0.5, 1.5))), c10::Error, Says("Invalid beta parameter at index 1: 1.5"));
  CHECK_THROWS_MATCHES(AdamW(p, AdamWOptions().weight_decay(-1)), c10::Error, Says("Invalid weight_decay value: -1"));
  CHECK_THROWS_MATCHES(Adam(p, std::nan("")), c10::Error, Says("Invalid learning rate"));
  CHECK_THROWS_MATCHES(Adagrad(p, AdagradOptions().lr_decay(-1)), c10::Error, Says("Invalid lr_decay value: -1"));
  CHECK_THROWS_MATCHES(
      Adagrad(p, AdagradOptions().initial_accumulator_value(-1)), c10::Error,
      Says("Invalid initial_accumulator_value value: -1"));
  CHECK_THROWS_MATCHES(RMSprop(p, RMSpropOptions().alpha(-1)), c10::Error, Says("Invalid alpha value: -1"));
  CHECK_THROWS_MATCHES(Adadelta(p, AdadeltaOptions().rho(2)), c10::Error, Says("Invalid rho value: 2"));
  CHECK_THROWS_MATCHES(
      NAdam(p, NAdamOptions().momentum_decay(-1)), c10::Error, Says("Invalid momentum_decay value: -1"));
  CHECK_THROWS_MATCHES(
      RAdam(p, RAdamOptions().betas(Betas(-1, 0))), c10::Error, Says("Invalid beta parameter at index 0: -1"));
  CHECK_THROWS_MATCHES(Adamax(p, AdamaxOptions().eps(-1)), c10::Error, Says("Invalid epsilon value: -1"));
  CHECK_THROWS_MATCHES(
      Rprop(p, RpropOptions().etas(Betas(1.5, 1.2))), c10::Error, Says("Invalid eta values: 1.5, 1.2"));
  CHECK_THROWS_MATCHES(ASGD(p, ASGDOptions().lambd(-1)), c10::Error, Says("Invalid lambd value: -1"));
  LBFGS lbfgs(p);
  CHECK_THROWS_MATCHES(lbfgs.step(nullptr), c10::Error, Says("LBFGS requires a closure function"));
  CHECK_THROWS_MATCHES(lbfgs.step([] { return Tensor(); }), c10::Error, Says("must return the loss"));
  CHECK_THROWS_MATCHES(lbfgs.add_param_group({{p[0]}}), c10::Error, Says("more than one parameter group"));
  CHECK_THROWS_MATCHES(
      (LBFGS(std::vector<OptimizerParamGroup>{{{leaf({1})}}, {{leaf({2})}}})), c10::Error,
      Says("LBFGS doesn't support per-parameter options"));
  LBFGS other(p, LBFGSOptions().line_search_fn("armijo"));
  CHECK_THROWS_MATCHES(other.step([] { return at::zeros({}); }), c10::Error, Says("only 'strong_wolfe' is supported"));
}

TEST_CASE("strided, complex and 16-bit parameters step like contiguous real ones", "[optim]") {
  const auto check = [](const char* name, const auto& make) {
    INFO(name);
    const Tensor values = at::linspace(-1, 1, 12, at::kDouble).view({3, 4}),
                 grad = at::linspace(2, -1, 12, at::kDouble).view({3, 4});
    const auto run = [&](const Tensor& param, const Tensor& g, bool fused) {
      const auto optimizer = make(std::vector<Tensor>{param}, fused);
      for (int i = 0; i < 5; ++i) {
        param.mutable_grad() = g * (i + 1);
        optimizer->step();
      }
      return param.detach();
    };
    const Tensor plain = run(values.clone().set_requires_grad(true), grad, true);
    for (const bool fused : {true, false}) {
      check_near(run(values.t().clone().t().set_requires_grad(true), grad, fused), plain, 1e-12);
      const Tensor spaced = at::zeros({3, 8}, at::kDouble).slice(1, 0, 8, 2);
      spaced.copy_(values);
      check_near(run(spaced.detach().set_requires_grad(true), grad.t().clone().t(), fused), plain, 1e-12);
      const Tensor pairs = at::view_as_complex(values.view({3, 2, 2}).clone()).set_requires_grad(true);
      check_near(
          at::view_as_real(run(pairs, at::view_as_complex(grad.view({3, 2, 2}).clone()), fused)).reshape({3, 4}), plain,
          1e-12);
      for (const auto dtype : {at::kHalf, at::kBFloat16}) {
        check_near(
            run(values.to(dtype).set_requires_grad(true), grad.to(dtype), fused), plain,
            dtype == at::kHalf ? 4e-3 : 3e-2);
      }
    }
  };
#define CHECK_LAYOUTS(T, options) \
  check(#T, [](const std::vector<Tensor>& p, bool fused) { return std::make_unique<T>(p, (options).fused(fused)); })
  CHECK_LAYOUTS(SGD, SGDOptions(0.01).momentum(0.9));
  CHECK_LAYOUTS(Adam, AdamOptions(0.01).eps(1e-4));
  CHECK_LAYOUTS(Adagrad, AdagradOptions(0.01).initial_accumulator_value(0.5));
  CHECK_LAYOUTS(RMSprop, RMSpropOptions(0.01).centered(true).momentum(0.5).eps(1e-2));
  CHECK_LAYOUTS(Adadelta, AdadeltaOptions().eps(1e-3));
  CHECK_LAYOUTS(Adamax, AdamaxOptions());
  CHECK_LAYOUTS(NAdam, NAdamOptions().eps(1e-4));
  CHECK_LAYOUTS(RAdam, RAdamOptions().eps(1e-4));
  CHECK_LAYOUTS(Rprop, RpropOptions());
  CHECK_LAYOUTS(ASGD, ASGDOptions().t0(2));
#undef CHECK_LAYOUTS
}

TEST_CASE("many parameters of all sizes take the same step as each alone", "[optim]") {
  std::vector<Tensor> together, alone;
  for (const int64_t n : {0, 1, 3, 16, 17, 1000, 40000, 70001}) {
    const Tensor p = at::arange(n, at::kFloat).sin();
    together.push_back(p.clone().set_requires_grad(true));
    alone.push_back(p.clone().set_requires_grad(true));
  }
  Adam all(together, AdamOptions(0.1));
  std::vector<std::unique_ptr<Adam>> each;
  for (const Tensor& p : alone) {
    each.push_back(std::make_unique<Adam>(std::vector<Tensor>{p}, AdamOptions(0.1)));
  }
  for (int i = 0; i < 3; ++i) {
    for (size_t k = 0; k < alone.size(); ++k) {
      together[k].mutable_grad() = together[k].detach().cos();
      alone[k].mutable_grad() = alone[k].detach().cos();
      each[k]->step();
    }
    all.step();
  }
  for (size_t k = 0; k < alone.size(); ++k) {
    CHECK(at::equal(together[k], alone[k]));
  }
}

TEST_CASE("averages of parameters follow their formulas", "[optim][swa]") {
  const Tensor p = leaf({1, 2}), count = torch::tensor({3}, at::kLong);
  swa_utils::AveragedModel mean({p, count}), moving({p, count}, swa_utils::get_ema_multi_avg_fn(0.9));
  for (const double value : {1.0, 4.0, 7.0}) {
    {
      const c10::NoGradGuard no_grad;
      p.fill_(value);
      count.fill_(static_cast<int64_t>(value));
    }
    mean.update_parameters({p, count});
    moving.update_parameters({p, count});
  }
  check_near(mean.parameters()[0], torch::tensor({4.0, 4.0}), 1e-6);
  check_near(moving.parameters()[0], torch::tensor({1.87, 1.87}), 1e-6);
  CHECK_THAT(mean.parameters()[1], EqualsTensor({7}));
  swa_utils::AveragedModel other({p, count});
  other.load_state_dict(mean.state_dict());
  CHECK(other.n_averaged() == 3);
  moving.copy_to({p, count});
  check_near(p.detach(), torch::tensor({1.87, 1.87}), 1e-6);
  other.update_parameters({p, count});
  check_near(other.parameters()[0], torch::tensor({3.4675, 3.4675}), 1e-6);
  CHECK_THROWS_MATCHES(mean.update_parameters({p}), c10::Error, Says("got 1 parameters, averages 2"));
  CHECK_THROWS_MATCHES(swa_utils::get_ema_multi_avg_fn(2), c10::Error, Says("Invalid decay value 2 provided"));
}

TEST_CASE("optimizers are saved to archives and loaded from them", "[optim][state]") {
  const auto check = [](const char* name, const auto& make) {
    INFO(name);
    const auto params = test::parameters(at::kDouble);
    const auto saved = make(params);
    for (int i = 0; i < 4; ++i) {
      saved->step(test::closure(*saved, params));
    }
    std::ostringstream out;
    torch::save(*saved, out);
    const auto copies = test::parameters(at::kDouble);
    const auto loaded = make(copies);
    loaded->param_groups()[0].options().set_lr(123);
    std::istringstream in(out.str());
    torch::load(*loaded, in);
    {
      const c10::NoGradGuard no_grad;
      for (size_t i = 0; i < params.size(); ++i) {
        copies[i].copy_(params[i]);
      }
    }
    for (int i = 0; i < 4; ++i) {
      saved->step(test::closure(*saved, params));
      loaded->step(test::closure(*loaded, copies));
    }
    CHECK(test::numbers(params) == test::numbers(copies));

    const auto few = make({params[0]});
    in.clear();
    in.seekg(0);
    CHECK_THROWS_MATCHES(
        torch::load(*few, in), c10::Error, Says("a different size than the optimizer's parameter group"));
  };
  check("SGD", [](const std::vector<Tensor>& p) { return std::make_unique<SGD>(p, SGDOptions(0.01).momentum(0.9)); });
  check(
      "Adam", [](const std::vector<Tensor>& p) { return std::make_unique<Adam>(p, AdamOptions(0.01).amsgrad(true)); });
  check("NAdam", [](const std::vector<Tensor>& p) { return std::make_unique<NAdam>(p, NAdamOptions(0.01)); });
  check("ASGD", [](const std::vector<Tensor>& p) { return std::make_unique<ASGD>(p, ASGDOptions(0.01).t0(2)); });
  check("LBFGS", [](const std::vector<Tensor>& p) {
    return std::make_unique<LBFGS>(p, LBFGSOptions(0.1).max_iter(3).line_search_fn("strong_wolfe"));
  });
}
