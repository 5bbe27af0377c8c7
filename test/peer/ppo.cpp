// Proximal policy optimization with several environments at once: generalized advantages, clipped losses, an early
// stop, a learning rate that sinks, running means of what is observed, actions of a normal distribution.
#include <torch/torch.h>

#include <cmath>
#include <deque>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "report.h"

namespace nn = torch::nn;
using torch::Tensor;

namespace {

class Normal {
 public:
  Normal(Tensor mean, Tensor std) : mean_(std::move(mean)), std_(std.expand_as(mean_)) {}
  Tensor sample() const {
    torch::NoGradGuard guard;
    return at::normal(mean_, std_);
  }
  Tensor log_prob(const Tensor& x) const {
    const Tensor var = std_.pow(2);
    return -(x - mean_).pow(2) / (2 * var) - std_.log() - std::log(std::sqrt(2 * M_PI));
  }
  Tensor entropy() const {
    return 0.5 + 0.5 * std::log(2 * M_PI) + std_.log();
  }

 private:
  Tensor mean_, std_;
};

template <class Layer>
Layer init_layer(Layer layer, double gain = std::sqrt(2.0), double bias = 0) {
  nn::init::orthogonal_(layer->weight, gain);
  nn::init::constant_(layer->bias, bias);
  return layer;
}

struct ActorCriticImpl : nn::Module {
  ActorCriticImpl(int64_t observed, int64_t actions)
      : critic(
            init_layer(nn::Linear(observed, 32)),
            nn::Tanh(),
            init_layer(nn::Linear(32, 32)),
            nn::Tanh(),
            init_layer(nn::Linear(32, 1), 1.0)),
        actor(
            init_layer(nn::Linear(observed, 32)),
            nn::Tanh(),
            init_layer(nn::Linear(32, 32)),
            nn::Tanh(),
            init_layer(nn::Linear(32, actions), 0.01)) {
    register_module("critic", critic);
    register_module("actor", actor);
    log_std = register_parameter("log_std", torch::zeros({1, actions}));
  }
  Tensor value(const Tensor& x) {
    return critic->forward(x);
  }
  std::tuple<Tensor, Tensor, Tensor, Tensor> act(const Tensor& x, c10::optional<Tensor> action = c10::nullopt) {
    const Tensor mean = actor->forward(x);
    const Normal law(mean, log_std.expand_as(mean).exp());
    const Tensor a = action.has_value() ? *action : law.sample();
    return std::make_tuple(a, law.log_prob(a).sum(1), law.entropy().sum(1), critic->forward(x));
  }
  nn::Sequential critic, actor;
  Tensor log_std;
};
TORCH_MODULE(ActorCritic);

struct RunningMean {
  explicit RunningMean(int64_t n) : mean(torch::zeros({n}, torch::kDouble)), var(torch::ones({n}, torch::kDouble)) {}
  Tensor operator()(const Tensor& x, bool update) {
    if (update) {
      const auto [v, m] = torch::var_mean(x.to(torch::kDouble), 0, /*unbiased=*/false);
      const double n = static_cast<double>(x.size(0)), total = count + n;
      const Tensor delta = m - mean;
      mean = mean + delta * n / total;
      var = (var * count + v * n + delta.square() * count * n / total) / total;
      count = total;
    }
    return ((x - mean) / (var + 1e-8).sqrt()).clamp(-10, 10).to(torch::kFloat);
  }
  Tensor mean, var;
  double count = 1e-4;
};

/// Points that are pushed to the origin.
struct Environments {
  Environments(int64_t n_, uint64_t seed)
      : n(n_), engine(seed), state(torch::empty({n_, 4})), age(torch::zeros({n_}, torch::kLong)) {
    reset(torch::ones({n}, torch::kBool));
  }
  void reset(const Tensor& which) {
    std::uniform_real_distribution<float> law(-1, 1);
    auto flags = which.accessor<bool, 1>();
    auto rows = state.accessor<float, 2>();
    auto ages = age.accessor<int64_t, 1>();
    for (int64_t i = 0; i < n; ++i) {
      if (flags[i]) {
        for (auto j = 0; j < rows.size(1); ++j) {
          rows[i][j] = law(engine);
        }
        ages[i] = 0;
      }
    }
  }
  std::tuple<Tensor, Tensor, Tensor> step(const Tensor& action) {
    Tensor speed = state.index({torch::indexing::Slice(), torch::indexing::Slice(2)});
    Tensor place = state.index({torch::indexing::Slice(), torch::indexing::Slice(0, 2)});
    speed.add_(action.clamp(-1, 1), 0.1).mul_(0.95);
    place.add_(speed, 0.2);
    age += 1;
    const Tensor far = place.norm(2, 1);
    const Tensor done = far.gt(2).logical_or_(age.ge(25));
    const Tensor reward = -far - 0.01 * action.square().sum(1);
    reset(done);
    return {state.clone(), reward, done.to(torch::kFloat)};
  }
  int64_t n;
  std::mt19937_64 engine;
  Tensor state, age;
};

} // namespace

int main() {
  torch::manual_seed(9);
  constexpr int64_t kSteps = 32, kEnvironments = 6, kEpochs = 3, kUpdates = 4, kMinibatch = 48;
  const double gamma = 0.99, lambda = 0.95, clip = 0.2;
  Environments world(kEnvironments, 5);
  ActorCritic agent(4, 2);
  report::exact("agent", agent);
  torch::optim::Adam optimizer(agent->parameters(), torch::optim::AdamOptions(2.5e-3).eps(1e-5));
  torch::optim::StepLR schedule(optimizer, 2, 0.7);
  RunningMean normalize(4);
  Tensor observed = normalize(world.state.clone(), true), done = torch::zeros(kEnvironments);
  std::deque<double> returns;
  Tensor running = torch::zeros(kEnvironments);
  for (int64_t update = 0; update < kUpdates; ++update) {
    Tensor obs = torch::zeros({kSteps, kEnvironments, 4}), actions = torch::zeros({kSteps, kEnvironments, 2});
    Tensor log_probs = torch::zeros({kSteps, kEnvironments}), rewards = log_probs.clone(), dones = log_probs.clone(),
           values = torch::zeros_like(log_probs);
    for (int64_t t = 0; t < kSteps; ++t) {
      obs[t] = observed;
      dones[t] = done;
      torch::NoGradGuard no_grad;
      auto [action, log_prob, _, value] = agent->act(observed);
      values[t] = value.flatten();
      actions[t] = action;
      log_probs[t] = log_prob;
      auto [next, reward, ended] = world.step(action);
      rewards[t].copy_(reward);
      running += reward;
      for (const auto i : c10::irange(kEnvironments)) {
        if (ended[i].item<bool>()) {
          returns.push_back(running[i].item<double>());
          running[i] = 0;
        }
      }
      observed = normalize(next, true);
      done = ended;
    }
    Tensor advantages = torch::zeros_like(rewards);
    {
      torch::NoGradGuard no_grad;
      const Tensor next_value = agent->value(observed).reshape({1, -1});
      Tensor last = torch::zeros({kEnvironments});
      for (int64_t t = kSteps - 1; t >= 0; --t) {
        const Tensor more = 1.0 - (t == kSteps - 1 ? done : dones[t + 1]);
        const Tensor next = t == kSteps - 1 ? next_value[0] : values[t + 1];
        const Tensor delta = rewards[t] + gamma * next * more - values[t];
        advantages[t] = last = delta + gamma * lambda * more * last;
      }
    }
    const Tensor target = advantages + values;
    const Tensor flat_obs = obs.reshape({-1, 4}), flat_actions = actions.flatten(0, 1), flat_log = log_probs.flatten(),
                 flat_adv = advantages.flatten(), flat_target = target.flatten(), flat_values = values.flatten();
    double kl = 0, fraction = 0;
    Tensor loss;
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      const auto parts = torch::randperm(kSteps * kEnvironments).split(kMinibatch);
      for (const Tensor& part : parts) {
        auto [unused, log_prob, entropy, value] =
            agent->act(flat_obs.index_select(0, part), flat_actions.index({part}));
        const Tensor log_ratio = log_prob - flat_log.index({part});
        const Tensor ratio = log_ratio.exp();
        {
          torch::NoGradGuard no_grad;
          kl = ((ratio - 1) - log_ratio).mean().item<double>();
          fraction = ((ratio - 1.0).abs() > clip).to(torch::kFloat).mean().item<float>();
        }
        Tensor adv = flat_adv.take(part);
        adv = (adv - adv.mean()) / (adv.std() + 1e-8);
        const Tensor policy = torch::max(-adv * ratio, -adv * torch::clamp(ratio, 1 - clip, 1 + clip)).mean();
        const Tensor flat = value.view(-1), old = flat_values.index({part}), wanted = flat_target.index({part});
        const Tensor clipped = old + torch::clamp(flat - old, -clip, clip);
        const Tensor value_loss = 0.5 * torch::maximum((flat - wanted).pow(2), (clipped - wanted).pow(2)).mean();
        loss = policy - 0.01 * entropy.mean() + value_loss * 0.5;
        optimizer.zero_grad();
        loss.backward();
        nn::utils::clip_grad_norm_(agent->parameters(), 0.5);
        optimizer.step();
      }
      if (kl > 0.05) {
        break;
      }
    }
    schedule.step();
    const Tensor residual = (flat_target - flat_values).var();
    report::number("loss", loss.item<double>());
    report::number("kl", kl);
    report::number("clipped", fraction);
    report::number("explained", (1 - residual / flat_target.var()).item<double>());
    report::number("lr", optimizer.param_groups()[0].options().get_lr());
    report::number(
        "return",
        returns.empty() ? 0
                        : std::accumulate(returns.begin(), returns.end(), 0.0) / static_cast<double>(returns.size()));
    report::exact("episodes", returns.size());
  }
  report::close("log_std", agent->log_std);
  report::close("mean", normalize.mean);
  report::close("state", world.state);
  report::exact("grad fn", std::get<1>(agent->act(observed)).grad_fn()->name());
}
