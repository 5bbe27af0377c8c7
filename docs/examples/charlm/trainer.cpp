#include "trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <torch/progress.h>

namespace charlm {

volatile std::sig_atomic_t stop_signal = 0;

void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) { stop_signal = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

namespace {

constexpr double kLearningRate = 3e-3;
constexpr double kLastLearningRate = 1e-4;
/// Of a run, during which the learning rate grows: the running means start empty.
constexpr double kWarmUp = 0.05;
constexpr double kTemperature = 0.7;
constexpr int64_t kHeldOutCharacters = 32768;
constexpr std::chrono::seconds kBetweenSaves{30};

double learning_rate(double fraction) {
  constexpr double kPi = 3.14159265358979;
  if (fraction < kWarmUp) {
    return kLearningRate * (fraction + 0.1 * kWarmUp) / (1.1 * kWarmUp);
  }
  const double falling = (1 + std::cos(kPi * (fraction - kWarmUp) / (1 - kWarmUp))) / 2;
  return kLastLearningRate + (kLearningRate - kLastLearningRate) * falling;
}

double bits(double nats) {
  return nats / std::log(2.0);
}

} // namespace

Trainer::Trainer(
    const ModelConfig& config, Vocabulary vocabulary, const std::string& text, uint64_t seed, at::Device device)
    : vocabulary_(std::move(vocabulary)),
      text_(hold_out(vocabulary_.encode(text), config.context)),
      device_(device),
      generator_(at::detail::createCPUGenerator(seed)),
      model_(config, generator_, device),
      optimizer_(model_.parameters()) {}

Trainer::Trainer(const Checkpoint& checkpoint, const std::string& text, at::Device device)
    : Trainer(checkpoint.config, Vocabulary::from_symbols(checkpoint.symbols), text, 0, device) {
  NamedTensors state = model_.parameters();
  state.insert(state.end(), optimizer_.state().begin(), optimizer_.state().end());
  restore(state, checkpoint.tensors);
  generator_.set_state(checkpoint.generator_state);
  step_ = checkpoint.step;
}

void Trainer::save(const std::string& path) const {
  Checkpoint checkpoint{model_.config(), vocabulary_.symbols(), step_, generator_.get_state(), model_.parameters()};
  checkpoint.tensors.insert(checkpoint.tensors.end(), optimizer_.state().begin(), optimizer_.state().end());
  save_checkpoint(path, checkpoint);
}

Trainer::Batch Trainer::random_batch(int64_t size) {
  const int64_t context = model_.config().context;
  const at::Tensor start = at::randint(text_.train.size(0) - context, {size, 1}, generator_, at::kLong);
  const at::Tensor places = start + at::arange(context + 1);
  const at::Tensor rows =
      text_.train.index_select(0, places.flatten()).to(at::kLong).view({size, context + 1}).to(device_);
  return {rows.narrow(1, 0, context), rows.narrow(1, 1, context)};
}

at::Tensor Trainer::loss(const Batch& batch) const {
  return at::cross_entropy_loss(model_.logits(batch.input).flatten(0, 1), batch.target.flatten());
}

double Trainer::held_out_bits() const {
  const c10::NoGradGuard no_grad;
  constexpr int64_t kRows = 16;
  const int64_t context = model_.config().context;
  const int64_t characters = std::min(text_.held_out.size(0) - 1, kHeldOutCharacters) / context * context;
  const auto rows = [&](int64_t from) {
    return text_.held_out.slice(0, from, from + characters).to(at::kLong).view({-1, context});
  };
  const auto inputs = rows(0).split(kRows);
  const auto targets = rows(1).split(kRows);
  double sum = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Batch batch{inputs[i].to(device_), targets[i].to(device_)};
    sum += loss(batch).item<double>() * static_cast<double>(batch.input.numel());
  }
  return bits(sum / static_cast<double>(characters));
}

bool Trainer::train(const Options& options) {
  torch::Progress progress(
      options.steps,
      torch::ProgressOptions()
          .first(step_)
          .seconds(static_cast<double>(options.seconds))
          .rate_unit("tokens")
          .rate_per_step(static_cast<double>(options.batch * model_.config().context))
          .stream(stdout));
  auto last_save = std::chrono::steady_clock::now();
  while (!progress.done() && stop_signal == 0) {
    const at::Tensor batch_loss = loss(random_batch(options.batch));
    const double value = batch_loss.item<double>();
    if (!std::isfinite(value)) {
      progress.finish();
      throw std::runtime_error("the loss is not finite any more; the last checkpoint stays as it is");
    }
    batch_loss.backward();
    optimizer_.update(++step_, learning_rate(progress.fraction()));
    progress.mean("bits", bits(value)).advance();
    if (std::chrono::steady_clock::now() - last_save >= kBetweenSaves) {
      save(options.checkpoint);
      last_save = std::chrono::steady_clock::now();
    }
  }
  progress.finish();
  return stop_signal == 0;
}

std::string Trainer::generate(int64_t count) {
  const c10::NoGradGuard no_grad;
  const int64_t context = model_.config().context;
  const int64_t newline = vocabulary_.encode("\n").item<int64_t>();
  at::Tensor tokens = at::full({1, 1}, newline, at::kLong);
  std::string text;
  while (static_cast<int64_t>(text.size()) < count && stop_signal == 0) {
    const int64_t from = std::max<int64_t>(0, tokens.size(1) - context);
    const at::Tensor logits = model_.logits(tokens.slice(1, from).to(device_)).select(1, -1);
    const at::Tensor chances = at::softmax(logits / kTemperature, -1).to(at::kCPU);
    const at::Tensor next = at::multinomial(chances, 1, false, generator_);
    text += vocabulary_.symbol(next.item<int64_t>());
    tokens = at::cat({tokens.slice(1, from), next}, 1);
  }
  return text;
}

} // namespace charlm
