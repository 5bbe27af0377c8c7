// The node of autograd's graph that a compiled call is.
#pragma once

#include <csrc/aot/training_call.h>

#include <autograd/function.h>
#include <autograd/saved_variable.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::aot {

/// Runs the backward graph on what the forward graph kept. Gradients that nobody gives count as zeros. With
/// `create_graph` the gradients say, when they are differentiated, that this cannot be.
class CompiledBackward : public autograd::Node {
 public:
  explicit CompiledBackward(std::shared_ptr<const TrainingPlan> plan) : plan_(std::move(plan)) {}

  /// Takes what the backward graph needs: of the inputs of the call, and of the results of the forward graph.
  void save(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& results);

  std::string name() const override {
    return "CompiledFunctionBackward";
  }
  void release_variables() override;

 protected:
  autograd::variable_list apply(autograd::variable_list&& grads) override;

 private:
  std::vector<at::Tensor> take_saved();
  at::Tensor tangent(size_t index, const at::Tensor& grad) const;

  std::shared_ptr<const TrainingPlan> plan_;
  autograd::saved_variable_list saved_;
  bool is_released_ = false;
};

} // namespace torch::aot
