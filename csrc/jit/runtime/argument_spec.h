// What is known of the inputs of a graph: keys for code that is made for some inputs, and types for its graph. The
// executor here has one plan for all inputs; these serve programs that specialize graphs themselves.
#pragma once

#include <aten/core/jit_type.h>
#include <aten/core/stack.h>
#include <csrc/jit/ir/ir.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <vector>

namespace torch::jit {

/// Of one tensor: all but its sizes.
struct TORCH_API ArgumentInfo {
  bool defined() const {
    return defined_;
  }
  at::Device device() const {
    return device_;
  }
  bool requires_grad() const {
    return requires_grad_;
  }
  int dim() const {
    return dim_;
  }
  at::ScalarType type() const {
    return type_;
  }
  TypePtr toType() const;
  operator TypePtr() const {
    return toType();
  }
  size_t hashCode() const;
  bool operator==(const ArgumentInfo& other) const;
  bool operator!=(const ArgumentInfo& other) const {
    return !(*this == other);
  }

 private:
  friend struct ArgumentSpec;
  bool defined_ = false;
  bool requires_grad_ = false;
  int dim_ = 0;
  at::Device device_ = at::kCPU;
  at::ScalarType type_ = at::kFloat;
};

/// Of all tensors among the inputs, and whether optional values are there: see ArgumentSpecCreator.
struct TORCH_API ArgumentSpec {
  /// The numbers are those that are going to be added.
  ArgumentSpec(size_t num_flat_tensor_inputs, size_t num_flat_optional_inputs);
  void addOptional(const IValue& input);
  void addTensor(const IValue& input, bool with_grad);

  size_t numTensors() const {
    return tensors_.size();
  }
  const ArgumentInfo& tensorAt(size_t i) const {
    return tensors_[i];
  }
  size_t numOptionals() const {
    return optionals_.size();
  }
  bool isPresent(size_t i) const {
    return optionals_[i];
  }
  size_t hashCode() const noexcept {
    return hash_;
  }
  bool operator==(const ArgumentSpec& other) const {
    return optionals_ == other.optionals_ && tensors_ == other.tensors_;
  }
  bool operator!=(const ArgumentSpec& other) const {
    return !(*this == other);
  }

 private:
  size_t hash_;
  std::vector<ArgumentInfo> tensors_;
  std::vector<bool> optionals_;
};

/// Makes specs of the inputs of one graph: of tensors, optional ones and those within tuples.
struct TORCH_API ArgumentSpecCreator {
  explicit ArgumentSpecCreator(Graph& graph);
  /// Of the last values of the stack. With `with_grad` false none requires gradients.
  ArgumentSpec create(bool with_grad, const Stack& stack) const;
  /// Gives the inputs of `g`, a copy of the graph, the types that the spec tells. What is taken out of a tuple keeps
  /// its type.
  void specializeTypes(Graph& g, const ArgumentSpec& spec) const;

 private:
  std::vector<TypePtr> types_;
};

struct CompleteArgumentInfo;

/// All that types of tensors can tell, sizes and strides too.
struct TORCH_API CompleteArgumentSpec {
  CompleteArgumentSpec(bool with_grad, at::ArrayRef<IValue> inputs);

  /// Valid while the spec lives.
  CompleteArgumentInfo at(size_t i) const;
  size_t size() const {
    return inputs_.size();
  }
  size_t hashCode() const noexcept {
    return hash_;
  }
  bool operator==(const CompleteArgumentSpec& other) const;
  bool operator!=(const CompleteArgumentSpec& other) const {
    return !(*this == other);
  }

 private:
  friend struct CompleteArgumentInfo;
  struct Input {
    bool is_tensor = false;
    ArgumentInfo info;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    bool operator==(const Input& other) const;
  };
  size_t hash_;
  std::vector<Input> inputs_;
};

/// One input of a CompleteArgumentSpec.
struct TORCH_API CompleteArgumentInfo {
  CompleteArgumentInfo(const CompleteArgumentSpec& spec, int i) : input_(spec.inputs_[static_cast<size_t>(i)]) {}

  bool isTensor() const {
    return input_.is_tensor;
  }
  bool defined() const {
    return input_.info.defined();
  }
  at::ScalarType type() const {
    return input_.info.type();
  }
  bool requires_grad() const {
    return input_.info.requires_grad();
  }
  at::Device device() const {
    return input_.info.device();
  }
  int ndimension() const {
    return static_cast<int>(input_.sizes.size());
  }
  at::IntArrayRef sizes() const {
    return input_.sizes;
  }
  at::IntArrayRef strides() const {
    return input_.strides;
  }
  operator TypePtr() const;

 private:
  const CompleteArgumentSpec::Input& input_;
};

inline CompleteArgumentInfo CompleteArgumentSpec::at(size_t i) const {
  return CompleteArgumentInfo(*this, static_cast<int>(i));
}

TORCH_API std::ostream& operator<<(std::ostream& out, const ArgumentInfo& info);
TORCH_API std::ostream& operator<<(std::ostream& out, const ArgumentSpec& spec);
TORCH_API std::ostream& operator<<(std::ostream& out, const CompleteArgumentInfo& info);
TORCH_API std::ostream& operator<<(std::ostream& out, const CompleteArgumentSpec& spec);

} // namespace torch::jit

template <>
struct std::hash<torch::jit::ArgumentSpec> {
  size_t operator()(const torch::jit::ArgumentSpec& spec) const noexcept {
    return spec.hashCode();
  }
};
template <>
struct std::hash<torch::jit::CompleteArgumentSpec> {
  size_t operator()(const torch::jit::CompleteArgumentSpec& spec) const noexcept {
    return spec.hashCode();
  }
};
