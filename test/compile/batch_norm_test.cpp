// Batch normalization of training steps: statistics as a call, and the rest with what stands around it.
#include <catch2/catch.hpp>

#include <torch/compile.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

namespace nn = torch::nn;
using torch::Tensor;

struct Case {
  std::vector<int64_t> sizes;
  torch::Dtype dtype = torch::kFloat;
  bool is_affine = true;
  bool tracks = true;
  double momentum = 0.1;
  bool channels_last = false;

  int64_t channels() const {
    return sizes[1];
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{12, 10}, {4, 6, 9}, {3, 16, 7, 5}, {2, 5, 4, 3, 6}, {2, 3, 65, 70}}) {
    cases.push_back({sizes});
    cases.push_back({sizes, torch::kDouble});
    cases.push_back({sizes, torch::kFloat, false});
    cases.push_back({sizes, torch::kDouble, true, false});
    cases.push_back({sizes, torch::kFloat, false, false});
    cases.push_back({sizes, torch::kFloat, true, true, 0.7});
  }
  for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble}) {
    cases.push_back({{3, 16, 7, 5}, dtype, true, true, 0.1, true});
    cases.push_back({{2, 5, 40, 41}, dtype, false, true, 0.1, true});
  }
  return cases;
}

template <class Norm>
nn::Sequential norm_and(const Case& c, auto activation) {
  Norm norm(
      torch::nn::BatchNormOptions(c.channels()).affine(c.is_affine).track_running_stats(c.tracks).momentum(c.momentum));
  const torch::NoGradGuard no_grad;
  if (c.is_affine) {
    norm->weight.uniform_(0.5, 1.5);
    norm->bias.normal_();
  }
  nn::Sequential net(nn::Tanh(), norm, activation);
  net->to(c.dtype);
  return net;
}

nn::Sequential net_for(const Case& c) {
  torch::manual_seed(11);
  switch (c.sizes.size()) {
    case 2:
    case 3:
      return norm_and<nn::BatchNorm1d>(c, nn::SiLU());
    case 4:
      return norm_and<nn::BatchNorm2d>(c, nn::ReLU());
    default:
      return norm_and<nn::BatchNorm3d>(c, nn::GELU());
  }
}

Tensor input_for(const Case& c) {
  const Tensor x = torch::randn(c.sizes, c.dtype) * 3 + 1;
  return c.channels_last ? x.contiguous(torch::MemoryFormat::ChannelsLast) : x;
}

torch::CompileOptions options_for(const nn::Sequential& net) {
  torch::CompileOptions options;
  options.fullgraph = true;
  options.check_calls = 0;
  options.modules = {net.ptr()};
  return options;
}

std::string compiled_text(const std::string& explained) {
  return explained.substr(std::min(explained.size(), explained.find("compiled to")));
}

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

void check_equal(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].strides().equals(wanted[i].strides()));
    CHECK(got[i].equal(wanted[i]));
  }
}

} // namespace

TEST_CASE("A normalization and its gradients have the bits of eager in parts", "[compile][batch_norm]") {
  for (const Case& c : all_cases()) {
    CAPTURE(c.sizes, c.is_affine, c.tracks, c.channels_last, c.dtype == torch::kDouble);
    nn::Sequential eager = net_for(c), other = net_for(c);
    const auto compiled = torch::compile([&](const Tensor& x) { return other->forward(x); }, options_for(other));
    for (int call = 0; call < 3; ++call) {
      const Tensor x = input_for(c).requires_grad_(), y = x.detach().clone().requires_grad_();
      const Tensor wanted = eager->forward(x), got = compiled(y), grad = torch::randn_like(wanted);
      check_equal({got}, {wanted});
      wanted.backward(grad);
      got.backward(grad);
      check_equal({y.grad()}, {x.grad()});
    }
    check_equal(other->buffers(), eager->buffers());
    for (size_t i = 0; i < eager->parameters().size(); ++i) {
      check_equal({other->parameters()[i].grad()}, {eager->parameters()[i].grad()});
    }
    const std::string text = compiled_text(torch::explain(compiled));
    const bool takes_activation = c.dtype == torch::kFloat && c.sizes.size() < 5;
    CHECK(has(text, "call fused::batch_norm_statistics"));
    CHECK(has(text, "call fused::batch_norm_activation_backward") == takes_activation);
    CHECK(has(text, "call fused::batch_norm_gradients") == !takes_activation);
    CHECK_FALSE(has(text, "native_batch_norm"));
  }
}

TEST_CASE("Twenty steps with normalizations go as in eager", "[compile][batch_norm]") {
  const torch::Dtype dtype = GENERATE(torch::kFloat, torch::kDouble);
  const auto make = [&] {
    torch::manual_seed(12);
    nn::Sequential net(
        nn::Linear(20, 64), nn::BatchNorm1d(64), nn::SiLU(), nn::Linear(64, 64), nn::BatchNorm1d(64), nn::ReLU(),
        nn::Linear(64, 3));
    net->to(dtype);
    return net;
  };
  nn::Sequential eager = make(), other = make();
  torch::optim::AdamW adam(eager->parameters(), 0.01), other_adam(other->parameters(), 0.01);
  const auto step = [](nn::Sequential& net, torch::optim::AdamW& optimizer, const Tensor& x, const Tensor& y) {
    optimizer.zero_grad();
    const Tensor loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  torch::CompileOptions options = options_for(other);
  options.optimizers = {&other_adam};
  const auto compiled =
      torch::compile([&](const Tensor& x, const Tensor& y) { return step(other, other_adam, x, y); }, options);
  for (int i = 0; i < 20; ++i) {
    const Tensor x = torch::randn({100, 20}, dtype), y = torch::randn({100, 3}, dtype);
    check_equal({compiled(x, y)}, {step(eager, adam, x, y)});
  }
  check_equal(other->parameters(), eager->parameters());
  check_equal(other->buffers(), eager->buffers());
  CHECK(other[1]->as<nn::BatchNorm1d>()->num_batches_tracked.item<int64_t>() == 20);
  const std::string text = compiled_text(torch::explain(compiled));
  CHECK(has(text, "call fused::batch_norm_statistics"));
  CHECK_FALSE(has(text, "legit"));
}

TEST_CASE("What an activation takes is computed again in the backward pass", "[compile][batch_norm]") {
  torch::manual_seed(13);
  nn::Sequential net(nn::Linear(16, 64), nn::BatchNorm1d(64), nn::GELU(), nn::Linear(64, 8));
  const auto compiled = torch::compile(
      [&](const Tensor& x) {
        const Tensor loss = net->forward(x).square().mean();
        loss.backward();
        return loss.detach();
      },
      options_for(net));
  for (int i = 0; i < 3; ++i) {
    for (Tensor& parameter : net->parameters()) {
      parameter.mutable_grad() = Tensor();
    }
    compiled(torch::randn({256, 16}));
  }
  const std::string text = compiled_text(torch::explain(compiled));
  const size_t backward = text.find("aten::gelu_backward");
  REQUIRE(backward != std::string::npos);
  // Of the loop that the derivative is in.
  const std::string loop = text.substr(text.rfind("group", backward), backward - text.rfind("group", backward));
  CHECK(has(loop, "aten::sub"));
  CHECK(has(loop, "aten::addcmul"));
}

TEST_CASE("Normalizations of 16-bit numbers and by running statistics stay whole", "[compile][batch_norm]") {
  nn::Sequential net(nn::BatchNorm2d(8), nn::ReLU());
  const auto compiled = torch::compile([&](const Tensor& x) { return net->forward(x); }, options_for(net));
  const Tensor x = torch::randn({2, 8, 20, 20}).to(torch::kBFloat16).requires_grad_();
  for (int i = 0; i < 3; ++i) {
    compiled(x).sum().backward();
  }
  CHECK_FALSE(has(torch::explain(compiled), "fused::batch_norm"));
  net->eval();
  const Tensor image = torch::randn({2, 8, 20, 20}).requires_grad_();
  const Tensor wanted = net->forward(image);
  for (int i = 0; i < 3; ++i) {
    check_equal({compiled(image)}, {wanted});
  }
  CHECK_FALSE(has(torch::explain(compiled), "fused::batch_norm"));
}

TEST_CASE("Instance normalization is taken apart", "[compile][batch_norm]") {
  for (const bool tracks : {false, true}) {
    const auto make = [&] {
      return nn::Sequential(
          nn::InstanceNorm2d(nn::InstanceNorm2dOptions(6).affine(true).track_running_stats(tracks)), nn::GELU());
    };
    nn::Sequential eager = make(), other = make();
    const auto compiled = torch::compile([&](const Tensor& x) { return other->forward(x); }, options_for(other));
    for (int i = 0; i < 3; ++i) {
      const Tensor x = torch::randn({3, 6, 12, 10}).requires_grad_(), y = x.detach().clone().requires_grad_();
      const Tensor wanted = eager->forward(x), got = compiled(y);
      check_equal({got}, {wanted});
      wanted.square().sum().backward();
      got.square().sum().backward();
      check_equal({y.grad()}, {x.grad()});
    }
    check_equal(other->buffers(), eager->buffers());
    CHECK(has(torch::explain(compiled), "call fused::batch_norm_statistics"));
  }
}

namespace {

/// Normalizations, activations, sums and products on a growing list of values.
struct RandomNormsImpl : nn::Module {
  RandomNormsImpl(uint32_t seed, int64_t channels, bool is_image) {
    start_ = register_parameter(
        "start", torch::ones(is_image ? std::vector<int64_t>{channels, 1, 1} : std::vector<int64_t>{channels}));
    std::mt19937 random(seed);
    const auto pick = [&](size_t count) { return static_cast<size_t>(random() % count); };
    const size_t count = 4 + pick(14);
    for (size_t i = 0; i < count; ++i) {
      const size_t from = pick(3) == 0 ? pick(i + 1) : i, other = pick(i + 1);
      switch (pick(9)) {
        case 0:
        case 1:
        case 2: {
          const auto options = nn::BatchNormOptions(channels).affine(pick(4) != 0).track_running_stats(pick(4) != 0);
          const std::string name = "norm" + std::to_string(i);
          if (is_image) {
            auto norm = register_module(name, nn::BatchNorm2d(options));
            steps_.emplace_back([=](Values& v) mutable { return norm->forward(v[from]); });
          } else {
            auto norm = register_module(name, nn::BatchNorm1d(options));
            steps_.emplace_back([=](Values& v) mutable { return norm->forward(v[from]); });
          }
          break;
        }
        case 3:
          steps_.emplace_back([=](Values& v) { return v[from].relu(); });
          break;
        case 4:
        case 5:
          steps_.emplace_back([=](Values& v) { return torch::silu(v[from]); });
          break;
        case 6:
          steps_.emplace_back([=](Values& v) { return torch::gelu(v[from]); });
          break;
        case 7:
          steps_.emplace_back([=](Values& v) { return v[from] + v[other]; });
          break;
        default:
          steps_.emplace_back([=](Values& v) { return v[from] * torch::tanh(v[other]); });
      }
    }
  }
  Tensor forward(const Tensor& x) {
    Values values{x * start_};
    for (auto& step : steps_) {
      values.push_back(step(values));
    }
    return values.back() + values[values.size() / 2];
  }

 private:
  using Values = std::vector<Tensor>;
  Tensor start_;
  std::vector<std::function<Tensor(Values&)>> steps_;
};
TORCH_MODULE(RandomNorms);

void compare_random_norms(uint32_t first, uint32_t count) {
  for (uint32_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    const bool is_image = seed % 2 == 0, is_step = seed % 3 == 0;
    const std::vector<int64_t> sizes = is_image ? std::vector<int64_t>{2, 6, 31, 33} : std::vector<int64_t>{300, 20};
    RandomNorms eager(seed, sizes[1], is_image), other(seed, sizes[1], is_image);
    torch::CompileOptions options = options_for(nn::Sequential(other));
    options.memory_budget = seed % 5 == 0 ? 0.5 : 1;
    const auto step = [&](RandomNorms& net, const Tensor& x) {
      const Tensor loss = (net->forward(x) * torch::cos(x)).mean();
      if (is_step) {
        loss.backward();
      }
      return loss.detach();
    };
    const auto compiled = torch::compile(
        [&](const Tensor& x) { return is_step ? step(other, x) : (other->forward(x) * torch::cos(x)).mean(); },
        options);
    for (int call = 0; call < 3; ++call) {
      eager->zero_grad();
      other->zero_grad();
      torch::manual_seed(seed + static_cast<uint32_t>(call));
      const Tensor x = torch::randn(sizes).requires_grad_(!is_step), y = x.detach().clone().requires_grad_(!is_step);
      Tensor wanted = is_step ? step(eager, x) : (eager->forward(x) * torch::cos(x)).mean(), got = compiled(y);
      REQUIRE(got.equal(wanted));
      if (!is_step) {
        wanted.backward();
        got.backward();
        REQUIRE(y.grad().equal(x.grad()));
      }
      const auto own = other->parameters(), all = eager->parameters();
      for (size_t i = 0; i < all.size(); ++i) {
        REQUIRE(own[i].grad().defined() == all[i].grad().defined());
        REQUIRE((!all[i].grad().defined() || own[i].grad().equal(all[i].grad())));
      }
    }
    const auto own = other->buffers(), all = eager->buffers();
    for (size_t i = 0; i < all.size(); ++i) {
      REQUIRE(own[i].equal(all[i]));
    }
  }
}

} // namespace

TEST_CASE("Random nets of normalizations train with the bits of eager", "[compile][batch_norm][fuzz]") {
  compare_random_norms(1, 40);
}

TEST_CASE("Very many random nets of normalizations train with the bits of eager", "[slow][compile][batch_norm][fuzz]") {
  compare_random_norms(1000, 5000);
}
