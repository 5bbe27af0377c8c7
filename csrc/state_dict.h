// The state of modules and optimizers under Python's names, in memory and in files that Python reads and writes.
#pragma once

#include <csrc/nn/Module.h>
#include <csrc/ordered_dict.h>
#include <csrc/serialize/load_options.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace c10 {
struct IValue;
} // namespace c10

namespace torch {

namespace optim {
class Optimizer;
} // namespace optim

/// Tensors by name, such as "encoder.0.weight", in Python's order: of each module first its parameters, then its
/// buffers, then what its submodules have.
using StateDict = OrderedDict<std::string, at::Tensor>;

/// What a state dictionary and a module do not have in common.
/// (A template, so that a program pays for it where it uses it.)
template <class Text>
struct TORCH_API BasicLoadReport {
  struct Mismatch {
    Text name;
    Text reason;
  };
  /// In the module, but not in the dictionary.
  std::vector<Text> missing;
  /// In the dictionary, but not in the module.
  std::vector<Text> unexpected;
  /// In both, but of other sizes, or nothing that can be copied.
  std::vector<Mismatch> mismatched;

  /// Nothing to report?
  bool ok() const noexcept;
  /// Lines in Python's words; empty if ok().
  Text text() const;
};
using LoadReport = BasicLoadReport<std::string>;

/// The parameters and buffers of a module and of all below it. Tensors are shared with the module and have no gradient.
TORCH_API StateDict state_dict(const nn::Module& module);

/// Copies the values of a dictionary into the module's parameters and buffers, which stay on their device and keep
/// their dtype. With `strict` it throws when there is anything to report, and then nothing has been changed. Otherwise
/// it loads what fits and leaves the rest as it is (Python throws for other sizes even then). A dictionary with the
/// names of nn::utils::weight_norm fits a module with the parametrization of that name.
TORCH_API LoadReport load_state_dict(nn::Module& module, const StateDict& state, bool strict = true);
/// The same from a file, see read_state_dict.
TORCH_API LoadReport load_state_dict(
    nn::Module& module, const std::string& filename, bool strict = true, const serialize::LoadOptions& options = {});

/// Writes a safetensors file where the name ends in ".safetensors", else a .pt file. The file is replaced at once when
/// all is on disk.
TORCH_API void save_state_dict(const StateDict& state, const std::string& filename);
TORCH_API void save_state_dict(const nn::Module& module, const std::string& filename);

/// The tensors of a .pt file with a state_dict of Python's, of an archive of torch::save, or of a safetensors file; its
/// content tells which it is. With a .pt file that holds more, such as {"model": ..., "epoch": ...}, throws and names
/// what is there: give the part that is meant, taken from serialize::load_pickle, to to_state_dict.
TORCH_API StateDict read_state_dict(const std::string& filename, const serialize::LoadOptions& options = {});
/// A dictionary from strings to tensors as a StateDict. Throws for anything else.
TORCH_API StateDict to_state_dict(const c10::IValue& value);

/// Write and read Optimizer::state_dict() as a .pt file, one of Python's optimizer of the same name too. Options that
/// this library does not know are passed over. Throws, before anything is changed, where groups or sizes differ.
TORCH_API void save_state_dict(const optim::Optimizer& optimizer, const std::string& filename);
TORCH_API void load_state_dict(
    optim::Optimizer& optimizer, const std::string& filename, const serialize::LoadOptions& options = {});

namespace detail {
template <typename M>
using enable_if_refers_to_module_t =
    std::enable_if_t<std::is_base_of_v<nn::Module, std::decay_t<decltype(*std::declval<M&>())>>>;
} // namespace detail

/// The same for holders and pointers.
template <typename M, typename = detail::enable_if_refers_to_module_t<const M>>
StateDict state_dict(const M& module) {
  return state_dict(static_cast<const nn::Module&>(*module));
}
template <typename M, typename = detail::enable_if_refers_to_module_t<M>, typename... Args>
std::conditional_t<true, LoadReport, M> load_state_dict(M& module, const Args&... args) {
  return load_state_dict(static_cast<nn::Module&>(*module), args...);
}
template <typename M, typename = detail::enable_if_refers_to_module_t<const M>>
void save_state_dict(const M& module, const std::string& filename) {
  save_state_dict(static_cast<const nn::Module&>(*module), filename);
}

} // namespace torch
