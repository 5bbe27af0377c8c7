// Sixty steps of all schedulers against Python's; composing, saving, refusing.
#include <catch2/catch.hpp>

#include <aten/core/ivalue.h>
#include <csrc/optim/adam.h>
#include <csrc/optim/schedulers/composed_schedulers.h>
#include <csrc/optim/schedulers/cosine_schedulers.h>
#include <csrc/optim/schedulers/cycle_schedulers.h>
#include <csrc/optim/schedulers/decay_schedulers.h>
#include <csrc/optim/schedulers/reduce_on_plateau_scheduler.h>
#include <csrc/optim/schedulers/step_lr.h>
#include <csrc/optim/sgd.h>
#include <csrc/optim/swa_utils.h>

#include "test/optim/expected.h"
#include "test/optim/support.h"
#include "test/support/matchers.h"

#include <cmath>

using namespace torch::optim;
using test::Says;

namespace {

/// Two groups with the learning rates 0.1 and 0.2.
std::unique_ptr<SGD> two_groups() {
  std::vector<OptimizerParamGroup> groups;
  for (const double lr : {0.1, 0.2}) {
    groups.emplace_back(
        std::vector<at::Tensor>{at::zeros({1}).set_requires_grad(true)},
        std::make_unique<SGDOptions>(SGDOptions(lr).momentum(0.9)));
  }
  return std::make_unique<SGD>(groups, SGDOptions(0.1).momentum(0.9));
}

using Shared = std::shared_ptr<LRScheduler>;
using MakeScheduler = std::function<Shared(Optimizer&)>;

template <class T>
Shared shared(T scheduler) {
  return std::make_shared<T>(std::move(scheduler));
}

/// The schedulers of reference.py.
const std::map<std::string, MakeScheduler>& schedulers() {
  static const std::map<std::string, MakeScheduler> all = {
      {"multistep",
       [](Optimizer& o) {
         return shared(MultiStepLR(o, {5, 17, 17, 40}, 0.5));
       }},
      {"exponential", [](Optimizer& o) { return shared(ExponentialLR(o, 0.95)); }},
      {"constant", [](Optimizer& o) { return shared(ConstantLR(o, 0.25, 9)); }},
      {"linear", [](Optimizer& o) { return shared(LinearLR(o, 0.2, 0.9, 13)); }},
      {"polynomial", [](Optimizer& o) { return shared(PolynomialLR(o, 37, 1.7)); }},
      {"cosine", [](Optimizer& o) { return shared(CosineAnnealingLR(o, 20, 0.01)); }},
      {"restarts", [](Optimizer& o) { return shared(CosineAnnealingWarmRestarts(o, 7, 2, 0.02)); }},
      {"lambda",
       [](Optimizer& o) {
         const LRLambda power = [](int64_t e) { return std::pow(0.9, e); };
         const LRLambda inverse = [](int64_t e) { return 1.0 / (1.0 + static_cast<double>(e)); };
         return shared(LambdaLR(o, {power, inverse}));
       }},
      {"multiplicative",
       [](Optimizer& o) { return shared(MultiplicativeLR(o, [](int64_t e) { return e % 2 ? 0.97 : 1.01; })); }},
      {"onecycle",
       [](Optimizer& o) {
         return shared(OneCycleLR(o, OneCycleLROptions({1.0, 0.5}, 61)));
       }},
      {"onecycle_linear",
       [](Optimizer& o) {
         return shared(OneCycleLR(
             o,
             OneCycleLROptions(1.0, 7, 10)
                 .pct_start(0.4)
                 .anneal_strategy("linear")
                 .div_factor(10)
                 .final_div_factor(100)
                 .three_phase(true)));
       }},
      {"cyclic",
       [](Optimizer& o) {
         return shared(CyclicLR(o, CyclicLROptions(0.01, {0.2, 0.3}).step_size_up(6).step_size_down(9)));
       }},
      {"cyclic_triangular2",
       [](Optimizer& o) {
         return shared(
             CyclicLR(o, CyclicLROptions(0.01, 0.2).step_size_up(5).mode("triangular2").cycle_momentum(false)));
       }},
      {"cyclic_exp_range",
       [](Optimizer& o) {
         return shared(CyclicLR(o, CyclicLROptions(0.01, 0.2).step_size_up(5).mode("exp_range").gamma(0.98)));
       }},
      {"sequential",
       [](Optimizer& o) {
         std::vector<Shared> parts{
             shared(LinearLR(o, 0.1, 1.0, 8)), shared(CosineAnnealingLR(o, 30)), shared(ConstantLR(o, 0.5, 5))};
         return std::make_shared<SequentialLR>(o, parts, std::vector<int64_t>{8, 30});
       }},
      {"chained",
       [](Optimizer& o) {
         return std::make_shared<ChainedScheduler>(std::vector<Shared>{
             shared(ConstantLR(o, 0.1, 6)), shared(ExponentialLR(o, 0.97)), shared(MultiStepLR(o, {9, 18, 27}, 0.5))});
       }},
      {"swalr",
       [](Optimizer& o) {
         return shared(swa_utils::SWALR(o, {0.05, 0.01}, 12));
       }},
      {"swalr_linear", [](Optimizer& o) { return shared(swa_utils::SWALR(o, 0.05, 12, "linear")); }},
  };
  return all;
}

bool has_momenta(const std::string& name) {
  return name.rfind("onecycle", 0) == 0 || name.rfind("cyclic", 0) == 0;
}

void append_rates(std::vector<double>& rows, const Optimizer& optimizer, bool momenta) {
  for (const auto& group : optimizer.param_groups()) {
    rows.push_back(group.options().get_lr());
  }
  if (!momenta) {
    return;
  }
  for (const auto& group : optimizer.param_groups()) {
    rows.push_back(*group.options().get_momentum());
  }
}

void check_close(const std::vector<double>& got, const std::vector<double>& expected, double tolerance = 1e-9) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("value " << i << ": " << got[i] << ", Python has " << expected[i]);
    CHECK(std::abs(got[i] - expected[i]) <= tolerance * (1e-3 + std::abs(expected[i])));
  }
}

} // namespace

TEST_CASE("schedulers give Python's learning rates and momenta", "[optim][schedulers]") {
  for (const auto& [name, make] : schedulers()) {
    INFO(name);
    const auto optimizer = two_groups();
    const Shared scheduler = make(*optimizer);
    std::vector<double> rows;
    for (int i = 0; i < 60; ++i) {
      append_rates(rows, *optimizer, has_momenta(name));
      scheduler->step();
    }
    check_close(rows, test::expected_rates.at(name));
  }
}

TEST_CASE("a scheduler goes on from its saved state", "[optim][schedulers]") {
  for (const auto& [name, make] : schedulers()) {
    INFO(name);
    const auto first = two_groups(), second = two_groups();
    const Shared before = make(*first), after = make(*second);
    std::vector<double> rows;
    for (int i = 0; i < 23; ++i) {
      append_rates(rows, *first, has_momenta(name));
      before->step();
    }
    // The optimizer's dictionary carries the learning rates.
    second->load_state_dict(first->state_dict());
    after->load_state_dict(before->state_dict());
    for (int i = 23; i < 60; ++i) {
      append_rates(rows, *second, has_momenta(name));
      after->step();
    }
    check_close(rows, test::expected_rates.at(name));
  }
}

TEST_CASE("StepLR changes the rate one step after Python's, as libtorch's does", "[optim][schedulers]") {
  const auto optimizer = two_groups();
  StepLR scheduler(*optimizer, 7, 0.3);
  std::vector<double> rows;
  for (int i = 0; i < 61; ++i) {
    if (i > 0) {
      append_rates(rows, *optimizer, false);
    }
    scheduler.step();
  }
  check_close(rows, test::expected_rates.at("step"));
}

TEST_CASE("learning rates fall when a metric stands still", "[optim][schedulers]") {
  const auto run = [](const std::string& name, const std::function<ReduceLROnPlateauScheduler(Optimizer&)>& make) {
    INFO(name);
    const auto optimizer = two_groups();
    ReduceLROnPlateauScheduler scheduler = make(*optimizer);
    std::vector<double> rows;
    for (int i = 0; i < 60; ++i) {
      append_rates(rows, *optimizer, false);
      if (i == 31) {
        ReduceLROnPlateauScheduler fresh = make(*optimizer);
        fresh.load_state_dict(scheduler.state_dict());
        scheduler.load_state_dict(fresh.state_dict());
      }
      scheduler.step(static_cast<float>(i < 10 ? 1.0 / (1 + i) : 0.1 + 0.01 * (i % 3)));
    }
    // Factor and bounds are floats, as in libtorch.
    check_close(rows, test::expected_rates.at(name), 1e-6);
  };
  using Plateau = ReduceLROnPlateauScheduler;
  run("plateau", [](Optimizer& o) { return Plateau(o, Plateau::min, 0.5, 3, 1e-4, Plateau::rel, 2, {0.01f, 0.02f}); });
  run("plateau_max", [](Optimizer& o) { return Plateau(o, Plateau::max, 0.3f, 2, 0.01, Plateau::abs); });
}

TEST_CASE("warm restarts can be set to any point of the way", "[optim][schedulers]") {
  const auto walked = two_groups(), jumped = two_groups();
  CosineAnnealingWarmRestarts slow(*walked, 3, 2), fast(*jumped, 3, 2);
  for (int i = 0; i < 13; ++i) {
    slow.step();
  }
  fast.step(13.0);
  check_close(fast.get_last_lr(), slow.get_last_lr());
  slow.step();
  fast.step();
  check_close(fast.get_last_lr(), slow.get_last_lr());
  CHECK_THROWS_MATCHES(fast.step(-1.0), c10::Error, Says("Expected non-negative epoch, but got -1"));
}

TEST_CASE("periods of cosines that 64 bits do not hold are endless", "[optim][schedulers]") {
  const auto o = two_groups(), other = two_groups();
  CosineAnnealingWarmRestarts restarts(*o, 3, INT64_MAX / 4);
  restarts.step(1e300);
  for (int i = 0; i < 9; ++i) {
    restarts.step();
  }
  CosineAnnealingLR slow(*other, int64_t{1} << 62);
  const auto before = slow.get_last_lr();
  slow.step();
  check_close(slow.get_last_lr(), before);
}

TEST_CASE("CyclicLR takes a function for the height of cycles, and momentum from beta1", "[optim][schedulers]") {
  Adam adam({at::zeros({1}).set_requires_grad(true)}, AdamOptions(0.1));
  CyclicLR scheduler(adam, CyclicLROptions(0.1, 1.1).step_size_up(2).scale_fn([](double cycle) { return 1 / cycle; }));
  std::vector<double> rates, momenta;
  for (int i = 0; i < 7; ++i) {
    rates.push_back(scheduler.get_last_lr()[0]);
    momenta.push_back(std::get<0>(static_cast<AdamOptions&>(adam.param_groups()[0].options()).betas()));
    scheduler.step();
  }
  check_close(rates, {0.1, 0.6, 1.1, 0.6, 0.1, 0.35, 0.6});
  check_close(momenta, {0.9, 0.85, 0.8, 0.85, 0.9, 0.875, 0.85});
}

TEST_CASE("schedulers refuse what they cannot do", "[optim][schedulers]") {
  const auto o = two_groups(), other = two_groups();
  CHECK_THROWS_MATCHES(
      ConstantLR(*o, 1.5), c10::Error, Says("Constant multiplicative factor expected to be between 0 and 1."));
  CHECK_THROWS_MATCHES(
      LinearLR(*o, 0.0), c10::Error, Says("Starting multiplicative factor expected to be greater than 0"));
  CHECK_THROWS_MATCHES(
      LinearLR(*o, 0.5, -1), c10::Error, Says("Ending multiplicative factor expected to be between 0 and 1."));
  CHECK_THROWS_MATCHES(
      CosineAnnealingWarmRestarts(*o, 0), c10::Error, Says("Expected positive integer T_0, but got 0"));
  CHECK_THROWS_MATCHES(
      CosineAnnealingWarmRestarts(*o, 1, 0), c10::Error, Says("Expected integer T_mult >= 1, but got 0"));
  CHECK_THROWS_MATCHES(OneCycleLROptions(1.0, 0), c10::Error, Says("Expected positive integer total_steps, but got 0"));
  CHECK_THROWS_MATCHES(
      OneCycleLR(*o, OneCycleLROptions(1.0, 5).pct_start(2)), c10::Error,
      Says("Expected float between 0 and 1 pct_start, but got 2"));
  CHECK_THROWS_MATCHES(
      (OneCycleLR(*o, OneCycleLROptions({1.0}, 5))), c10::Error,
      Says("max_lr must have the same length as optimizer.param_groups."));
  CHECK_THROWS_MATCHES(
      CyclicLR(*o, CyclicLROptions(0.1, 1.0).mode("square")), c10::Error, Says("mode is invalid and scale_fn is None"));
  CHECK_THROWS_MATCHES(
      (LambdaLR(*o, std::vector<LRLambda>(3, [](int64_t) { return 1.0; }))), c10::Error,
      Says("Expected 2 lr_lambdas, but got 3"));
  CHECK_THROWS_MATCHES(StepLR(*o, 0), c10::Error, Says("positive integer step_size"));
  CHECK_THROWS_MATCHES(ChainedScheduler({}), c10::Error, Says("expects at least one scheduler"));
  CHECK_THROWS_MATCHES(
      (ChainedScheduler({shared(ExponentialLR(*o, 1)), shared(ExponentialLR(*other, 1))})), c10::Error,
      Says("the same optimizer"));
  CHECK_THROWS_MATCHES(
      (SequentialLR(*o, {shared(ExponentialLR(*o, 1))}, {3})), c10::Error,
      Says("one more than the number of milestone points"));
  OneCycleLR short_cycle(*o, OneCycleLROptions(1.0, 2));
  short_cycle.step();
  short_cycle.step();
  CHECK_THROWS_MATCHES(
      short_cycle.step(), c10::Error, Says("Tried to step 3 times. The specified number of total steps is 2"));
  ExponentialLR before(*other, 0.5);
  other->add_param_group(OptimizerParamGroup({at::zeros({1}).set_requires_grad(true)}));
  CHECK_NOTHROW(before.step());
  MultiStepLR late(*o, {1});
  ReduceLROnPlateauScheduler plateau(*o);
  o->add_param_group(OptimizerParamGroup({at::zeros({1}).set_requires_grad(true)}));
  plateau.step(1);
  for (int i = 0; i < 10; ++i) {
    plateau.step(1);
  }
  CHECK_THROWS_MATCHES(plateau.step(1), c10::Error, Says("3 parameter groups, there were 2"));
}
