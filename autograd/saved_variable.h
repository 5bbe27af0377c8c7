#pragma once

#include <aten/core/Tensor.h>
#include <autograd/saved_variable_hooks.h>
#include <c10/macros/Export.h>
#include <c10/util/OwnedPtr.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace torch::autograd {

using Variable = at::Tensor;
struct Node;

/// How the message of a freed saved value begins.
TORCH_API extern const char* ERR_BACKWARD_TWICE;

/// A tensor that a node keeps for its backward pass. Notices in-place changes by the version counter, and avoids the
/// reference cycle that would arise if a node kept its own output.
class TORCH_API SavedVariable {
 public:
  SavedVariable();
  /// `is_output`: the node that keeps it has made it. `is_inplace_on_view`: and has made it in place on a view, so its
  /// grad_fn is another node than the one that keeps it. Throws for inference tensors.
  SavedVariable(const Variable& variable, bool is_output, bool is_inplace_on_view = false);
  SavedVariable(const std::optional<Variable>& variable, bool is_output, bool is_inplace_on_view = false);
  SavedVariable(SavedVariable&& other) noexcept;
  SavedVariable& operator=(SavedVariable&& other) noexcept;
  SavedVariable(const SavedVariable&) = delete;
  SavedVariable& operator=(const SavedVariable&) = delete;
  ~SavedVariable();

  /// The tensor as it was saved. `saved_for` is the node that keeps it, needed when it was saved as an output.
  /// Throws when it was freed, or changed in place since.
  Variable unpack(const std::shared_ptr<Node>& saved_for = nullptr) const;

  /// As above for generated nodes: touches the node's reference count only when the graph is recorded again.
  Variable unpack(Node& saved_for) const;

  /// Hands the tensor to `hooks`. Throws when it was freed or has hooks already.
  void register_hooks(std::unique_ptr<SavedVariableHooks>&& hooks);

  /// Frees the tensor; a later unpack throws.
  void reset_data();

  bool has_hooks() const;
  /// The tensor as it is kept; empty when hooks hold it.
  std::optional<at::Tensor> get_raw_data() const;

 private:
  struct Extra;

  void save_metadata(const Variable& variable);
  void pack_with(std::unique_ptr<SavedVariableHooks>&& hooks, const Variable& variable);
  void check_not_freed(const Node* saved_for) const;
  void check_version(const Node* grad_fn) const;
  std::shared_ptr<Node> grad_fn_of(const std::shared_ptr<Node>& saved_for) const;

  at::Tensor data_;
  c10::OwnedPtr<Extra> extra_; // only for hooks and in-place on views
  uint32_t saved_version_ = 0;
  uint32_t output_nr_ = 0;
  bool was_default_constructed_ = true;
  bool is_inplace_on_view_ = false;
  bool saved_original_ = false;
  bool is_leaf_ = false;
  bool is_output_ = false;
  bool requires_grad_ = false;
};

} // namespace torch::autograd
