// Optimizers, schedulers, loss scaling, samplers and loaders with drawn settings.
#include <csrc/amp/grad_scaler.h>
#include <csrc/optim/swa_utils.h>

#include <chrono>
#include <memory>

#include "test/fuzz/modules/draw.h"

namespace fuzz::modules {
namespace {

namespace optim = torch::optim;
namespace data = torch::data;
using torch::Tensor;

std::vector<Tensor> parameters(Random& r) {
  std::vector<Tensor> result;
  for (size_t i = r.between(1, 3); i > 0; --i) {
    const Tensor x = input(r, r.between(0, 3));
    if (!x.defined() || (!x.is_floating_point() && !x.is_complex() && r.chance(80))) {
      continue;
    }
    Tensor parameter = x.detach().clone();
    if (x.is_floating_point() || x.is_complex()) {
      parameter.requires_grad_();
    }
    result.push_back(parameter);
  }
  return result;
}
void set_gradients(Random& r, std::vector<Tensor>& parameters) {
  for (Tensor& p : parameters) {
    if (r.chance(85) && (p.is_floating_point() || p.is_complex())) {
      p.mutable_grad() = torch::ones_like(p) * number(r);
    }
  }
}

/// Some steps of an optimizer, with what else it can do.
void train(Random& r, optim::Optimizer& optimizer, std::vector<Tensor>& parameters) {
  for (int i = 0; i < 3; ++i) {
    set_gradients(r, parameters);
    optimizer.step();
    if (r.chance(20)) {
      optimizer.zero_grad(flag(r));
    }
    if (r.chance(10)) {
      optimizer.add_param_group(optim::OptimizerParamGroup({torch::zeros(sizes(r), torch::requires_grad())}));
    }
    if (r.chance(5)) {
      optimizer.add_parameters(parameters);
    }
  }
}
template <class Optimizer, class Options>
Case steps(const char* name, void (*set)(Random&, Options&)) {
  return {name, [=](Random& r) {
            auto list = parameters(r);
            Options options(number(r));
            set(r, options);
            Optimizer optimizer(list, options);
            train(r, optimizer, list);
          }};
}
template <class Options>
void weight_decay(Random& r, Options& o) {
  if (r.chance(30)) {
    o.weight_decay(number(r));
  }
  if (r.chance(30)) {
    o.maximize(true).fused(maybe(r, flag(r)));
  }
}
template <class Options>
void averages(Random& r, Options& o) {
  weight_decay(r, o);
  if (flag(r)) {
    o.betas({number(r), number(r)}).eps(number(r));
  }
}
template <class Options>
void averages_or_largest(Random& r, Options& o) {
  averages(r, o);
  o.amsgrad(flag(r));
}

void lbfgs(Random& r) {
  Tensor x = tensor_of(r, {r.between(1, 3)}, torch::kFloat).detach().requires_grad_();
  auto o = optim::LBFGSOptions(number(r)).max_iter(r.between(1, 5)).history_size(r.between(1, 4));
  if (r.chance(20)) {
    o.max_iter(odd_integer(r)).max_eval(3);
  }
  if (r.chance(20)) {
    o.history_size(odd_integer(r));
  }
  if (flag(r)) {
    o.line_search_fn(flag(r) ? "strong_wolfe" : "weak");
  }
  optim::LBFGS optimizer({x}, o);
  const double factor = number(r);
  for (int i = 0; i < 2; ++i) {
    optimizer.step([&] {
      optimizer.zero_grad();
      Tensor loss = (x * factor - 1).square().sum();
      loss.backward();
      return loss;
    });
  }
}

void rates(Random& r) {
  Tensor x = torch::ones({2}, torch::requires_grad());
  optim::SGD optimizer({x}, optim::SGDOptions(number(r)).momentum(r.uniform(0, 1)));
  std::unique_ptr<optim::LRScheduler> scheduler;
  switch (r.below(11)) {
    case 0:
      scheduler = std::make_unique<optim::StepLR>(optimizer, static_cast<unsigned>(small(r)), number(r));
      break;
    case 1:
      scheduler = std::make_unique<optim::MultiStepLR>(optimizer, sizes(r), number(r));
      break;
    case 2:
      scheduler = std::make_unique<optim::ExponentialLR>(optimizer, number(r));
      break;
    case 3:
      scheduler = std::make_unique<optim::ConstantLR>(optimizer, number(r), small(r));
      break;
    case 4:
      scheduler = std::make_unique<optim::LinearLR>(optimizer, number(r), number(r), small(r));
      break;
    case 5:
      scheduler = std::make_unique<optim::PolynomialLR>(optimizer, small(r), number(r));
      break;
    case 6:
      scheduler = std::make_unique<optim::CosineAnnealingLR>(optimizer, small(r), number(r));
      break;
    case 7:
      scheduler = std::make_unique<optim::CosineAnnealingWarmRestarts>(optimizer, small(r), small(r), number(r));
      break;
    case 8: {
      auto o = optim::OneCycleLROptions(number(r), size(r))
                   .pct_start(number(r))
                   .div_factor(number(r))
                   .final_div_factor(number(r));
      scheduler = std::make_unique<optim::OneCycleLR>(optimizer, o.three_phase(flag(r)));
      break;
    }
    case 9: {
      auto o = optim::CyclicLROptions(number(r), number(r))
                   .step_size_up(small(r))
                   .step_size_down(maybe(r, small(r)))
                   .gamma(number(r));
      scheduler = std::make_unique<optim::CyclicLR>(optimizer, o.mode(flag(r) ? "triangular2" : "exp_range"));
      break;
    }
    default:
      scheduler = std::make_unique<optim::swa_utils::SWALR>(optimizer, number(r), small(r), flag(r) ? "cos" : "linear");
  }
  for (int i = 0; i < 6; ++i) {
    x.mutable_grad() = torch::ones({2});
    optimizer.step();
    scheduler->step();
  }
}

void plateau(Random& r) {
  optim::SGD optimizer({torch::ones({2}, torch::requires_grad())}, optim::SGDOptions(0.1));
  using Scheduler = optim::ReduceLROnPlateauScheduler;
  Scheduler scheduler(
      optimizer, flag(r) ? Scheduler::min : Scheduler::max, static_cast<float>(number(r)), static_cast<int>(small(r)),
      number(r), flag(r) ? Scheduler::rel : Scheduler::abs, static_cast<int>(small(r)),
      std::vector<float>(r.below(3), static_cast<float>(number(r))), number(r));
  for (int i = 0; i < 6; ++i) {
    scheduler.step(static_cast<float>(number(r)));
  }
}

void loss_scaling(Random& r) {
  auto list = parameters(r);
  optim::SGD optimizer(list, optim::SGDOptions(0.1));
  auto options =
      torch::amp::GradScalerOptions().init_scale(number(r)).growth_factor(number(r)).backoff_factor(number(r));
  torch::amp::GradScaler scaler(options.growth_interval(small(r)).enabled(r.chance(90)));
  for (int i = 0; i < 3; ++i) {
    scaler.scale(torch::ones({}));
    set_gradients(r, list);
    if (flag(r)) {
      scaler.unscale_(optimizer);
    }
    if (r.chance(80)) {
      scaler.step(optimizer);
    }
    r.chance(80) ? scaler.update() : scaler.update(number(r));
  }
}

void averaging(Random& r) {
  auto list = parameters(r);
  optim::swa_utils::AveragedModel average(
      list, flag(r) ? optim::swa_utils::get_ema_multi_avg_fn(number(r)) : optim::swa_utils::get_swa_multi_avg_fn());
  average.update_parameters(list);
  auto others = r.chance(80) ? list : parameters(r);
  average.update_parameters(others);
  average.copy_to(others);
}

void loading(Random& r) {
  const int64_t rows = r.between(0, 9);
  auto set = data::datasets::TensorDataset(torch::rand({rows, 2})).map(data::transforms::Stack<data::TensorExample>());
  auto options = data::DataLoaderOptions(r.between(r.chance(90) ? 1 : 0, 4))
                     .workers(r.below(3))
                     .drop_last(flag(r))
                     .enforce_ordering(flag(r));
  if (r.chance(20)) {
    options.timeout(std::chrono::milliseconds(r.chance(80) ? 500 : odd_integer(r)));
  }
  if (r.chance(20)) {
    options.max_jobs(r.below(4));
  }
  if (r.chance(5)) {
    options.batch_size(static_cast<size_t>(odd_integer(r)));
  }
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(std::move(set), options);
  for (int pass = 0; pass < 2; ++pass) {
    for (auto& batch : *loader) {
      batch.data.sum();
      if (r.chance(10)) {
        break;
      }
    }
  }
}

/// Examples of a dataset: few, or more than any memory has indices for.
size_t examples(Random& r) {
  return r.chance(85) ? r.below(9) : size_t{1} << r.between(50, 63);
}
void sampling(Random& r) {
  const auto draw = [&](auto&& sampler) {
    sampler.reset(maybe(r, examples(r)));
    for (int i = 0; i < 4; ++i) {
      sampler.next(examples(r));
    }
  };
  switch (r.below(4)) {
    case 0:
      return draw(data::samplers::RandomSampler(static_cast<int64_t>(examples(r))));
    case 1:
      return draw(data::samplers::SequentialSampler(examples(r)));
    case 2:
      return draw(data::samplers::DistributedRandomSampler(examples(r), r.below(4), r.below(4), flag(r)));
    default:
      return draw(data::samplers::StreamSampler(examples(r)));
  }
}

} // namespace

void add_training(std::vector<Case>& cases) {
  cases.insert(
      cases.end(),
      {steps<optim::SGD, optim::SGDOptions>(
           "SGD",
           [](Random& r, optim::SGDOptions& o) {
             weight_decay(r, o);
             if (flag(r)) {
               o.momentum(number(r)).nesterov(flag(r)).dampening(r.chance(20) ? number(r) : 0);
             }
           }),
       steps<optim::Adam, optim::AdamOptions>("Adam", averages_or_largest),
       steps<optim::AdamW, optim::AdamWOptions>("AdamW", averages_or_largest),
       steps<optim::NAdam, optim::NAdamOptions>("NAdam", averages),
       steps<optim::RAdam, optim::RAdamOptions>("RAdam", averages),
       steps<optim::Adamax, optim::AdamaxOptions>("Adamax", averages),
       steps<optim::Adagrad, optim::AdagradOptions>(
           "Adagrad",
           [](Random& r, optim::AdagradOptions& o) {
             weight_decay(r, o);
             if (flag(r)) {
               o.lr_decay(number(r)).initial_accumulator_value(number(r)).eps(number(r));
             }
           }),
       steps<optim::Adadelta, optim::AdadeltaOptions>(
           "Adadelta",
           [](Random& r, optim::AdadeltaOptions& o) {
             weight_decay(r, o);
             if (flag(r)) {
               o.rho(number(r)).eps(number(r));
             }
           }),
       steps<optim::RMSprop, optim::RMSpropOptions>(
           "RMSprop",
           [](Random& r, optim::RMSpropOptions& o) {
             weight_decay(r, o);
             if (flag(r)) {
               o.alpha(number(r)).eps(number(r)).momentum(number(r)).centered(flag(r));
             }
           }),
       steps<optim::ASGD, optim::ASGDOptions>(
           "ASGD",
           [](Random& r, optim::ASGDOptions& o) {
             weight_decay(r, o);
             if (flag(r)) {
               o.lambd(number(r)).alpha(number(r)).t0(number(r));
             }
           }),
       steps<optim::Rprop, optim::RpropOptions>(
           "Rprop",
           [](Random& r, optim::RpropOptions& o) {
             if (flag(r)) {
               o.etas({number(r), number(r)}).step_sizes({number(r), number(r)});
             }
           }),
       {"LBFGS", lbfgs},
       {"schedulers", rates},
       {"ReduceLROnPlateauScheduler", plateau},
       {"GradScaler", loss_scaling},
       {"AveragedModel", averaging},
       {"data loaders", loading},
       {"samplers", sampling}});
}

} // namespace fuzz::modules
