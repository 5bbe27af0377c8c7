// Classes of a program's own that derive from the library's: norms, convolutions and cells, an optimizer with options
// and state, schedules, samplers and datasets, functions with gradients. What they inherit, print, save and load.
#include <torch/torch.h>

#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;
namespace optim = torch::optim;
namespace data = torch::data;
using torch::Tensor;

namespace {

// ---- modules

/// A norm over the last dimension, from the base of batch norms.
class LastNormImpl : public nn::NormImplBase<1, LastNormImpl, nn::BatchNormOptions> {
 public:
  using nn::NormImplBase<1, LastNormImpl, nn::BatchNormOptions>::NormImplBase;
  Tensor forward(const Tensor& input) {
    this->_check_input_dim(input);
    return F::detail::batch_norm(
        input, this->running_mean, this->running_var, this->weight, this->bias,
        this->is_training() || !this->options.track_running_stats(), *this->options.momentum(), this->options.eps());
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "LastNorm(" << this->options.num_features() << ", eps=" << this->options.eps() << ")";
  }

 protected:
  void _check_input_dim(const Tensor& input) override {
    TORCH_CHECK(input.dim() == 2, "LastNorm: 2 dimensions are expected, got ", input.dim());
  }
};
TORCH_MODULE(LastNorm);

/// A convolution whose weight is standardized.
class StandardConvImpl : public nn::ConvNdImpl<2, StandardConvImpl> {
 public:
  explicit StandardConvImpl(nn::ConvOptions<2> options_)
      : ConvNdImpl(nn::detail::ConvNdOptions<2>(options_.in_channels(), options_.out_channels(), options_.kernel_size())
                       .stride(options_.stride())
                       .padding(options_.padding())
                       .dilation(options_.dilation())
                       .groups(options_.groups())
                       .bias(options_.bias())
                       .padding_mode(options_.padding_mode())) {}
  Tensor forward(const Tensor& input) {
    const Tensor mean = weight.mean({1, 2, 3}, true);
    const Tensor standard = (weight - mean) / (weight.flatten(1).std(1).view({-1, 1, 1, 1}) + 1e-5);
    if (std::get_if<torch::enumtype::kCircular>(&options.padding_mode()) != nullptr) {
      return F::detail::conv2d(
          F::detail::pad(input, _reversed_padding_repeated_twice, torch::kCircular, 0), standard, bias,
          options.stride(),
          /*padding=*/0, options.dilation(), options.groups());
    }
    return F::detail::conv2d(
        input, standard, bias, options.stride(), options.padding(), options.dilation(), options.groups());
  }
};
TORCH_MODULE(StandardConv);

/// Layers chosen at run time.
nn::AnyModule activation(const std::string& name) {
  if (name == "relu") {
    return nn::AnyModule(nn::ReLU());
  }
  if (name == "softplus") {
    return nn::AnyModule(nn::Softplus(nn::SoftplusOptions().beta(2)));
  }
  return nn::AnyModule(nn::Identity());
}

class BlockImpl : public nn::Cloneable<BlockImpl> {
 public:
  BlockImpl(int64_t width, std::string act, nn::AnyModule norm = nn::AnyModule())
      : width_(width), act_(std::move(act)), norm_(std::move(norm)) {
    reset();
  }
  void reset() override {
    body = register_module("body", nn::Sequential(nn::Linear(nn::LinearOptions(width_, width_).bias(false))));
    body->push_back(activation(act_));
    body->push_back("last", nn::Linear(width_, width_));
    scale = register_parameter("scale", torch::full({width_}, 0.5));
    seen = register_buffer("seen", torch::zeros({}, torch::kLong));
  }
  Tensor forward(Tensor x, double by = 1.0) {
    seen += 1;
    Tensor y = body->forward(x);
    if (!norm_.is_empty()) {
      y = norm_.forward<Tensor>(y);
    }
    return x + by * scale * y;
  }
  nn::Sequential body{nullptr};
  Tensor scale, seen;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(1.0)})

 private:
  int64_t width_;
  std::string act_;
  nn::AnyModule norm_;
};
TORCH_MODULE(Block);

void modules() {
  torch::manual_seed(11);
  LastNorm norm(nn::BatchNormOptions(6).eps(1e-3).momentum(0.2));
  const Tensor x = torch::randn({5, 6});
  report::close("norm", norm(x));
  report::close("norm mean", norm->running_mean);
  norm->eval();
  report::close("norm eval", norm(x));
  report::exact("norm prints", norm);
  try {
    norm(x.unsqueeze(0));
  } catch (const c10::Error& error) {
    report::exact("norm refuses", error.what_without_backtrace());
  }
  for (const auto& mode : std::vector<nn::detail::conv_padding_mode_t>{torch::kZeros, torch::kCircular}) {
    StandardConv conv(nn::ConvOptions<2>(3, 4, 3).padding(1).padding_mode(mode).bias(false));
    report::exact("conv", *conv);
    report::close("conv out", conv(torch::randn({2, 3, 5, 6})));
    report::exact("conv bias", conv->bias.defined());
  }
  Block block(6, "softplus", nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({6}))));
  report::exact("block", *block);
  report::close("block out", block(x));
  report::close("block by", block(x, 3.0));
  nn::AnyModule any(block);
  report::close("any", any.forward(x));
  report::exact("any type", any.type_info() == typeid(BlockImpl));
  const auto copy = std::dynamic_pointer_cast<BlockImpl>(block->clone());
  report::exact("copied seen", copy->seen.item<int64_t>());
  report::exact("apart", copy->scale.data_ptr() != block->scale.data_ptr());
  for (const auto& item : copy->named_modules("top")) {
    report::exact(item.key(), item.value()->name());
  }
  nn::ModuleDict by_name;
  by_name->update({{"a", nn::Linear(2, 2).ptr()}, {"b", block.ptr()}});
  report::exact("dict", by_name->keys());
  report::exact("dict prints", by_name);
}

// ---- an optimizer

struct SignOptions : public optim::OptimizerCloneableOptions<SignOptions> {
  explicit SignOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-2;
  TORCH_ARG(double, momentum) = 0.9;
  using betas_t = std::tuple<double, double>;
  TORCH_ARG(betas_t, betas) = std::make_tuple(0.9, 0.99);

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override {
    archive.write("lr", torch::tensor(lr()));
    archive.write("momentum", c10::IValue(momentum()));
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    Tensor rate;
    c10::IValue kept;
    archive.read("lr", rate);
    archive.read("momentum", kept);
    lr(rate.item<double>()).momentum(kept.toDouble());
  }
  double get_lr() const override {
    return lr();
  }
  void set_lr(const double value) override {
    lr(value);
  }
};

struct SignState : public optim::OptimizerCloneableParamState<SignState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, average);

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override {
    archive.write("step", torch::scalar_tensor(step(), torch::kInt64));
    if (average().defined()) {
      archive.write("average", average(), /*is_buffer=*/true);
    }
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    Tensor steps, kept;
    archive.read("step", steps);
    step(steps.item<int64_t>());
    if (archive.try_read("average", kept, /*is_buffer=*/true)) {
      average(kept);
    }
  }
};

class Sign : public optim::Optimizer {
 public:
  explicit Sign(std::vector<optim::OptimizerParamGroup> groups, SignOptions defaults = {})
      : Optimizer(std::move(groups), std::make_unique<SignOptions>(defaults)) {}
  explicit Sign(std::vector<Tensor> params, SignOptions defaults = {})
      : Sign({optim::OptimizerParamGroup(std::move(params))}, defaults) {}

  Tensor step(LossClosure closure = nullptr) override {
    Tensor loss;
    if (closure != nullptr) {
      at::AutoGradMode enable(true);
      loss = closure();
    }
    torch::NoGradGuard no_grad;
    for (auto& group : param_groups_) {
      auto& options = static_cast<SignOptions&>(group.options());
      for (auto& p : group.params()) {
        if (!p.grad().defined()) {
          continue;
        }
        auto found = state_.find(p.unsafeGetTensorImpl());
        if (found == state_.end()) {
          auto fresh = std::make_unique<SignState>();
          fresh->average(torch::zeros_like(p, torch::MemoryFormat::Preserve));
          state_[p.unsafeGetTensorImpl()] = std::move(fresh);
        }
        auto& state = static_cast<SignState&>(*state_[p.unsafeGetTensorImpl()]);
        state.step(state.step() + 1);
        state.average().mul_(options.momentum()).add_(p.grad(), 1 - options.momentum());
        p.add_(state.average().sign(), -options.lr());
      }
    }
    return loss;
  }
  void save(torch::serialize::OutputArchive& archive) const override {
    optim::serialize<SignState, SignOptions>(archive, *this);
  }
  void load(torch::serialize::InputArchive& archive) override {
    optim::serialize<SignState, SignOptions>(archive, *this);
  }
};

/// Warms up, then falls as a cosine.
class Warm : public optim::LRScheduler {
 public:
  Warm(optim::Optimizer& optimizer, unsigned warm, unsigned total)
      : LRScheduler(optimizer), warm_(warm), total_(total), start_(get_current_lrs()) {}
  double rate() {
    return get_current_lrs()[0];
  }
  void save(torch::serialize::OutputArchive& archive) const {
    archive.write("step_count", c10::IValue(static_cast<int64_t>(step_count_)));
    archive.write("lrs", c10::IValue(get_current_lrs()));
  }

 private:
  std::vector<double> get_lrs() override {
    auto rates = start_;
    for (auto& rate : rates) {
      rate *= step_count_ < warm_ ? double(step_count_ + 1) / warm_
                                  : 0.5 * (1 + std::cos(M_PI * (step_count_ - warm_) / (total_ - warm_)));
    }
    return rates;
  }
  unsigned warm_, total_;
  std::vector<double> start_;
};

void optimizers() {
  torch::manual_seed(12);
  nn::Linear model(4, 3);
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{model->weight});
  groups.emplace_back(std::vector<Tensor>{model->bias});
  Sign sign(groups, SignOptions(0.02));
  Warm warm(sign, 4, 20);
  const Tensor x = torch::randn({16, 4}), y = torch::randn({16, 3});
  auto run = [&](Sign& with, int steps, const char* name) {
    for (int i = 0; i < steps; ++i) {
      const Tensor loss = with.step([&] {
        with.zero_grad();
        Tensor value = F::smooth_l1_loss(model(x), y, torch::kSum);
        value.backward();
        return value;
      });
      report::number(name, loss.item<double>());
    }
  };
  for (int i = 0; i < 12; ++i) {
    run(sign, 1, "sign");
    warm.step();
    report::number("rate", warm.rate());
    report::number("rate of group", sign.param_groups()[1].options().get_lr());
  }
  std::stringstream stream;
  torch::save(sign, stream);
  Sign again(groups, SignOptions(0.7));
  torch::load(again, stream);
  report::number("loaded", static_cast<SignOptions&>(again.param_groups()[0].options()).lr());
  report::exact("states", again.state().size());
  run(again, 3, "again");
  torch::serialize::OutputArchive kept;
  warm.save(kept);
  std::stringstream bytes;
  kept.save_to(bytes);
  torch::serialize::InputArchive found;
  found.load_from(bytes);
  c10::IValue count, rates, none;
  found.read("step_count", count);
  found.read("lrs", rates);
  report::exact("count", count.toInt());
  report::exact("rates", rates.toDoubleVector().size());
  report::exact("none", found.try_read("none", none));
  for (auto& group : again.param_groups()) {
    static_cast<SignOptions&>(group.options()).lr(1e-3);
    report::exact("has options", group.has_options());
  }
  report::number("set", again.param_groups()[0].options().get_lr());
  sign.add_param_group(optim::OptimizerParamGroup({torch::ones({2}, torch::requires_grad())}));
  report::exact("groups", sign.param_groups().size());
}

// ---- data

struct Numbers : public data::datasets::Dataset<Numbers> {
  explicit Numbers(int64_t n) : values(torch::arange(n, torch::kFloat)) {}
  data::Example<> get(size_t index) override {
    return {values[index], torch::tensor(static_cast<int64_t>(index % 3))};
  }
  torch::optional<size_t> size() const override {
    return values.size(0);
  }
  Tensor values;
};

/// Goes on for ever.
class Endless : public data::samplers::RandomSampler {
 public:
  explicit Endless(size_t size) : RandomSampler(static_cast<int64_t>(size)) {}
  torch::optional<std::vector<size_t>> next(size_t batch_size) override {
    auto batch = RandomSampler::next(batch_size);
    if (!batch) {
      reset();
      batch = RandomSampler::next(batch_size);
    }
    return batch;
  }
};

/// Every other index, in turn.
class Strided : public data::samplers::Sampler<> {
 public:
  Strided(size_t size, size_t step) : size_(size), step_(step) {}
  void reset(torch::optional<size_t> new_size = torch::nullopt) override {
    size_ = new_size.value_or(size_);
    at_ = 0;
  }
  torch::optional<std::vector<size_t>> next(size_t batch_size) override {
    std::vector<size_t> batch;
    for (; batch.size() < batch_size && at_ < size_; at_ += step_) {
      batch.push_back(at_);
    }
    return batch.empty() ? torch::nullopt : torch::make_optional(std::move(batch));
  }
  void save(torch::serialize::OutputArchive& archive) const override {
    archive.write("at", torch::tensor(static_cast<int64_t>(at_)));
  }
  void load(torch::serialize::InputArchive& archive) override {
    Tensor at;
    archive.read("at", at);
    at_ = at.item<int64_t>();
  }

 private:
  size_t size_, step_, at_ = 0;
};

/// Batches of its own making, until it is at its end.
struct Stream : public data::datasets::StatefulDataset<Stream, std::vector<data::Example<>>, size_t> {
  torch::optional<std::vector<data::Example<>>> get_batch(size_t size) override {
    if (at >= 7) {
      return torch::nullopt;
    }
    std::vector<data::Example<>> batch;
    for (size_t i = 0; i < size && at < 7; ++i, ++at) {
      batch.emplace_back(torch::full({2}, static_cast<double>(at)), torch::tensor(static_cast<int64_t>(at)));
    }
    return batch;
  }
  torch::optional<size_t> size() const override {
    return torch::nullopt;
  }
  void reset() override {
    at = 0;
  }
  void save(torch::serialize::OutputArchive& archive) const override {
    archive.write("at", torch::tensor(static_cast<int64_t>(at)));
  }
  void load(torch::serialize::InputArchive& archive) override {
    Tensor kept;
    archive.read("at", kept);
    at = kept.item<int64_t>();
  }
  size_t at = 0;
};

struct Doubled : public data::transforms::TensorTransform<> {
  Tensor operator()(Tensor input) override {
    return input * 2;
  }
};

/// Pads to the longest of a batch.
struct Padded : public data::transforms::Collation<data::Example<>> {
  data::Example<> apply_batch(std::vector<data::Example<>> examples) override {
    std::vector<Tensor> inputs, targets;
    for (auto& example : examples) {
      inputs.push_back(torch::ones({example.target.item<int64_t>() + 1}) * example.data.flatten());
      targets.push_back(example.target);
    }
    return {nn::utils::rnn::pad_sequence(inputs, /*batch_first=*/true, -1), torch::stack(targets)};
  }
};

void loading() {
  torch::manual_seed(13);
  auto mapped = Numbers(7).map(Doubled()).map(data::transforms::Normalize<>(1.0, 2.0)).map(Padded());
  report::exact("size", *mapped.size());
  auto strided = data::make_data_loader(mapped, Strided(7, 2), data::DataLoaderOptions().batch_size(3));
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& batch : *strided) {
      report::close("strided", batch.data);
      report::close("targets", batch.target);
    }
  }
  auto endless =
      data::make_data_loader(Numbers(7).map(data::transforms::Stack<>()), Endless(7), data::DataLoaderOptions(3));
  int taken = 0;
  for (auto& batch : *endless) {
    report::close("endless", batch.data);
    if (++taken == 5) {
      break;
    }
  }
  auto streamed =
      data::make_data_loader(Stream().map(data::transforms::Stack<>()), data::DataLoaderOptions().batch_size(3));
  for (auto& batch : *streamed) {
    report::close("streamed", batch.data);
  }
  auto shared = data::datasets::make_shared_dataset<Numbers>(5);
  auto from_shared =
      data::make_data_loader<data::samplers::SequentialSampler>(shared.map(data::transforms::Stack<>()), 2);
  for (auto it = from_shared->begin(); it != from_shared->end(); ++it) {
    report::close("shared", it->data);
  }
  std::stringstream bytes;
  Strided sampler(9, 2);
  sampler.next(2);
  torch::serialize::OutputArchive out;
  sampler.save(out);
  out.save_to(bytes);
  torch::serialize::InputArchive in;
  in.load_from(bytes);
  Strided other(9, 2);
  other.load(in);
  report::exact("goes on at", (*other.next(1))[0]);
}

// ---- functions

struct Clamp01 : public torch::autograd::Function<Clamp01> {
  static torch::autograd::tensor_list forward(
      torch::autograd::AutogradContext* ctx, at::TensorList inputs, double slope, const c10::optional<Tensor>& weight) {
    ctx->set_materialize_grads(false);
    torch::autograd::variable_list outputs, kept;
    for (const Tensor& input : inputs) {
      outputs.push_back((weight ? input * *weight : input).clamp(0, 1));
      kept.push_back(input);
    }
    outputs.push_back(torch::tensor(static_cast<int64_t>(inputs.size())));
    ctx->mark_non_differentiable({outputs.back()});
    ctx->save_for_backward(kept);
    ctx->saved_data["slope"] = slope;
    ctx->saved_data["names"] = std::vector<std::string>{"a", "b"};
    ctx->saved_data["sizes"] = inputs[0].sizes();
    return outputs;
  }
  static torch::autograd::tensor_list backward(
      torch::autograd::AutogradContext* ctx, const torch::autograd::tensor_list& grads) {
    const auto kept = ctx->get_saved_variables();
    torch::autograd::tensor_list result;
    for (size_t i = 0; i < kept.size(); ++i) {
      report::exact(
          "grad of",
          ctx->saved_data["names"].toListRef()[i].toStringRef() + (grads[i].defined() ? " defined" : " undefined"));
      result.push_back(
          grads[i].defined()
              ? grads[i] * torch::where((kept[i] > 0) & (kept[i] < 1), 1.0, ctx->saved_data["slope"].toDouble())
              : Tensor());
    }
    report::exact("sizes", ctx->saved_data["sizes"].toIntVector());
    result.resize(kept.size() + 2);
    return result;
  }
};

void functions() {
  torch::manual_seed(14);
  std::vector<Tensor> inputs{torch::randn({4}, torch::requires_grad()), torch::randn({4}, torch::requires_grad())};
  auto outputs = Clamp01::apply(at::TensorList(inputs), 0.1, c10::nullopt);
  report::exact("outputs", outputs.size());
  report::exact("count differs", outputs[2].requires_grad());
  report::exact("node", outputs[0].grad_fn()->num_inputs());
  outputs[0].sum().backward();
  report::close("first", inputs[0].grad());
  report::exact("second", inputs[1].grad().defined());
  std::istringstream words("(1.5,-2) 3 (nope");
  c10::complex<double> number;
  words >> number;
  report::exact("complex", number);
  words >> number;
  report::exact("real", number);
  words >> number;
  report::exact("failed", words.fail());
}

} // namespace

int main() {
  modules();
  optimizers();
  loading();
  functions();
}
