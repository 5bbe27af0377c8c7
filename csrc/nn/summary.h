// The layers of a module with the sizes of their outputs and the number of their parameters, as a table.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/OwnedPtr.h>
#include <csrc/nn/Module.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace torch {

/// One line of a summary. (The structs are templates, so that a program pays for them where it uses them.)
template <class Sizes>
struct BasicLayerSummary {
  /// Under which the layer is registered; empty for the whole.
  std::string name;
  /// The class, such as "Linear".
  std::string type;
  /// How many modules are above it.
  size_t depth = 0;
  /// How often it was called, and the sizes of the tensors that the last call returned. Calls are seen as hooks see
  /// them: those through a holder or by a container, not `layer->forward(x)`.
  int64_t calls = 0;
  std::vector<Sizes> output_sizes;
  /// Elements of its own parameters, without those of layers below; what is registered twice counts the first time.
  int64_t parameters = 0;
  int64_t trainable = 0;
};
using LayerSummary = BasicLayerSummary<std::vector<int64_t>>;

template <class Layer>
struct BasicModelSummary;
using ModelSummary = BasicModelSummary<LayerSummary>;

namespace detail {
TORCH_API std::string summary_text(const ModelSummary& summary);
TORCH_API std::ostream& write_text(std::ostream& stream, const std::string& text);
} // namespace detail

/// What summary() tells of a module.
template <class Layer>
struct BasicModelSummary {
  /// Parents first.
  std::vector<Layer> layers;
  /// Elements and bytes of all parameters, of those that require a gradient, and of all buffers.
  int64_t parameters = 0;
  int64_t trainable = 0;
  int64_t buffers = 0;
  int64_t parameter_bytes = 0;
  int64_t buffer_bytes = 0;
  /// Bytes of what the lowest layers returned, which is about what training keeps for the backward pass.
  int64_t output_bytes = 0;

  /// The table, with the totals below.
  std::string text() const {
    return detail::summary_text(*this);
  }
  friend std::ostream& operator<<(std::ostream& stream, const BasicModelSummary& summary) {
    return detail::write_text(stream, summary.text());
  }
};

namespace detail {

/// Watches the calls of a module and of all below it. Until it ends they are in evaluation mode and gradients are off;
/// then everything is as it was.
class TORCH_API SummaryRecorder {
 public:
  explicit SummaryRecorder(nn::Module& model);
  ~SummaryRecorder();
  SummaryRecorder(const SummaryRecorder&) = delete;
  SummaryRecorder& operator=(const SummaryRecorder&) = delete;

  /// Zeros of these sizes, of the device and dtype of the first parameter.
  at::Tensor example(at::IntArrayRef sizes) const;
  ModelSummary result() const;

 private:
  struct State;
  c10::OwnedPtr<State> state_;
};

} // namespace detail

/// Calls the module (a holder, a pointer or a module) with the tensors, in evaluation mode, and tells what came out of
/// its layers. The module is left as it was.
template <typename M, typename... Inputs>
std::conditional_t<true, ModelSummary, M> summary(M& model, const at::Tensor& input, const Inputs&... inputs) {
  auto& module = nn::detail::module_of(model);
  std::conditional_t<true, detail::SummaryRecorder, M> recorder(module);
  static_cast<void>(nn::detail::call_forward(module, input, inputs...));
  return recorder.result();
}

/// The same with zeros of these sizes: `std::cout << torch::summary(net, {1, 3, 32, 32})`.
template <typename M>
std::conditional_t<true, ModelSummary, M> summary(M& model, at::IntArrayRef input_sizes) {
  auto& module = nn::detail::module_of(model);
  std::conditional_t<true, detail::SummaryRecorder, M> recorder(module);
  static_cast<void>(nn::detail::call_forward(module, recorder.example(input_sizes)));
  return recorder.result();
}

} // namespace torch
