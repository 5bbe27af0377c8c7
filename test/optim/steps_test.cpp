// Steps of all optimizers against PyTorch's.
#include <catch2/catch.hpp>

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

#include "test/optim/expected.h"
#include "test/optim/support.h"

#include <cmath>

using at::Tensor;
using namespace torch::optim;

namespace {

using Params = std::vector<Tensor>;
using Fused = std::optional<bool>;
using MakeFused = std::function<std::unique_ptr<Optimizer>(const Params&, Fused)>;

template <class T, class Options>
MakeFused make(Options options) {
  return [options](const Params& params, Fused fused) mutable {
    return std::make_unique<T>(params, options.fused(fused));
  };
}

using Betas = std::tuple<double, double>;

/// The optimizers of reference.py.
const std::map<std::string, MakeFused>& cases() {
  static const std::map<std::string, MakeFused> all = {
      {"sgd", make<SGD>(SGDOptions(0.05))},
      {"sgd_decay", make<SGD>(SGDOptions(0.05).weight_decay(0.1))},
      {"sgd_momentum", make<SGD>(SGDOptions(0.02).momentum(0.9))},
      {"sgd_dampening", make<SGD>(SGDOptions(0.02).momentum(0.9).dampening(0.3).weight_decay(0.01))},
      {"sgd_nesterov", make<SGD>(SGDOptions(0.02).momentum(0.9).nesterov(true).weight_decay(0.01))},
      {"sgd_maximize", make<SGD>(SGDOptions(0.001).momentum(0.5).maximize(true))},
      {"adam", make<Adam>(AdamOptions(0.05))},
      {"adam_decay", make<Adam>(AdamOptions(0.05).betas(Betas(0.8, 0.99)).eps(1e-6).weight_decay(0.1))},
      {"adam_amsgrad", make<Adam>(AdamOptions(0.05).amsgrad(true).betas(Betas(0.9, 0.9)))},
      {"adam_maximize", make<Adam>(AdamOptions(0.01).maximize(true))},
      {"adamw", make<AdamW>(AdamWOptions(0.05))},
      {"adamw_amsgrad", make<AdamW>(AdamWOptions(0.05).weight_decay(0.2).amsgrad(true).betas(Betas(0.9, 0.9)))},
      {"adamw_maximize", make<AdamW>(AdamWOptions(0.01).maximize(true))},
      {"adagrad", make<Adagrad>(AdagradOptions(0.2))},
      {"adagrad_decay",
       make<Adagrad>(AdagradOptions(0.2).lr_decay(0.05).weight_decay(0.1).initial_accumulator_value(0.3))},
      {"adagrad_maximize", make<Adagrad>(AdagradOptions(0.01).maximize(true))},
      {"rmsprop", make<RMSprop>(RMSpropOptions(0.02))},
      {"rmsprop_decay", make<RMSprop>(RMSpropOptions(0.003).alpha(0.9).eps(1e-4).weight_decay(0.1))},
      {"rmsprop_momentum", make<RMSprop>(RMSpropOptions(0.005).momentum(0.8))},
      {"rmsprop_centered", make<RMSprop>(RMSpropOptions(0.005).momentum(0.5).centered(true).alpha(0.8).eps(0.01))},
      {"rmsprop_maximize", make<RMSprop>(RMSpropOptions(0.005).maximize(true))},
      {"adadelta", make<Adadelta>(AdadeltaOptions(1.0))},
      {"adadelta_decay", make<Adadelta>(AdadeltaOptions(0.5).rho(0.8).eps(1e-4).weight_decay(0.1))},
      {"adadelta_maximize", make<Adadelta>(AdadeltaOptions(1.0).maximize(true))},
      {"adamax", make<Adamax>(AdamaxOptions(0.05))},
      {"adamax_decay", make<Adamax>(AdamaxOptions(0.05).betas(Betas(0.8, 0.9)).eps(1e-4).weight_decay(0.1))},
      {"adamax_maximize", make<Adamax>(AdamaxOptions(0.01).maximize(true))},
      {"nadam", make<NAdam>(NAdamOptions(0.05))},
      {"nadam_decay", make<NAdam>(NAdamOptions(0.01).betas(Betas(0.8, 0.95)).weight_decay(0.1).momentum_decay(0.02))},
      {"nadam_decoupled", make<NAdam>(NAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true))},
      {"nadam_maximize", make<NAdam>(NAdamOptions(0.01).maximize(true))},
      {"radam", make<RAdam>(RAdamOptions(0.05))},
      {"radam_decay", make<RAdam>(RAdamOptions(0.05).betas(Betas(0.8, 0.95)).eps(1e-6).weight_decay(0.1))},
      {"radam_decoupled", make<RAdam>(RAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true))},
      {"radam_maximize", make<RAdam>(RAdamOptions(0.01).maximize(true))},
      {"rprop", make<Rprop>(RpropOptions(0.01).etas(Betas(0.6, 1.3)).step_sizes(Betas(1e-3, 0.1)))},
      {"rprop_maximize", make<Rprop>(RpropOptions(0.001).step_sizes(Betas(1e-6, 0.01)).maximize(true))},
      {"asgd", make<ASGD>(ASGDOptions(0.05))},
      {"asgd_averaging", make<ASGD>(ASGDOptions(0.05).lambd(0.01).alpha(0.6).t0(10).weight_decay(0.1))},
      {"asgd_maximize", make<ASGD>(ASGDOptions(0.001).maximize(true))},
  };
  return all;
}

void check_close(const std::vector<double>& got, const std::vector<double>& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": " << got[i] << ", PyTorch has " << expected[i]);
    CHECK(std::abs(got[i] - expected[i]) <= tolerance * std::max(std::abs(expected[i]), 1e-2));
  }
}

std::vector<double> run(const MakeFused& make, Fused fused, at::ScalarType dtype, int steps) {
  Params params = test::parameters(dtype);
  const auto optimizer = make(params, fused);
  for (int i = 0; i < steps; ++i) {
    optimizer->step(test::closure(*optimizer, params));
  }
  if (const auto* asgd = dynamic_cast<ASGD*>(optimizer.get())) {
    const auto& options = static_cast<const ASGDOptions&>(asgd->defaults());
    if (options.t0() < steps) {
      const size_t count = params.size();
      for (size_t i = 0; i < count; ++i) {
        params.push_back(static_cast<const ASGDParamState&>(*asgd->state().at(params[i].unsafeGetTensorImpl())).ax());
      }
    }
  }
  return test::numbers(params);
}

/// A parameter after steps along gradients that lie as it does.
Tensor after_steps(const MakeFused& make, Fused fused, at::ScalarType dtype) {
  const Tensor param = at::linspace(-1, 1, 67, dtype).set_requires_grad(true);
  const auto optimizer = make({param}, fused);
  for (int i = 0; i < 20; ++i) {
    param.mutable_grad() = (at::linspace(3, -2, 67, dtype) * (i + 1)).sin();
    optimizer->step();
  }
  return param.detach();
}

} // namespace

TEST_CASE("fifty steps of an optimizer end where PyTorch's do", "[optim][steps]") {
  for (const auto& [name, make] : cases()) {
    for (const bool fused : {true, false}) {
      INFO(name << (fused ? ", fused" : ", by operators"));
      check_close(run(make, fused, at::kDouble, 50), test::expected_steps.at(name + "/float64"), 1e-6);
      check_close(run(make, fused, at::kFloat, 50), test::expected_steps.at(name + "/float32"), 1e-5);
    }
  }
}

TEST_CASE("a step in one pass has the values of libtorch's operators", "[optim][steps]") {
  for (const auto& [name, make] : cases()) {
    bool of_libtorch = false;
    for (const char* start : {"sgd", "adam", "adagrad", "rmsprop"}) {
      of_libtorch = of_libtorch || (name.rfind(start, 0) == 0 && name.rfind("adamax", 0) != 0);
    }
    if (of_libtorch) {
      INFO(name);
      for (const at::ScalarType dtype : {at::kDouble, at::kFloat}) {
        const auto [at_once, one_by_one] =
            std::pair(after_steps(make, std::nullopt, dtype), after_steps(make, false, dtype));
        CHECK(at_once.equal(one_by_one));
      }
    }
  }
}

TEST_CASE("LBFGS walks PyTorch's way, with fixed steps and with a line search", "[optim][steps][lbfgs]") {
  const auto check = [](const std::string& name, const LBFGSOptions& options, int steps) {
    INFO(name);
    for (const bool wide : {true, false}) {
      const Params params = test::parameters(wide ? at::kDouble : at::kFloat);
      LBFGS optimizer(params, options);
      for (int i = 0; i < steps; ++i) {
        optimizer.step(test::closure(optimizer, params));
      }
      check_close(
          test::numbers(params), test::expected_steps.at(name + (wide ? "/float64" : "/float32")), wide ? 1e-6 : 1e-4);
    }
  };
  check("lbfgs", LBFGSOptions(0.02).max_iter(3).history_size(4), 5);
  check(
      "lbfgs_wolfe",
      LBFGSOptions(0.5).max_iter(2).history_size(3).tolerance_grad(0).tolerance_change(0).line_search_fn(
          "strong_wolfe"),
      5);
  // A first step far too long: the search takes more evaluations than max_eval has left, as in libtorch.
  check("lbfgs_search", LBFGSOptions(40).max_iter(1).line_search_fn("strong_wolfe"), 2);
}
