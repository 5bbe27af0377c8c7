// Optimizers in archives, in libtorch's layout. For optimizers of programs: call serialize<State, Options>(archive,
// *this) from save and load, or use the macros.
#pragma once

#include <csrc/optim/optimizer.h>
#include <csrc/serialize/archive.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace torch::optim {
namespace detail {

using NewState = c10::function_ref<std::unique_ptr<OptimizerParamState>()>;

/// "state" holds the state of each parameter under its address as a number, "param_groups" the options of each group
/// and the addresses of its parameters.
TORCH_API void save_optimizer(serialize::OutputArchive& archive, const Optimizer& optimizer);
/// Reads everything before anything is changed. Throws where groups or their sizes differ. An archive from before
/// PyTorch 1.5, which had no groups, gives state to the first group, with a warning.
TORCH_API void load_optimizer(serialize::InputArchive& archive, Optimizer& optimizer, NewState new_state);

TORCH_API void save_buffers(
    serialize::OutputArchive& archive, const std::string& key, const std::vector<Tensor>& buffers);
TORCH_API std::vector<Tensor> load_buffers(serialize::InputArchive& archive, const std::string& key);

} // namespace detail

template <typename DerivedOptimizerParamState, typename DerivedOptimizerParamOptions>
void serialize(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  detail::save_optimizer(archive, optimizer);
}

template <typename DerivedOptimizerParamState, typename DerivedOptimizerParamOptions>
void serialize(serialize::InputArchive& archive, Optimizer& optimizer) {
  detail::load_optimizer(archive, optimizer, [] { return std::make_unique<DerivedOptimizerParamState>(); });
}

/// A list of tensors under a name: "NAME/size" and "NAME/0", "NAME/1", ...
template <typename BufferContainer>
void serialize(serialize::OutputArchive& archive, const std::string& key, const BufferContainer& buffers) {
  detail::save_buffers(archive, key, {buffers.begin(), buffers.end()});
}
template <typename BufferContainer>
void serialize(serialize::InputArchive& archive, const std::string& key, BufferContainer& buffers) {
  const std::vector<Tensor> loaded = detail::load_buffers(archive, key);
  buffers.assign(loaded.begin(), loaded.end());
}

/// A number, and a list of numbers, under a name; the list as one of tensors.
TORCH_API void serialize(serialize::OutputArchive& archive, const std::string& key, const int64_t& value);
TORCH_API void serialize(serialize::InputArchive& archive, const std::string& key, int64_t& value);
TORCH_API void serialize(serialize::OutputArchive& archive, const std::string& key, const std::vector<int64_t>& steps);
TORCH_API void serialize(serialize::InputArchive& archive, const std::string& key, std::vector<int64_t>& steps);

template <typename T>
c10::List<T> deque_to_list(const std::deque<T>& deque) {
  c10::List<T> list;
  list.reserve(deque.size());
  for (const T& element : deque) {
    list.push_back(element);
  }
  return list;
}
template <typename T>
std::deque<T> list_to_deque(const c10::List<T>& list) {
  return {list.begin(), list.end()};
}

} // namespace torch::optim

#define _TORCH_OPTIM_SERIALIZE(name) torch::optim::serialize(archive, #name, self.name)

#define _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(OptimizerName) \
  torch::optim::serialize<OptimizerName##ParamState, OptimizerName##Options>(archive, self)

/// In serialize(OutputArchive&) of options or of a state: writes a field of TORCH_ARG unless it is an undefined tensor.
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name)                                           \
  {                                                                                      \
    const c10::IValue ivalue(name());                                                    \
    if (!ivalue.isTensor() || ivalue.toTensor().defined()) archive.write(#name, ivalue); \
  }

/// In serialize(InputArchive&): reads the field, which only a tensor's may be missing.
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)                                             \
  {                                                                                             \
    c10::IValue ivalue;                                                                         \
    if (archive.try_read(#name, ivalue)) {                                                      \
      name(ivalue.to<T>());                                                                     \
    } else {                                                                                    \
      TORCH_CHECK((std::is_base_of_v<at::Tensor, T>), "Optimizer: the archive has no ", #name); \
    }                                                                                           \
  }

#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(T, name)           \
  {                                                                    \
    c10::IValue ivalue;                                                \
    if (archive.try_read(#name, ivalue)) name(ivalue.toOptional<T>()); \
  }

/// The same for a field that is a std::deque<T>.
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(name) \
  archive.write(#name, c10::IValue(torch::optim::deque_to_list(name())));
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(T, name)                              \
  {                                                                                    \
    c10::IValue ivalue;                                                                \
    archive.read(#name, ivalue);                                                       \
    name(torch::optim::list_to_deque(ivalue.to<c10::List<typename T::value_type>>())); \
  }
