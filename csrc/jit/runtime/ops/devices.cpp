// Files and devices: saving a value, and what programs ask of accelerators.
#include <csrc/jit/runtime/ops/rows.h>

#include <c10/core/impl/VirtualGuardImpl.h>
#include <csrc/serialize/pickle_file.h>

#include <limits>

namespace torch::jit::ops {

namespace {

// Throws in words where the library has no support for CUDA, or finds no device.
c10::impl::VirtualGuardImpl cuda() {
  return c10::impl::VirtualGuardImpl(at::kCUDA);
}

c10::DeviceIndex index_of(int64_t device) {
  TORCH_CHECK(
      device >= -1 && device <= std::numeric_limits<c10::DeviceIndex>::max(), "there is no CUDA device ", device);
  return static_cast<c10::DeviceIndex>(device);
}

int64_t current_device() {
  return cuda().getDevice().index();
}

void set_device(int64_t device) {
  if (index_of(device) >= 0) {
    cuda().setDevice(c10::Device(at::kCUDA, index_of(device)));
  }
}

// A negative index changes nothing.
int64_t exchange_device(int64_t device) {
  if (index_of(device) < 0) {
    return -1;
  }
  return cuda().exchangeDevice(c10::Device(at::kCUDA, index_of(device))).index();
}

void synchronize(std::optional<int64_t> device) {
  const int64_t index = device && *device >= 0 ? *device : current_device();
  cuda().synchronizeDevice(index_of(index));
}

void synchronize_device(std::optional<c10::Device> device) {
  TORCH_CHECK(!device || device->is_cuda(), "Expected a CUDA device, but got: ", *device);
  synchronize(device && device->has_index() ? std::optional<int64_t>(device->index()) : std::nullopt);
}

int64_t device_index(c10::Device device) {
  return device.index();
}

void save(IValue& item, const std::string& file) {
  torch::serialize::save_pickle(item, file);
}

// The parts of a packed sequence are its fields as they are.
void keep(Stack&) {}

constexpr OperatorRow kRows[] = {
    {"aten::save(t item, str filename) -> ()", call<save>},
    {"aten::_pack_sequence(Tensor output, Tensor batch_sizes, Tensor? sorted_indices, Tensor? unsorted_indices) -> "
     "(Tensor, Tensor, Tensor?, Tensor?)",
     keep},
    {"cuda::_current_device() -> int", call<current_device>},
    {"cuda::_set_device(int val) -> ()", call<set_device>},
    {"cuda::_exchange_device(int index) -> int", call<exchange_device>},
    {"cuda::_maybe_exchange_device(int index) -> int", call<exchange_device>},
    {"cuda::device_index(Device device) -> int", call<device_index>},
    {"cuda::device_count() -> int", call<[]() { return static_cast<int64_t>(cuda().deviceCount()); }>},
    {"cuda::synchronize() -> ()", call<[]() { synchronize(std::nullopt); }>},
    {"cuda::synchronize.device(Device? device) -> ()", call<synchronize_device>},
    {"cuda::synchronize.int(int? val) -> ()", call<synchronize>},
};

} // namespace

at::ArrayRef<OperatorRow> device_rows() {
  return kRows;
}

} // namespace torch::jit::ops
