// Programs of the mobile interpreter, under its names.
#pragma once

#include <csrc/jit/api/module.h>
#include <csrc/serialize/read_adapter.h>

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit {

namespace mobile {

using Method = ::torch::jit::Method;

/// A module that _load_for_mobile() has read. Copies of a handle stand for the same module; any number of threads may
/// call its methods at once.
class TORCH_API Module {
 public:
  /// Empty.
  Module() = default;
  explicit Module(jit::Module module) : module_(std::move(module)) {}

  /// Throws if there is none of that name.
  Method get_method(const std::string& method_name) const {
    return module_.get_method(method_name);
  }
  std::optional<Method> find_method(const std::string& basename) const {
    return module_.find_method(basename);
  }
  const std::vector<Method> get_methods() const {
    return module_.get_methods();
  }
  template <class... Types>
  c10::IValue run_method(const std::string& method_name, Types&&... args) {
    return get_method(method_name)({c10::IValue(std::forward<Types>(args))...});
  }
  c10::IValue forward(std::vector<c10::IValue> inputs) {
    return get_method("forward")(std::move(inputs));
  }

  /// The name of its class.
  const std::string name() const;
  /// The values of its attributes.
  const std::vector<c10::IValue>& slots() const {
    return module_._ivalue()->slots();
  }
  const c10::intrusive_ptr<c10::ivalue::Object> _ivalue() const {
    return module_._ivalue();
  }
  /// The value of an attribute or constant, or `or_else` if there is none of that name.
  c10::IValue attr(const std::string& name, c10::IValue or_else) const {
    return module_.attr(name, std::move(or_else));
  }
  /// All tensors of the module and of those in it: buffers, too.
  const std::vector<at::Tensor> parameters() const;
  /// The same by name: "conv.weight".
  const std::map<std::string, at::Tensor> named_parameters() const;

  void train(bool on = true) {
    module_.train(on);
  }
  void eval() {
    train(false);
  }
  bool is_training() const {
    return module_.is_training();
  }

 private:
  jit::Module module_;
};

} // namespace mobile

/// Loads what Python's `_save_for_lite_interpreter` has written: such an archive has the program's source beside the
/// mobile interpreter's code, and that is what is read, as load() does. Throws c10::Error for files in FlatBuffers'
/// format and for those that have no source. `module_load_options` has no effect.
TORCH_API mobile::Module _load_for_mobile(const std::string& filename, std::optional<at::Device> device = std::nullopt);
TORCH_API mobile::Module _load_for_mobile(std::istream& in, std::optional<at::Device> device = std::nullopt);
TORCH_API mobile::Module _load_for_mobile(
    std::unique_ptr<caffe2::serialize::ReadAdapterInterface> rai, std::optional<c10::Device> device = std::nullopt);
/// The same, and for each name in `extra_files` the file of that name beside the program.
TORCH_API mobile::Module _load_for_mobile(
    const std::string& filename,
    std::optional<at::Device> device,
    ExtraFilesMap& extra_files,
    uint64_t module_load_options = 0);
TORCH_API mobile::Module _load_for_mobile(
    std::istream& in, std::optional<at::Device> device, ExtraFilesMap& extra_files, uint64_t module_load_options = 0);
TORCH_API mobile::Module _load_for_mobile(
    std::unique_ptr<caffe2::serialize::ReadAdapterInterface> rai,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    uint64_t module_load_options = 0);

} // namespace torch::jit
