#include <csrc/capture/guards.h>

#include <aten/autocast/autocast_mode.h>
#include <aten/core/Context.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <sstream>

namespace torch::capture {

namespace {

constexpr const char* kThreadGuards[] = {
    "whether gradients are recorded", "inference mode",  "the default dtype",
    "deterministic algorithms",       "dispatcher keys", "dispatcher keys",
    "autocast's dtype on the CPU",
};

void add_thread(Guards& guards) {
  const auto keys = c10::impl::tls_local_dispatch_key_set();
  guards.insert(
      guards.end(),
      {c10::GradMode::is_enabled(), c10::InferenceMode::is_enabled(),
       static_cast<int64_t>(c10::get_default_dtype_as_scalartype()), at::globalContext().deterministicAlgorithms(),
       static_cast<int64_t>(keys.included_.raw_repr()), static_cast<int64_t>(keys.excluded_.raw_repr()),
       static_cast<int64_t>(at::autocast::get_autocast_dtype(c10::kCPU))});
}

/// One word for a tree of modules: which of them train.
int64_t training_flags(nn::Module& module) {
  uint64_t hash = 1469598103934665603ull;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  module.apply([&](nn::Module& each) { mix(each.is_training() ? 2 : 1); });
  return static_cast<int64_t>(hash);
}

void add_constant(const c10::IValue& value, Guards& guards) {
  std::ostringstream text;
  if (value.isDouble()) {
    int64_t bits = 0;
    const double number = value.toDouble();
    std::memcpy(&bits, &number, sizeof(bits));
    guards.insert(guards.end(), {1, bits});
  } else if (value.isInt() || value.isBool()) {
    guards.insert(guards.end(), {value.isInt() ? 2 : 3, value.isInt() ? value.toInt() : value.toBool()});
  } else {
    text << value.tagKind() << value;
    guards.insert(guards.end(), {4, static_cast<int64_t>(std::hash<std::string>()(text.str()))});
  }
}

/// The first tensor that shares the memory of number `index`.
int64_t first_alias(const std::vector<at::Tensor>& tensors, size_t index) {
  const at::Tensor& tensor = tensors[index];
  if (!tensor.defined() || !tensor.has_storage()) {
    return static_cast<int64_t>(index);
  }
  for (size_t i = 0; i < index; ++i) {
    if (tensors[i].defined() && tensors[i].has_storage() &&
        tensors[i].storage().unsafeGetStorageImpl() == tensor.storage().unsafeGetStorageImpl()) {
      return static_cast<int64_t>(i);
    }
  }
  return static_cast<int64_t>(index);
}

constexpr size_t kTensorHead = 7; // words before the sizes

} // namespace

void add_tensor(const at::Tensor& tensor, Guards& guards) {
  if (!tensor.defined()) {
    guards.insert(guards.end(), {-1, 0, 0, 0, 0, 0, 0});
    return;
  }
  guards.insert(
      guards.end(),
      {static_cast<int64_t>(tensor.scalar_type()), static_cast<int64_t>(tensor.device().type()),
       tensor.device().index(), static_cast<int64_t>(tensor.layout()), tensor.requires_grad(),
       static_cast<int64_t>(tensor.key_set().raw_repr()), tensor.dim()});
  guards.insert(guards.end(), tensor.sizes().begin(), tensor.sizes().end());
  if (tensor.layout() == c10::kStrided) {
    guards.insert(guards.end(), tensor.strides().begin(), tensor.strides().end());
  }
}

bool has_words(const at::Tensor& tensor, const int64_t*& word) {
  if (!tensor.defined()) {
    word += kTensorHead;
    return word[-static_cast<std::ptrdiff_t>(kTensorHead)] == -1;
  }
  const bool has_head = word[0] == static_cast<int64_t>(tensor.scalar_type()) &&
      word[1] == static_cast<int64_t>(tensor.device().type()) && word[2] == tensor.device().index() &&
      word[3] == static_cast<int64_t>(tensor.layout()) && word[4] == static_cast<int64_t>(tensor.requires_grad()) &&
      word[5] == static_cast<int64_t>(tensor.key_set().raw_repr()) && word[6] == tensor.dim();
  if (!has_head) {
    return false;
  }
  const c10::IntArrayRef sizes = tensor.sizes();
  word += kTensorHead;
  if (!std::equal(sizes.begin(), sizes.end(), word)) {
    return false;
  }
  word += sizes.size();
  if (tensor.layout() != c10::kStrided) {
    return true;
  }
  const c10::IntArrayRef strides = tensor.strides();
  word += strides.size();
  return std::equal(strides.begin(), strides.end(), word - strides.size());
}

Guards training_guards(const std::vector<std::shared_ptr<nn::Module>>& modules) {
  Guards guards;
  for (const auto& module : modules) {
    guards.push_back(training_flags(*module));
  }
  return guards;
}

void guards_of(const Inputs& inputs, const Guards& training, Guards& guards) {
  guards.clear();
  add_thread(guards);
  guards.insert(guards.end(), training.begin(), training.end());
  guards.push_back(static_cast<int64_t>(inputs.constants.size()));
  for (const c10::IValue& constant : inputs.constants) {
    add_constant(constant, guards);
  }
  guards.push_back(static_cast<int64_t>(inputs.tensors.size()));
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    const int64_t alias = first_alias(inputs.tensors, i);
    guards.push_back(alias);
    // Of tensors that share memory it counts where they begin.
    guards.push_back(
        alias == static_cast<int64_t>(i)
            ? 0
            : inputs.tensors[i].storage_offset() - inputs.tensors[static_cast<size_t>(alias)].storage_offset());
    add_tensor(inputs.tensors[i], guards);
  }
}

Guards guards_but_sizes(const Inputs& inputs, const Guards& training) {
  Guards guards;
  guards_of({{}, inputs.constants}, training, guards);
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    const at::Tensor& tensor = inputs.tensors[i];
    const auto alias = static_cast<size_t>(first_alias(inputs.tensors, i));
    guards.push_back(static_cast<int64_t>(alias));
    guards.push_back(alias == i ? 0 : tensor.storage_offset() - inputs.tensors[alias].storage_offset());
    Guards own;
    add_tensor(tensor, own);
    guards.insert(guards.end(), own.begin(), own.begin() + kTensorHead);
    if (!tensor.defined()) {
      continue;
    }
    for (const int64_t size : tensor.sizes()) {
      guards.push_back(std::min<int64_t>(size, 2));
    }
    for (int64_t dim = 0; tensor.layout() == c10::kStrided && dim < tensor.dim(); ++dim) {
      const auto strides = tensor.strides();
      const int64_t own_stride = strides[static_cast<size_t>(dim)];
      guards.push_back(
          own_stride <= 1 ? own_stride : 2 + std::count_if(strides.begin(), strides.end(), [&](int64_t other) {
                                           return other < own_stride;
                                         }));
    }
  }
  return guards;
}

std::string describe_guard(const Inputs& inputs, size_t num_modules, size_t word) {
  if (word < std::size(kThreadGuards)) {
    return kThreadGuards[word];
  }
  word -= std::size(kThreadGuards);
  if (word < num_modules) {
    return fmt::format("the training flags of module {}", word);
  }
  word -= num_modules;
  if (word == 0) {
    return "the number of arguments";
  }
  --word;
  if (word < 2 * inputs.constants.size()) {
    return fmt::format("the value of constant argument {}", word / 2);
  }
  word -= 2 * inputs.constants.size();
  if (word == 0) {
    return "the number of tensors";
  }
  --word;
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    const at::Tensor& tensor = inputs.tensors[i];
    const size_t dims = tensor.defined() ? static_cast<size_t>(tensor.dim()) : 0;
    const size_t words = 2 + kTensorHead + dims + (tensor.defined() && tensor.layout() == c10::kStrided ? dims : 0);
    if (word >= words) {
      word -= words;
      continue;
    }
    constexpr const char* head[] = {
        "which tensor shares the memory",
        "where it begins in shared memory",
        "the dtype",
        "the device",
        "the device",
        "the layout",
        "requires_grad",
        "the dispatcher keys",
        "the number of dimensions"};
    if (word < std::size(head)) {
      return fmt::format("{} of tensor {}", head[word], i);
    }
    word -= std::size(head);
    return word < dims ? fmt::format("size {} of tensor {}", word, i)
                       : fmt::format("stride {} of tensor {}", word - dims, i);
  }
  return "the arguments";
}

std::string difference_of_guards(const Guards& before, const Guards& now, const Inputs& inputs, size_t num_modules) {
  for (size_t i = 0; i < now.size(); ++i) {
    if (i >= before.size() || before[i] != now[i]) {
      const std::string was = i < before.size() ? fmt::format(" ({}, was {})", now[i], before[i]) : "";
      return describe_guard(inputs, num_modules, i) + " differs" + was;
    }
  }
  return "the arguments differ";
}

std::string show_guards(const Inputs& inputs) {
  std::string text;
  for (size_t i = 0; i < inputs.constants.size(); ++i) {
    std::ostringstream value;
    value << inputs.constants[i];
    text += fmt::format("    constant {} = {}\n", i, value.str());
  }
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    const at::Tensor& tensor = inputs.tensors[i];
    if (!tensor.defined()) {
      text += fmt::format("    tensor {} is undefined\n", i);
      continue;
    }
    text += fmt::format(
        "    tensor {}: {} [{}] on {}{}\n", i, c10::toString(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "),
        tensor.device().str(), tensor.requires_grad() ? ", requires grad" : "");
  }
  return text;
}

} // namespace torch::capture
