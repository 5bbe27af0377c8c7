// Builds the input tensors of a case and reads tensors back as raw memory.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Storage.h>

#include <string>
#include <vector>

#include "corpus.h"
#include "json.h"
#include "test/support/host_view.h"

namespace conformance {

using test::contiguous_strides;
using test::dtype_info;
using test::dtype_name;
using test::HostView;
using test::show;

/// A tensor over a fresh storage on `device` filled with `contents`.
at::Tensor make_tensor(
    c10::ScalarType dtype,
    Bytes contents,
    const std::vector<int64_t>& sizes,
    const std::vector<int64_t>& strides,
    int64_t offset,
    c10::Device device);

/// A contiguous tensor from a `{d, s, b}` object.
at::Tensor make_dense(const Json& spec, const SafeTensors& data, c10::Device device);

/// A 0-dim tensor with the wrapped-number flag from a tagged scalar (i, f, b or c).
at::Tensor make_wrapped_number(const Json& tagged);

/// The inputs of one case.
class Inputs {
 public:
  /// On `device`, but those that `on_host` names (as far as it goes) on the CPU.
  Inputs(const Json& specs, const SafeTensors& data, c10::Device device, const std::vector<bool>& on_host = {});

  size_t size() const {
    return inputs_.size();
  }
  /// The tensor as recorded: the leaf that gradients are asked for.
  const at::Tensor& leaf(size_t i) const {
    return inputs_[i].leaf;
  }
  /// The tensor handed to the operator: the leaf, or its clone.
  const at::Tensor& passed(size_t i) const {
    return inputs_[i].passed;
  }
  /// Replaces a leaf that will be written to by a clone recorded by autograd.
  void pass_clone(size_t i);
  bool requires_grad(size_t i) const {
    return inputs_[i].leaf.requires_grad();
  }

  /// Empty when every byte that no tensor in `written` covers is as recorded, else the difference.
  std::string find_undeclared_write(const std::vector<bool>& written) const;

 private:
  struct Input {
    at::Tensor leaf;
    at::Tensor passed;
    c10::Storage storage; // kept apart, since an operator may give the tensor another one
    size_t owner; // index of the input that made the storage
    Bytes contents;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    int64_t offset;
  };

  static void mark_written(const Input& input, std::vector<bool>& may_change);

  std::vector<Input> inputs_;
};

} // namespace conformance
