#include "support.h"

#include <ATen/DLConvertor.h>

using namespace serialize_test;

namespace {

// Counts how often a struct was deleted.
struct Producer {
  explicit Producer(std::vector<int64_t> sizes) : shape(std::move(sizes)), data(100, 1.0f) {
    managed.dl_tensor = DLTensor{
        data.data(),
        DLDevice{kDLCPU, 0},
        static_cast<int32_t>(shape.size()),
        DLDataType{kDLFloat, 32, 1},
        shape.data(),
        nullptr,
        0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) { ++static_cast<Producer*>(self->manager_ctx)->deleted; };
    managed.version = DLPackVersion{1, 0};
    managed.flags = 0;
  }
  std::vector<int64_t> shape;
  std::vector<float> data;
  DLManagedTensorVersioned managed{};
  int deleted = 0;
};

} // namespace

TEST_CASE("DLPack: every dtype there and back", "[serialize][dlpack]") {
  for (const auto& [name, dtype] : dtypes()) {
    INFO(name);
    const Tensor want = counting(dtype).view({2, 2}).t();
    const Tensor got = at::fromDLPack(at::toDLPack(want));
    CHECK(same_bits(got, want));
    CHECK(got.strides() == want.strides());
    CHECK(got.const_data_ptr() == want.const_data_ptr());
    const Tensor versioned = at::fromDLPackVersioned(at::toDLPackVersioned(want));
    CHECK(same_bits(versioned, want));
  }
}

TEST_CASE("DLPack: the tensor lives as long as the struct", "[serialize][dlpack]") {
  Tensor tensor = torch::arange(6).view({2, 3});
  const auto* impl = tensor.storage().unsafeGetStorageImpl();
  DLManagedTensorVersioned* managed = at::toDLPackVersioned(tensor);
  CHECK(managed->version.major == 1);
  CHECK(managed->flags == 0);
  CHECK(managed->dl_tensor.ndim == 2);
  CHECK(managed->dl_tensor.dtype.code == kDLInt);
  CHECK(managed->dl_tensor.dtype.bits == 64);
  CHECK(managed->dl_tensor.device.device_type == kDLCPU);
  CHECK(c10::raw::intrusive_ptr::use_count(const_cast<c10::StorageImpl*>(impl)) >= 2);
  tensor = Tensor();
  CHECK(static_cast<int64_t*>(managed->dl_tensor.data)[5] == 5);
  managed->deleter(managed);

  DLManagedTensorVersioned* constant = at::toDLPackVersionedReadOnly(torch::ones({1, 4}).requires_grad_(true));
  CHECK(constant->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  CHECK(constant->dl_tensor.strides[0] == 1);
  constant->deleter(constant);
}

TEST_CASE("DLPack: the deleter runs exactly once", "[serialize][dlpack]") {
  Producer producer({2, 3});
  {
    Tensor tensor = at::fromDLPackVersioned(&producer.managed);
    const Tensor view = tensor[1];
    tensor = Tensor();
    CHECK(producer.deleted == 0);
    CHECK_THAT(view, EqualsTensor({1, 1, 1}));
  }
  CHECK(producer.deleted == 1);
  int own = 0;
  {
    const Tensor tensor =
        at::fromDLPackVersioned(&producer.managed, [&](void* src) { own += src == &producer.managed; });
  }
  CHECK(own == 1);
  CHECK(producer.deleted == 1);
  producer.managed.deleter = nullptr;
  CHECK(at::fromDLPackVersioned(&producer.managed).numel() == 6);
}

TEST_CASE("DLPack: offsets, strides, empty tensors", "[serialize][dlpack]") {
  Producer producer({2, 3});
  for (size_t i = 0; i < producer.data.size(); ++i) {
    producer.data[i] = static_cast<float>(i);
  }
  int64_t strides[] = {1, 2};
  producer.managed.dl_tensor.strides = strides;
  producer.managed.dl_tensor.byte_offset = 8;
  CHECK_THAT(at::fromDLPackVersioned(&producer.managed).reshape({6}), EqualsTensor({2, 4, 6, 3, 5, 7}));
  Producer empty({0, 3});
  empty.managed.dl_tensor.data = nullptr;
  CHECK(at::fromDLPackVersioned(&empty.managed).sizes() == torch::IntArrayRef({0, 3}));
  CHECK(empty.deleted == 1);
}

TEST_CASE("DLPack: structs that cannot be taken stay the caller's", "[serialize][dlpack]") {
  Producer producer({2, 3});
  DLManagedTensorVersioned& managed = producer.managed;
  const DLManagedTensorVersioned good = managed;
  const auto refused = [&](const char* says) {
    CHECK_THROWS_MATCHES(at::fromDLPackVersioned(&managed), c10::Error, test::Says(says));
    managed = good;
    producer.shape = {2, 3};
  };
  managed.version.major = 2;
  refused("has DLPack version 2.0");
  managed.dl_tensor.dtype.lanes = 4;
  refused("ATen does not support lanes != 1");
  managed.dl_tensor.dtype.bits = 24;
  refused("with 24 bits is not supported");
  managed.dl_tensor.device.device_type = kDLOpenCL;
  refused("Unsupported device_type: 4");
  managed.dl_tensor.ndim = -1;
  refused("ndim is -1");
  managed.dl_tensor.shape = nullptr;
  refused("shape is null");
  managed.dl_tensor.data = nullptr;
  refused("data is null");
  managed.dl_tensor.byte_offset = 2;
  refused("is not aligned to 4 bytes");
  producer.shape[0] = -2;
  refused("negative size");
  producer.shape[0] = INT64_MAX;
  refused("overflow");
  int64_t strides[] = {-3, 1};
  managed.dl_tensor.strides = strides;
  refused("negative stride");
  CHECK(producer.deleted == 0);
  CHECK_THROWS_AS(at::fromDLPack(nullptr), c10::Error);
}

TEST_CASE("DLPack: tensors that cannot be exported", "[serialize][dlpack]") {
  CHECK_THROWS_MATCHES(
      at::toDLPack(torch::ones({2}, torch::kComplexFloat).conj()), c10::Error, test::Says("conjugate bit"));
  CHECK_THROWS_MATCHES(
      at::toDLPack(torch::ones({2}, torch::kMeta)), c10::Error, test::Says("Cannot pack tensors on meta"));
  CHECK_THROWS_MATCHES(at::toDLPack(Tensor()), c10::Error, test::Says("undefined"));
}

TEST_CASE("DLPack: devices, and copies on demand", "[serialize][dlpack]") {
  CHECK(at::torchDeviceToDLDevice(torch::Device("cuda:1")).device_type == kDLCUDA);
  CHECK(at::torchDeviceToDLDevice(torch::Device("cuda:1")).device_id == 1);
  CHECK(at::dlDeviceToTorchDevice(kDLCUDAHost, 0) == torch::Device("cpu"));
  CHECK(at::dlDeviceToTorchDevice(kDLCUDAManaged, 1) == torch::Device("cuda:1"));
  const Tensor tensor = torch::ones({2});
  CHECK(at::maybeCopyTensor(tensor, DLDevice{kDLCPU, 0}, false).is_same(tensor));
  CHECK(at::maybeCopyTensor(tensor, std::nullopt, std::nullopt).is_same(tensor));
  CHECK_FALSE(at::maybeCopyTensor(tensor, std::nullopt, true).is_alias_of(tensor));
  CHECK_THROWS_MATCHES(
      at::maybeCopyTensor(tensor, DLDevice{kDLCUDA, 0}, false), c10::Error, test::Says("without copying"));
}
