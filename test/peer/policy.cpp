// Learning by trying: an actor with a critic on a cart with a pole, and a table of values with a target net.
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "report.h"

// The cart and pole of Barto, Sutton and Anderson (1983), Euler steps of 0.02 s.
class CartPole {
 public:
  torch::Tensor reset() {
    x = 0.01, dx = -0.02, theta = 0.03, dtheta = 0.01, steps = 0;
    return state();
  }
  bool step(int64_t action) {
    const double force = action == 1 ? 10 : -10, mass = 1.1, pole = 0.05, length = 0.5;
    const double push = (force + pole * dtheta * dtheta * std::sin(theta)) / mass;
    const double turn = (9.8 * std::sin(theta) - std::cos(theta) * push) /
        (length * (4.0 / 3 - 0.1 * std::cos(theta) * std::cos(theta) / mass));
    const double speedup = push - pole * turn * std::cos(theta) / mass;
    x += 0.02 * dx, dx += 0.02 * speedup, theta += 0.02 * dtheta, dtheta += 0.02 * turn;
    return ++steps >= 60 || std::abs(x) > 2.4 || std::abs(theta) > 0.21;
  }
  torch::Tensor state() const {
    return torch::tensor({x, dx, theta, dtheta}, torch::kFloat);
  }

 private:
  double x = 0, dx = 0, theta = 0, dtheta = 0;
  int steps = 0;
};

struct ActorCriticImpl : public torch::nn::Cloneable<ActorCriticImpl> {
  ActorCriticImpl(int64_t inputs, int64_t hidden, int64_t actions) : inputs(inputs), hidden(hidden), actions(actions) {
    reset();
  }
  void reset() override {
    shared = register_module("shared", torch::nn::Linear(inputs, hidden));
    actor = register_module("actor", torch::nn::Linear(hidden, actions));
    critic = register_module("critic", torch::nn::Linear(hidden, 1));
    torch::nn::init::orthogonal_(shared->weight, std::sqrt(2.0));
    torch::nn::init::orthogonal_(actor->weight, 0.01);
    torch::nn::init::xavier_uniform_(critic->weight);
    torch::nn::init::zeros_(shared->bias);
  }
  std::pair<torch::Tensor, torch::Tensor> forward(torch::Tensor state) {
    const auto features = torch::tanh(shared(state));
    return {torch::softmax(actor(features), -1), critic(features)};
  }
  int64_t inputs, hidden, actions;
  torch::nn::Linear shared{nullptr}, actor{nullptr}, critic{nullptr};
};
TORCH_MODULE(ActorCritic);

void actor_critic() {
  torch::manual_seed(21);
  ActorCritic policy(4, 16, 2);
  torch::optim::Adam optimizer(policy->parameters(), torch::optim::AdamOptions(3e-3).eps(1e-5));
  CartPole game;
  for (int episode = 0; episode < 12; ++episode) {
    std::vector<torch::Tensor> log_probs, values, entropies;
    std::vector<double> rewards;
    auto state = game.reset();
    for (bool done = false; !done;) {
      auto [probabilities, value] = policy->forward(state);
      // Sampling by hand: one uniform number against the cumulative sum.
      const auto draw = torch::rand({1});
      const auto action = (probabilities.detach().cumsum(0) < draw).sum().clamp_max(1).item<int64_t>();
      log_probs.push_back(torch::log(probabilities[action]));
      entropies.push_back(-(probabilities * probabilities.log()).sum());
      values.push_back(value.squeeze());
      done = game.step(action);
      rewards.push_back(1.0);
      state = game.state();
    }
    std::deque<double> returns;
    double total = 0;
    for (auto it = rewards.rbegin(); it != rewards.rend(); ++it) {
      total = *it + 0.99 * total;
      returns.push_front(total);
    }
    auto targets = torch::tensor(std::vector<double>(returns.begin(), returns.end()), torch::kFloat);
    targets = (targets - targets.mean()) / (targets.std() + 1e-5);
    const auto baseline = torch::stack(values);
    const auto advantage = targets - baseline.detach();
    const auto loss = -(torch::stack(log_probs) * advantage).sum() +
        torch::smooth_l1_loss(baseline, targets, torch::Reduction::Sum) - 0.01 * torch::stack(entropies).sum();
    optimizer.zero_grad();
    loss.backward();
    torch::nn::utils::clip_grad_value_(policy->parameters(), 10.0);
    optimizer.step();
    report::exact("steps", rewards.size());
    report::number("loss " + std::to_string(episode), loss.item<double>());
  }

  // A clipped objective on the data of an older policy, as PPO has it.
  auto old_policy = std::dynamic_pointer_cast<ActorCriticImpl>(policy->clone());
  const auto states = torch::randn({32, 4}) * 0.1;
  const auto actions = torch::randint(0, 2, {32, 1});
  const auto advantages = torch::randn({32, 1});
  torch::Tensor old_log_probs;
  {
    torch::NoGradGuard no_grad;
    old_log_probs = old_policy->forward(states).first.gather(1, actions).log();
  }
  for (int step = 0; step < 20; ++step) {
    auto [probabilities, values] = policy->forward(states);
    const auto ratio = torch::exp(probabilities.gather(1, actions).log() - old_log_probs);
    const auto clipped = torch::clamp(ratio, 0.8, 1.2);
    const auto loss =
        -torch::min(ratio * advantages, clipped * advantages).mean() + 0.5 * torch::mse_loss(values, advantages);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    report::number("ppo " + std::to_string(step), loss.item<double>());
  }
  report::exact("clone is apart", torch::allclose(old_policy->actor->weight, policy->actor->weight));
}

void copy_weights(const torch::nn::Module& from, torch::nn::Module& to, double tau) {
  torch::NoGradGuard no_grad;
  auto source = from.named_parameters(true);
  auto target = to.named_parameters(true);
  for (auto& item : source) {
    auto* parameter = target.find(item.key());
    TORCH_CHECK(parameter != nullptr, "no parameter ", item.key());
    parameter->copy_(tau * item.value() + (1 - tau) * *parameter);
  }
}

void q_learning() {
  torch::manual_seed(22);
  auto make = [] {
    return torch::nn::Sequential(
        {{"in", torch::nn::Linear(4, 16)}, {"relu", torch::nn::ReLU()}, {"out", torch::nn::Linear(16, 2)}});
  };
  auto online = make(), target = make();
  copy_weights(*online, *target, 1.0);
  target->eval();
  torch::optim::Adagrad optimizer(online->parameters(), torch::optim::AdagradOptions(0.01).lr_decay(1e-3));
  CartPole game;
  std::vector<torch::Tensor> states, next_states;
  std::vector<int64_t> actions;
  std::vector<float> rewards, alive;
  auto state = game.reset();
  for (int step = 0; step < 80; ++step) {
    const auto action = torch::rand({1}).item<float>() < 0.3 ? torch::randint(0, 2, {1}).item<int64_t>()
                                                             : online->forward(state).argmax().item<int64_t>();
    const bool done = game.step(action);
    states.push_back(state);
    next_states.push_back(game.state());
    actions.push_back(action);
    rewards.push_back(done ? -1.f : 1.f);
    alive.push_back(done ? 0.f : 1.f);
    state = done ? game.reset() : game.state();
    if (step < 15) {
      continue;
    }
    const auto batch = torch::randperm(static_cast<int64_t>(states.size())).slice(0, 0, 16);
    const auto q = online->forward(torch::stack(states).index_select(0, batch));
    const auto chosen = q.gather(1, torch::tensor(actions).index({batch}).unsqueeze(1)).squeeze(1);
    torch::Tensor wanted;
    {
      torch::NoGradGuard no_grad;
      const auto best = std::get<0>(target->forward(torch::stack(next_states).index({batch})).max(1));
      wanted = torch::tensor(rewards).index({batch}) + 0.9 * best * torch::tensor(alive).index({batch});
    }
    const auto loss = torch::nn::functional::smooth_l1_loss(chosen, wanted);
    optimizer.zero_grad();
    loss.backward();
    for (auto& parameter : online->parameters()) {
      parameter.grad().data().clamp_(-1, 1);
    }
    optimizer.step();
    copy_weights(*online, *target, 0.05);
    report::number("q " + std::to_string(step), loss.item<double>());
  }
  report::exact("actions", actions);
  for (const auto& item : target->named_parameters()) {
    report::close(item.key(), item.value());
  }
}

void fit_by_lbfgs() {
  torch::manual_seed(23);
  auto x = torch::tensor({-1.2, 1.0}, torch::dtype(torch::kDouble).requires_grad(true));
  torch::optim::LBFGS optimizer(
      {x}, torch::optim::LBFGSOptions(1).max_iter(8).history_size(5).line_search_fn("strong_wolfe"));
  const auto closure = [&] {
    optimizer.zero_grad();
    const auto loss = 100 * (x[1] - x[0] * x[0]).pow(2) + (1 - x[0]).pow(2);
    loss.backward();
    return loss;
  };
  for (int step = 0; step < 6; ++step) {
    report::number("rosenbrock " + std::to_string(step), optimizer.step(closure).item<double>());
  }
  report::close("minimum", x);
}

// An optimizer of the program's own.
struct SignOptions : torch::optim::OptimizerCloneableOptions<SignOptions> {
  SignOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, momentum) = 0.9;

 public:
  double get_lr() const override {
    return lr();
  }
  void set_lr(const double lr) override {
    this->lr(lr);
  }
};
struct SignState : torch::optim::OptimizerCloneableParamState<SignState> {
  TORCH_ARG(torch::Tensor, average);
};
class Sign : public torch::optim::Optimizer {
 public:
  explicit Sign(std::vector<torch::Tensor> params, SignOptions defaults = {})
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(params))}, std::make_unique<SignOptions>(defaults)) {}
  torch::Tensor step(LossClosure closure = nullptr) override {
    torch::NoGradGuard no_grad;
    torch::Tensor loss = {};
    if (closure != nullptr) {
      at::AutoGradMode enable_grad(true);
      loss = closure();
    }
    for (auto& group : param_groups_) {
      auto& options = static_cast<SignOptions&>(group.options());
      for (auto& p : group.params()) {
        if (!p.grad().defined()) {
          continue;
        }
        auto found = state_.find(p.unsafeGetTensorImpl());
        if (found == state_.end()) {
          auto state = std::make_unique<SignState>();
          state->average(torch::zeros_like(p));
          state_[p.unsafeGetTensorImpl()] = std::move(state);
        }
        auto& state = static_cast<SignState&>(*state_[p.unsafeGetTensorImpl()]);
        state.average().mul_(options.momentum()).add_(p.grad(), 1 - options.momentum());
        p.add_(state.average().sign(), -options.lr());
      }
    }
    return loss;
  }
};

void own_optimizer() {
  torch::manual_seed(24);
  torch::nn::Linear model(3, 2);
  Sign optimizer(model->parameters(), SignOptions(0.02));
  torch::optim::ReduceLROnPlateauScheduler plateau(optimizer, torch::optim::ReduceLROnPlateauScheduler::min, 0.5f, 1);
  const auto input = torch::randn({8, 3}), target = torch::randn({8, 2});
  for (int step = 0; step < 20; ++step) {
    const auto loss = optimizer.step([&] {
      optimizer.zero_grad();
      auto loss = torch::l1_loss(model(input), target);
      loss.backward();
      return loss;
    });
    plateau.step(loss.item<float>());
    report::number("sign " + std::to_string(step), loss.item<double>());
    report::number("rate " + std::to_string(step), optimizer.param_groups()[0].options().get_lr());
  }
}

int main() {
  actor_critic();
  q_learning();
  fit_by_lbfgs();
  own_optimizer();
  return 0;
}
