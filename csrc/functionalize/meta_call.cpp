#include <csrc/functionalize/meta_call.h>

#include <csrc/functionalize/meta_kernels.h>

#include <csrc/fx/coerce.h>
#include <aten/Functions.h>
#include <autograd/functions/basic_ops.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <unordered_map>

namespace torch::functionalize {

namespace {

using c10::IValue;

at::Tensor strided_view(const at::Tensor& memory, const at::Tensor& like) {
  return memory.as_strided(like.sizes(), like.strides(), like.storage_offset());
}

/// One tensor over the whole memory of `tensor`.
at::Tensor memory_like(const at::Tensor& tensor) {
  const auto item = static_cast<int64_t>(tensor.itemsize());
  const auto bytes = static_cast<int64_t>(tensor.storage().nbytes());
  int64_t last = tensor.storage_offset();
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    last += tensor.size(dim) > 0 ? (tensor.size(dim) - 1) * tensor.stride(dim) : 0;
  }
  return at::empty({std::max(bytes / item, last + 1)}, at::TensorOptions(c10::kMeta).dtype(tensor.scalar_type()));
}

/// What has a history may be written to, a leaf may not.
void give_history(const at::Tensor& meta, History history) {
  if (history != History::Inner) {
    meta.set_requires_grad(history == History::Leaf);
    return;
  }
  const auto node = torch::autograd::make_node<torch::autograd::Identity>();
  torch::autograd::impl::set_gradient_edge(meta, {node, node->add_input_metadata(meta)});
}

IValue load(
    const fx::Arg& arg,
    fx::Conversion conversion,
    fx::Conversion element,
    const c10::TypePtr& type,
    const std::function<IValue(fx::Value)>& value_of) {
  switch (arg.kind()) {
    case fx::Arg::Kind::Constant:
      return fx::convert(arg.constant(), conversion);
    case fx::Arg::Kind::Value:
      return fx::convert(value_of(arg.value()), conversion);
    case fx::Arg::Kind::List:
      break;
    default:
      TORCH_CHECK(false, "sizes must be numbers");
  }
  std::vector<IValue> items;
  for (const fx::Arg& item : arg.list()) {
    items.push_back(load(item, element, fx::Conversion::None, type, value_of));
  }
  return fx::make_list(std::move(items), type);
}

} // namespace

std::vector<History> histories_of(const std::vector<at::Tensor>& tensors) {
  std::vector<History> histories;
  for (const at::Tensor& tensor : tensors) {
    const bool requires_grad = tensor.defined() && tensor.requires_grad();
    histories.push_back(!requires_grad ? History::None : tensor.is_leaf() ? History::Leaf : History::Inner);
  }
  return histories;
}

std::vector<at::Tensor> meta_like(const std::vector<at::Tensor>& tensors, const std::vector<History>& histories) {
  install_meta_kernels();
  const c10::AutoGradMode mode(true);
  std::unordered_map<const c10::StorageImpl*, at::Tensor> memory;
  std::vector<at::Tensor> metas;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined()) {
      metas.emplace_back();
      continue;
    }
    TORCH_CHECK(tensor.layout() == c10::kStrided, "an input has layout ", tensor.layout());
    at::Tensor& whole = memory[tensor.storage().unsafeGetStorageImpl()];
    if (!whole.defined()) {
      whole = memory_like(tensor);
    }
    at::Tensor meta;
    {
      const c10::AutoGradMode no_grad(false);
      meta =
          strided_view(whole.scalar_type() == tensor.scalar_type() ? whole : whole.view(tensor.scalar_type()), tensor)
              .detach();
    }
    if (metas.size() < histories.size()) {
      give_history(meta, histories[metas.size()]);
    }
    metas.push_back(std::move(meta));
  }
  return metas;
}

at::Tensor meta_of(const fx::TensorInfo& info) {
  std::vector<int64_t> sizes, strides;
  for (const fx::Dim& dim : info.sizes) {
    sizes.push_back(dim.value());
  }
  for (const fx::Dim& dim : info.strides) {
    strides.push_back(dim.value());
  }
  const auto options = at::TensorOptions(c10::kMeta).dtype(info.dtype);
  return strides.size() == sizes.size() ? at::empty_strided(sizes, strides, options) : at::empty(sizes, options);
}

fx::TensorInfo info_of(const at::Tensor& meta, c10::Device device) {
  fx::TensorInfo info = fx::TensorInfo::of(meta);
  info.device = device;
  return info;
}

void use_meta_device(const c10::FunctionSchema& schema, torch::jit::Stack& stack) {
  bool takes_tensor = false;
  for (const IValue& value : stack) {
    takes_tensor = takes_tensor || value.isTensor() || value.isTensorList();
  }
  const auto& formals = schema.arguments();
  for (size_t i = 0; i < formals.size(); ++i) {
    if (formals[i].type()->str().find("Device") != std::string::npos && (stack[i].isDevice() || !takes_tensor)) {
      stack[i] = c10::Device(c10::kMeta);
    }
  }
}

torch::jit::Stack arguments_of(const fx::Node& node, const std::function<IValue(fx::Value)>& value_of) {
  torch::jit::Stack stack;
  const auto& formals = node.schema().arguments();
  for (size_t i = 0; i < formals.size(); ++i) {
    fx::Conversion element = fx::Conversion::None;
    const fx::Conversion conversion = fx::conversion_to(*formals[i].type(), &element);
    stack.push_back(load(node.args()[i], conversion, element, formals[i].type(), value_of));
  }
  return stack;
}

} // namespace torch::functionalize
