#include <csrc/jit/api/mobile_module.h>

#include <csrc/jit/serialize/import.h>

namespace torch::jit {

namespace mobile {

const std::string Module::name() const {
  return module_._ivalue()->name();
}

const std::vector<at::Tensor> Module::parameters() const {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : module_.attributes()) {
    if (value.isTensor()) {
      tensors.push_back(value.toTensor());
    }
  }
  return tensors;
}

const std::map<std::string, at::Tensor> Module::named_parameters() const {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, value] : module_.named_attributes()) {
    if (value.isTensor()) {
      tensors.emplace(name, value.toTensor());
    }
  }
  return tensors;
}

} // namespace mobile

mobile::Module _load_for_mobile(const std::string& filename, std::optional<at::Device> device) {
  return mobile::Module(load(filename, device));
}

mobile::Module _load_for_mobile(std::istream& in, std::optional<at::Device> device) {
  return mobile::Module(load(in, device));
}

mobile::Module _load_for_mobile(
    std::unique_ptr<caffe2::serialize::ReadAdapterInterface> rai, std::optional<c10::Device> device) {
  return mobile::Module(load(std::shared_ptr(std::move(rai)), device));
}

mobile::Module _load_for_mobile(
    const std::string& filename, std::optional<at::Device> device, ExtraFilesMap& extra_files, uint64_t) {
  return mobile::Module(load(filename, device, extra_files));
}

mobile::Module _load_for_mobile(
    std::istream& in, std::optional<at::Device> device, ExtraFilesMap& extra_files, uint64_t) {
  return mobile::Module(load(in, device, extra_files));
}

mobile::Module _load_for_mobile(
    std::unique_ptr<caffe2::serialize::ReadAdapterInterface> rai,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    uint64_t) {
  return mobile::Module(load(std::shared_ptr(std::move(rai)), device, extra_files));
}

} // namespace torch::jit
