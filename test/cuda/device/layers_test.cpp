// Recurrent layers as programs have them: on the GPU they give what they give on the CPU, and so do their gradients.
#include "support.h"

#include <ATen/autocast_mode.h>

using test::kGpu;
using test::near;

namespace {

namespace rnn = torch::nn::utils::rnn;

/// Copies of the parameters on the GPU.
template <class Layer>
Layer on_gpu(const Layer& layer) {
  auto copy = std::dynamic_pointer_cast<typename Layer::ContainedType>(layer->clone(kGpu));
  return Layer(copy);
}

template <class Layer>
void check_gradients(const Layer& cpu, const Layer& gpu, double tolerance) {
  for (const auto& parameter : cpu->named_parameters()) {
    INFO(parameter.key());
    CHECK(near(gpu->named_parameters()[parameter.key()].grad(), parameter.value().grad(), tolerance, tolerance));
  }
}

/// Forward and backward of sequences of one length, and of packed ones.
template <class Layer>
void check_layer(Layer cpu, int64_t width, double tolerance) {
  Layer gpu = on_gpu(cpu);
  const at::Tensor input = torch::randn({6, 4, width}, cpu->parameters()[0].scalar_type());
  const at::Tensor lengths = torch::tensor({6, 5, 5, 2}, at::kLong);
  for (const bool packed : {false, true}) {
    INFO("packed: " << packed);
    cpu->zero_grad();
    gpu->zero_grad();
    const auto run = [&](Layer& layer, const at::Device& device) {
      at::Tensor x = input.to(device).detach().requires_grad_(true), output;
      if (packed) {
        auto [out, state] = layer->forward_with_packed_input(rnn::pack_padded_sequence(x, lengths));
        output = out.data();
      } else {
        output = std::get<0>(layer->forward(x));
      }
      output.sin().sum().backward();
      return std::make_tuple(output.detach(), x.grad());
    };
    const auto [output, grad] = run(gpu, kGpu);
    const auto [wanted, wanted_grad] = run(cpu, at::kCPU);
    CHECK(near(output, wanted, tolerance, tolerance));
    CHECK(near(grad, wanted_grad, tolerance, tolerance));
    check_gradients(cpu, gpu, 10 * tolerance);
  }
}

/// The switches of cuDNN are afterwards as they were.
struct Settings {
  bool enabled = at::globalContext().userEnabledCuDNN(), tf32 = at::globalContext().allowTF32CuDNN();

  Settings() = default;
  Settings(const Settings&) = delete;
  ~Settings() {
    at::globalContext().setUserEnabledCuDNN(enabled);
    at::globalContext().setAllowTF32CuDNN(tf32);
  }
};

} // namespace

TEST_CASE("recurrent layers and their gradients, with and without cuDNN", "[cuda][rnn]") {
  torch::manual_seed(3);
  const Settings settings;
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setUserEnabledCuDNN(GENERATE(true, false));
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const double tolerance = dtype == at::kDouble ? 1e-10 : 1e-4;
    const auto of_dtype = [&](auto layer) {
      layer->to(dtype);
      return layer;
    };
    for (const bool both_ways : {false, true}) {
      INFO(dtype << ", bidirectional: " << both_ways);
      check_layer(
          of_dtype(torch::nn::LSTM(torch::nn::LSTMOptions(5, 7).num_layers(2).bidirectional(both_ways))), 5, tolerance);
      check_layer(
          of_dtype(torch::nn::LSTM(torch::nn::LSTMOptions(5, 7).proj_size(3).bidirectional(both_ways))), 5, tolerance);
      check_layer(
          of_dtype(torch::nn::GRU(torch::nn::GRUOptions(5, 7).num_layers(2).bidirectional(both_ways))), 5, tolerance);
      check_layer(
          of_dtype(torch::nn::GRU(torch::nn::GRUOptions(5, 7).bias(false).bidirectional(both_ways))), 5, tolerance);
      check_layer(
          of_dtype(torch::nn::RNN(torch::nn::RNNOptions(5, 7).nonlinearity(torch::kReLU).bidirectional(both_ways))), 5,
          tolerance);
      check_layer(
          of_dtype(torch::nn::RNN(torch::nn::RNNOptions(5, 7).num_layers(2).bidirectional(both_ways))), 5, tolerance);
    }
  }
}

TEST_CASE("recurrent layers in half, and under autocast", "[cuda][rnn]") {
  torch::manual_seed(4);
  const torch::nn::LSTM cpu(torch::nn::LSTMOptions(8, 16).num_layers(2).bidirectional(true));
  const at::Tensor input = torch::randn({5, 3, 8});
  const at::Tensor wanted = std::get<0>(torch::nn::LSTM(cpu)->forward(input));
  for (const auto dtype : {at::kHalf, at::kBFloat16}) {
    INFO(dtype);
    const double tolerance = dtype == at::kHalf ? 1e-2 : 5e-2;
    torch::nn::LSTM low = on_gpu(cpu), cast = on_gpu(cpu);
    low->to(dtype);
    CHECK(near(std::get<0>(low->forward(input.to(kGpu).to(dtype))), wanted.to(dtype), tolerance, tolerance));
    at::autocast::set_autocast_dtype(at::kCUDA, dtype);
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    const auto [output, states] = cast->forward(input.to(kGpu));
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    CHECK(near(output, wanted.to(dtype), tolerance, tolerance)); // in the lower precision
    CHECK(std::get<1>(states).scalar_type() == dtype);
    output.to(at::kFloat).sum().backward();
    for (const at::Tensor& parameter : cast->parameters()) {
      CHECK(parameter.grad().scalar_type() == at::kFloat);
    }
  }
  at::autocast::set_autocast_dtype(at::kCUDA, at::kHalf);
}

TEST_CASE("weights of recurrent layers that cuDNN takes share a buffer", "[cuda][rnn]") {
  torch::nn::GRU layer(torch::nn::GRUOptions(5, 7).num_layers(2).bidirectional(true));
  const at::Tensor input = torch::randn({6, 2, 5}), wanted = std::get<0>(layer->forward(input)).detach();
  layer->to(kGpu);
  const std::vector<at::Tensor> weights = layer->all_weights();
  for (const at::Tensor& w : weights) {
    CHECK(w.requires_grad());
    CHECK(w.is_leaf());
    CHECK(w.is_alias_of(weights[0]) == at::Context::hasCuDNN());
  }
  CHECK(near(std::get<0>(layer->forward(input.to(kGpu))).detach(), wanted, 1e-2, 1e-2));
  // The module's own parameters, not copies of them.
  torch::optim::SGD(layer->parameters(), 0.1).zero_grad();
  std::get<0>(layer->forward(input.to(kGpu))).sum().backward();
  for (const at::Tensor& parameter : layer->parameters()) {
    CHECK(parameter.grad().sizes() == parameter.sizes());
  }
  // Parameters with memory of their own are taken as well, and flattened when asked for.
  {
    const torch::NoGradGuard no_grad;
    layer->parameters()[0].set_data(layer->parameters()[0].clone());
  }
  CHECK(near(std::get<0>(layer->forward(input.to(kGpu))).detach(), wanted, 1e-2, 1e-2));
  layer->flatten_parameters();
  CHECK(layer->all_weights()[0].is_alias_of(layer->all_weights()[1]) == at::Context::hasCuDNN());
  CHECK(near(std::get<0>(layer->forward(input.to(kGpu))).detach(), wanted, 1e-2, 1e-2));
}

TEST_CASE("gradients of recurrent layers in evaluation, twice, and again", "[cuda][rnn]") {
  const Settings settings;
  at::globalContext().setAllowTF32CuDNN(false);
  torch::nn::LSTM cpu(torch::nn::LSTMOptions(5, 7).num_layers(2)), gpu = on_gpu(cpu);
  cpu->eval();
  gpu->eval();
  const at::Tensor input = torch::randn({6, 2, 5});
  const auto gradient = [&](torch::nn::LSTM& layer, const at::Device& device, bool twice) {
    const at::Tensor x = input.to(device).detach().requires_grad_(true);
    const at::Tensor loss = std::get<0>(layer->forward(x)).sin().sum();
    const at::Tensor once = torch::autograd::grad({loss}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/twice)[0];
    // The graph can be gone through again.
    CHECK(near(torch::autograd::grad({loss}, {x}, {}, true)[0].detach(), once.detach(), 1e-4, 1e-5));
    return twice ? torch::autograd::grad({once.cos().sum()}, {x})[0] : once;
  };
  CHECK(near(gradient(gpu, kGpu, false), gradient(cpu, at::kCPU, false), 1e-4, 1e-4));
  if (at::Context::hasCuDNN()) {
    CHECK_THROWS_WITH(gradient(gpu, kGpu, true), Catch::Contains("Double backwards is not supported for CuDNN RNNs"));
  }
  at::globalContext().setUserEnabledCuDNN(false);
  CHECK(near(gradient(gpu, kGpu, true), gradient(cpu, at::kCPU, true), 1e-4, 1e-4));
}

TEST_CASE("dropout between layers, and layers without steps to learn from", "[cuda][rnn]") {
  torch::nn::GRU layer(torch::nn::GRUOptions(4, 6).num_layers(3).dropout(0.5));
  layer->to(kGpu);
  const at::Tensor input = torch::randn({5, 2, 4}, kGpu);
  torch::manual_seed(5);
  const at::Tensor first = std::get<0>(layer->forward(input));
  torch::manual_seed(5);
  CHECK(near(std::get<0>(layer->forward(input)), first));
  CHECK(!near(std::get<0>(layer->forward(input)), first));
  layer->eval();
  CHECK(near(std::get<0>(layer->forward(input)), std::get<0>(layer->forward(input))));
}

TEST_CASE("under autocast calls that share weights have backward passes of their own", "[cuda]") {
  torch::nn::Linear cpu(8, 6), layer = on_gpu(cpu);
  at::autocast::set_autocast_dtype(at::kCUDA, at::kHalf);
  for (const bool on_cpu : {true, false}) {
    torch::nn::Linear& used = on_cpu ? cpu : layer;
    const at::Device device = on_cpu ? at::Device(at::kCPU) : kGpu;
    const at::Tensor a = torch::full({4, 8}, 0.5).to(device).requires_grad_(),
                     b = torch::full({4, 8}, -0.25).to(device).requires_grad_();
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    const at::Tensor first = used((a * a).exp()), second = used((b * b).exp());
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    first.to(at::kFloat).sum().backward();
    second.to(at::kFloat).sum().backward(); // leaves alone what the first pass has freed
    CHECK(b.grad().defined());
  }
  check_gradients(cpu, layer, 2e-2);
}
