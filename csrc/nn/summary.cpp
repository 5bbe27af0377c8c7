#include <csrc/nn/summary.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>
#include <string_view>

namespace torch {

namespace {

/// "Linear" of "torch::nn::LinearImpl".
std::string short_type(const std::string& name) {
  const size_t end = std::min(name.find('<'), name.size());
  const size_t colons = name.rfind("::", end);
  std::string type =
      name.substr(colons == std::string::npos ? 0 : colons + 2, end - (colons == std::string::npos ? 0 : colons + 2));
  constexpr std::string_view kImpl = "Impl";
  if (type.size() > kImpl.size() && type.compare(type.size() - kImpl.size(), kImpl.size(), kImpl) == 0) {
    type.resize(type.size() - kImpl.size());
  }
  return type;
}

int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.numel() * static_cast<int64_t>(tensor.itemsize());
}

/// 1234567 as "1,234,567".
std::string with_commas(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<size_t>(place), ",");
  }
  return digits;
}

std::string memory(int64_t bytes) {
  constexpr double kStep = 1024;
  const auto size = static_cast<double>(bytes);
  if (size < kStep) {
    return fmt::format("{} B", bytes);
  }
  if (size < kStep * kStep) {
    return fmt::format("{:.1f} KiB", size / kStep);
  }
  if (size < kStep * kStep * kStep) {
    return fmt::format("{:.1f} MiB", size / kStep / kStep);
  }
  return fmt::format("{:.2f} GiB", size / kStep / kStep / kStep);
}

std::string outputs_of(const LayerSummary& layer) {
  if (layer.calls == 0) {
    return "not seen";
  }
  std::string text;
  for (const auto& sizes : layer.output_sizes) {
    text += fmt::format("{}[{}]", text.empty() ? "" : ", ", fmt::join(sizes, ", "));
  }
  return text;
}

} // namespace

namespace detail {

struct SummaryRecorder::State {
  struct Watched {
    nn::Module* module;
    bool training;
    bool lowest;
    nn::RemovableHandle hook;
  };

  c10::NoGradGuard no_grad;
  nn::Module& model;
  ModelSummary summary;
  std::vector<Watched> watched; // each module once, parents first
  std::map<const nn::Module*, std::vector<size_t>> layers;
  std::set<const void*> counted;

  explicit State(nn::Module& m) : model(m) {}

  /// Adds the module and all below it to the table.
  void add(nn::Module& module, const std::string& name, size_t depth) {
    LayerSummary layer;
    layer.name = name;
    layer.type = short_type(module.name());
    layer.depth = depth;
    for (const at::Tensor& parameter : module.parameters(/*recurse=*/false)) {
      count(parameter, layer);
    }
    for (const at::Tensor& buffer : module.buffers(/*recurse=*/false)) {
      if (!counted.insert(buffer.unsafeGetTensorImpl()).second) {
        continue;
      }
      summary.buffers += buffer.numel();
      summary.buffer_bytes += bytes_of(buffer);
    }
    auto& places = layers[&module];
    const bool first = places.empty();
    places.push_back(summary.layers.size());
    summary.layers.push_back(std::move(layer));
    const auto children = module.named_children();
    if (first) {
      watched.push_back({&module, module.is_training(), children.is_empty(), {}});
    }
    for (const auto& child : children) {
      add(*child.value(), name.empty() ? child.key() : name + "." + child.key(), depth + 1);
    }
  }

  void count(const at::Tensor& parameter, LayerSummary& layer) {
    if (!counted.insert(parameter.unsafeGetTensorImpl()).second) {
      return;
    }
    layer.parameters += parameter.numel();
    summary.parameter_bytes += bytes_of(parameter);
    if (parameter.requires_grad()) {
      layer.trainable += parameter.numel();
    }
  }

  void called(const nn::Module& module, bool lowest, const std::vector<at::Tensor>& outputs) {
    for (const size_t place : layers[&module]) {
      LayerSummary& layer = summary.layers[place];
      ++layer.calls;
      layer.output_sizes.clear();
      for (const at::Tensor& output : outputs) {
        if (output.defined()) {
          layer.output_sizes.push_back(output.sizes().vec());
        }
      }
    }
    for (const at::Tensor& output : outputs) {
      if (lowest && output.defined()) {
        summary.output_bytes += bytes_of(output);
      }
    }
  }
};

SummaryRecorder::SummaryRecorder(nn::Module& model) : state_(std::make_unique<State>(model)) {
  State& state = *state_;
  state.add(model, "", 0);
  for (const LayerSummary& layer : state.summary.layers) {
    state.summary.parameters += layer.parameters;
    state.summary.trainable += layer.trainable;
  }
  model.eval();
  for (State::Watched& one : state.watched) {
    one.hook = one.module->register_forward_hook(
        [&state, lowest = one.lowest](
            nn::Module& module, const std::vector<at::Tensor>&, std::vector<at::Tensor>& outputs) {
          state.called(module, lowest, outputs);
        });
  }
}

SummaryRecorder::~SummaryRecorder() {
  for (State::Watched& one : state_->watched) {
    one.hook.remove();
    one.module->train(one.training); // parents first: what they say of those below is put right after it
  }
}

at::Tensor SummaryRecorder::example(at::IntArrayRef sizes) const {
  at::TensorOptions options;
  for (const at::Tensor& parameter : state_->model.parameters()) {
    options = parameter.options().requires_grad(false);
    break;
  }
  return at::zeros(sizes, options);
}

ModelSummary SummaryRecorder::result() const {
  return state_->summary;
}

std::string summary_text(const ModelSummary& summary) {
  std::vector<std::array<std::string, 3>> rows = {{"Layer", "Output", "Parameters"}};
  for (const LayerSummary& layer : summary.layers) {
    const std::string own = layer.name.substr(layer.name.rfind('.') + 1);
    std::string title = std::string(2 * layer.depth, ' ') + (own.empty() ? "" : own + ": ") + layer.type;
    if (layer.calls > 1) {
      title += fmt::format(" ({} calls)", layer.calls);
    }
    rows.push_back({std::move(title), outputs_of(layer), layer.parameters == 0 ? "-" : with_commas(layer.parameters)});
  }
  std::array<size_t, 3> widths = {};
  for (const auto& row : rows) {
    for (size_t column = 0; column < widths.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    text +=
        fmt::format("{:<{}}  {:<{}}  {:>{}}\n", rows[i][0], widths[0], rows[i][1], widths[1], rows[i][2], widths[2]);
    if (i == 0) {
      text += std::string(widths[0] + widths[1] + widths[2] + 4, '-') + "\n";
    }
  }
  text += std::string(widths[0] + widths[1] + widths[2] + 4, '-') + "\n";
  text += fmt::format(
      "Parameters: {}, {} of them trainable, {}\n", with_commas(summary.parameters), with_commas(summary.trainable),
      memory(summary.parameter_bytes));
  text += fmt::format("Buffers: {}, {}\n", with_commas(summary.buffers), memory(summary.buffer_bytes));
  text += fmt::format("Outputs of layers: {}\n", memory(summary.output_bytes));
  return text;
}

std::ostream& write_text(std::ostream& stream, const std::string& text) {
  return stream << text;
}

} // namespace detail

} // namespace torch
