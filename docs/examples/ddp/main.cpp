// Several processes train one model of characters: tensor-launch --nproc-per-node 2 ddp [--steps N] [--batch N]
//
// Each rank reads its part of the text; gradients are averaged while the backward pass makes them. At the end rank 0
// prints the speed, what communication took and how much of it was hidden, and how the speed compares with one rank's
// alone.
#include <torch/distributed.h>
#include <torch/torch.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace dist = torch::distributed;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int64_t kContext = 32;
constexpr char kText[] =
    "a tensor is an array of numbers with a shape. a gradient tells how a loss moves when a number moves. "
    "many ranks hold one model: each reads its part of a batch, and all take the average of their gradients. "
    "the sum goes in the order of the ranks, so that every rank has the same bits and walks the same way. ";

// Characters in, characters out: an embedding, an LSTM and a linear layer.
struct CharModelImpl : torch::nn::Module {
  CharModelImpl()
      : embedding(register_module("embedding", torch::nn::Embedding(128, 64))),
        recurrent(register_module("recurrent", torch::nn::LSTM(torch::nn::LSTMOptions(64, 128).batch_first(true)))),
        output(register_module("output", torch::nn::Linear(128, 128))) {}

  torch::Tensor forward(const torch::Tensor& characters) {
    return output(std::get<0>(recurrent(embedding(characters))));
  }

  torch::nn::Embedding embedding;
  torch::nn::LSTM recurrent;
  torch::nn::Linear output;
};
TORCH_MODULE(CharModel);

struct Options {
  int64_t steps = 200;
  int64_t batch = 16; // of each rank
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    char* end = nullptr;
    const long value = i + 1 < argc ? std::strtol(argv[i + 1], &end, 10) : 0;
    if ((name != "--steps" && name != "--batch") || value < 1 || *end != '\0') {
      throw std::invalid_argument("usage: ddp [--steps N] [--batch N], with N at least 1");
    }
    (name == "--steps" ? options.steps : options.batch) = value;
  }
  return options;
}

struct Speed {
  double seconds = 0;
  double communication = 0;
  double waiting = 0;
  double first_loss = 0;
  double last_loss = 0;
};

// Draws a batch that depends on the step and the rank alone.
torch::Tensor draw(const torch::Tensor& text, int64_t batch, dist::DistributedSampler& sampler, int64_t& epoch) {
  auto starts = sampler.next(static_cast<size_t>(batch));
  if (!starts || starts->size() < static_cast<size_t>(batch)) {
    sampler.set_epoch(++epoch);
    sampler.reset();
    starts = sampler.next(static_cast<size_t>(batch));
  }
  std::vector<torch::Tensor> rows;
  for (const size_t start : *starts) {
    rows.push_back(text.narrow(0, static_cast<int64_t>(start), kContext + 1));
  }
  return torch::stack(rows);
}

Speed train(const torch::Tensor& text, const Options& options, int64_t steps, const dist::GroupPtr& group, bool show) {
  torch::manual_seed(1);
  CharModel model;
  torch::nn::parallel::DistributedDataParallel<CharModel> ddp(
      model, torch::nn::parallel::DistributedDataParallelOptions().process_group(group));
  torch::optim::Adam optimizer(ddp.parameters(), torch::optim::AdamOptions(3e-3));
  dist::DistributedSampler sampler(
      static_cast<size_t>(text.numel() - kContext),
      dist::DistributedSamplerOptions().num_replicas(dist::get_world_size(group)).rank(dist::get_rank(group)));
  Speed speed;
  int64_t epoch = 0;
  const auto begin = Clock::now();
  for (int64_t step = 0; step < steps; ++step) {
    const auto batch = draw(text, options.batch, sampler, epoch);
    const auto scores = ddp(batch.narrow(1, 0, kContext));
    auto loss =
        torch::nn::functional::cross_entropy(scores.reshape({-1, 128}), batch.narrow(1, 1, kContext).reshape({-1}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    speed.communication += ddp.reducer().communication_seconds();
    speed.waiting += ddp.reducer().waiting_seconds();
    speed.last_loss = loss.item<double>();
    speed.first_loss = step == 0 ? speed.last_loss : speed.first_loss;
    if (show) {
      constexpr int64_t width = 40;
      const auto filled = static_cast<int>((step + 1) * width / steps);
      std::fprintf(
          stderr, "\r[%.*s%*s] %3lld %%  loss %.3f", filled, "########################################",
          static_cast<int>(width) - filled, "", static_cast<long long>((step + 1) * 100 / steps), speed.last_loss);
    }
  }
  if (show) {
    std::fputc('\n', stderr);
  }
  speed.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return speed;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const dist::Session session;
  auto text = torch::empty({static_cast<int64_t>(sizeof kText) - 1}, torch::kLong);
  for (int64_t i = 0; i < text.numel(); ++i) {
    text[i] = static_cast<int64_t>(kText[i]);
  }
  // What one rank does alone, while the others wait.
  const auto alone = dist::new_group({0});
  const int64_t few = std::max<int64_t>(1, options.steps / 5);
  double alone_speed = 0;
  if (alone) {
    alone_speed = static_cast<double>(few * options.batch * kContext) / train(text, options, few, alone, false).seconds;
  }
  dist::barrier();
  const bool show = session.rank() == 0 && ::isatty(STDERR_FILENO) != 0;
  const Speed speed = train(text, options, options.steps, dist::default_group(), show);
  if (session.rank() == 0) {
    const double tokens =
        static_cast<double>(options.steps * options.batch * kContext * session.world_size()) / speed.seconds;
    const double hidden = speed.communication > 0 ? std::max(0.0, 1 - speed.waiting / speed.communication) * 100 : 100;
    std::printf("ranks %d, steps %lld\n", session.world_size(), static_cast<long long>(options.steps));
    std::printf("loss %.4f -> %.4f\n", speed.first_loss, speed.last_loss);
    std::printf(
        "tokens/s %.0f, of one rank alone %.0f: scaling efficiency %.0f %%\n", tokens, alone_speed,
        tokens / alone_speed / session.world_size() * 100);
    std::printf(
        "communication %.1f %% of the time, %.0f %% of it hidden behind the backward pass\n",
        speed.communication / speed.seconds * 100, hidden);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "ddp: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ddp: %s\n", error.what());
  }
  return 1;
}
