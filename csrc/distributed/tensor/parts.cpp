// Which tensors are parts of a DTensor.
#include <csrc/distributed/tensor/dtensor.h>

#include <c10/core/TensorImpl.h>

#include <mutex>
#include <unordered_map>

namespace torch::distributed {

namespace {

// Known by the address of a tensor, which is looked at as long as the tensor lives.
struct Part {
  c10::weak_intrusive_ptr<c10::TensorImpl> tensor;
  DeviceMesh mesh;
  Placements placements;
  std::vector<int64_t> sizes;
};

struct Parts {
  std::mutex mutex;
  std::unordered_map<const c10::TensorImpl*, Part> known;
};

Parts& parts() {
  static Parts& parts = *new Parts();
  return parts;
}

} // namespace

void mark_as_part(const at::Tensor& local, const DTensor& whole) {
  Parts& all = parts();
  const std::lock_guard lock(all.mutex);
  for (auto it = all.known.begin(); it != all.known.end();) {
    it = it->second.tensor.expired() ? all.known.erase(it) : std::next(it);
  }
  all.known.insert_or_assign(
      local.unsafeGetTensorImpl(),
      Part{
          c10::weak_intrusive_ptr<c10::TensorImpl>(local.getIntrusivePtr()), whole.device_mesh(), whole.placements(),
          whole.sizes().vec()});
}

std::optional<DTensor> dtensor_of(const at::Tensor& local) {
  Parts& all = parts();
  const std::lock_guard lock(all.mutex);
  const auto found = all.known.find(local.unsafeGetTensorImpl());
  if (found == all.known.end() || found->second.tensor.expired()) {
    return std::nullopt;
  }
  return DTensor::from_local(local, found->second.mesh, found->second.placements, found->second.sizes);
}

} // namespace torch::distributed
