#include <catch2/catch.hpp>

#include <c10/core/CPUAllocator.h>
#include <c10/core/CopyBytes.h>
#include <c10/core/Storage.h>

#include <cstring>
#include <string>

using namespace c10;

namespace {

Storage make_storage(int64_t bytes, bool resizable = true) {
  return Storage(Storage::use_byte_size_t(), SymInt(bytes), GetCPUAllocator(), resizable);
}

int deleted = 0;

void count_delete(void*) {
  ++deleted;
}

} // namespace

TEST_CASE("a storage owns its bytes and is shared by reference", "[c10][storage]") {
  Storage s = make_storage(100);
  CHECK(s.nbytes() == 100);
  CHECK(s.unique());
  CHECK(s.resizable());
  CHECK(s.device() == Device(DeviceType::CPU));
  Storage t = s;
  CHECK(t.is_alias_of(s));
  CHECK(s.use_count() == 2);
  CHECK_FALSE(make_storage(1).is_alias_of(s));
  CHECK_FALSE(Storage());
  CHECK(Storage().is_alias_of(Storage()));
  CHECK(Storage(Storage::use_byte_size_t(), SymInt(8)).nbytes() == 8);
}

TEST_CASE("resizing a storage keeps what fits", "[c10][storage]") {
  Storage s = make_storage(4);
  std::memcpy(s.mutable_data(), "abcd", 4);
  resize_storage_bytes(*s.unsafeGetStorageImpl(), 100000);
  CHECK(s.nbytes() == 100000);
  CHECK(std::string(static_cast<const char*>(s.data()), 4) == "abcd");
  resize_storage_bytes(*s.unsafeGetStorageImpl(), 2);
  CHECK(std::string(static_cast<const char*>(s.data()), 2) == "ab");
  resize_storage_bytes(*s.unsafeGetStorageImpl(), 0);
  CHECK(s.data() == nullptr);
  resize_storage_bytes(*s.unsafeGetStorageImpl(), 8);
  CHECK(s.data() != nullptr);

  Storage fixed = make_storage(4, false);
  CHECK_THROWS_WITH(
      resize_storage_bytes(*fixed.unsafeGetStorageImpl(), 8),
      Catch::Contains("Trying to resize storage that is not resizable"));
  const void* data = s.data();
  CHECK_THROWS(resize_storage_bytes(*s.unsafeGetStorageImpl(), size_t{1} << 60));
  CHECK_THROWS(resize_storage_bytes(*s.unsafeGetStorageImpl(), ~size_t{0}));
  CHECK(s.data() == data);
  CHECK(s.nbytes() == 8);
}

TEST_CASE("memory of others is deleted once", "[c10][storage]") {
  deleted = 0;
  int value = 0;
  {
    Storage s(
        Storage::use_byte_size_t(), size_t{4}, DataPtr(&value, &value, &count_delete, Device(DeviceType::CPU)), nullptr,
        false);
    Storage t = s;
    CHECK_THROWS_WITH(
        s.UniqueStorageShareExternalPointer(&value, 4), Catch::Contains("only be called when use_count == 1"));
    t = Storage();
    DataPtr old = s.set_data_ptr(DataPtr());
    CHECK(deleted == 0);
    s.UniqueStorageShareExternalPointer(std::move(old), 4);
    CHECK(s.data() == &value);
  }
  CHECK(deleted == 1);
  int calls = 0;
  {
    DataPtr p = InefficientStdFunctionContext::makeDataPtr(
        &value, [&](void* q) { calls += q == &value; }, Device(DeviceType::CPU));
    DataPtr q = std::move(p);
    CHECK(p.get_context() == nullptr);
    CHECK(q.get() == &value);
  }
  CHECK(calls == 1);
}

TEST_CASE("a resizable storage needs an allocator", "[c10][storage]") {
  CHECK_THROWS_WITH(
      Storage(Storage::use_byte_size_t(), size_t{0}, DataPtr(), nullptr, true),
      Catch::Contains("For resizable storage, allocator must be provided"));
}

TEST_CASE("access to data can be refused", "[c10][storage]") {
  Storage s = make_storage(8);
  StorageImpl* impl = s.unsafeGetStorageImpl();
  impl->release_data_and_set_meta_custom_data_ptr_error_msg_("it was moved");
  CHECK_THROWS_WITH(s.data(), Catch::Contains("it was moved"));
  CHECK_THROWS_WITH(s.mutable_data(), Catch::Contains("it was moved"));
  impl->clear_data_ptr_access_error_msg_();
  CHECK(s.data() != nullptr);
  impl->set_throw_on_mutable_data_ptr();
  CHECK(s.data() != nullptr);
  CHECK_THROWS_WITH(s.mutable_data(), Catch::Contains("Cannot access data pointer of Tensor"));
}

TEST_CASE("storages exchange their memory", "[c10][storage]") {
  Storage a = make_storage(8);
  Storage b = make_storage(16, false);
  const void* of_a = a.data();
  a.swap_data_ptr(b);
  CHECK(b.data() == of_a);
  CHECK(a.nbytes() == 16);
  CHECK_FALSE(a.resizable());
  CHECK(b.resizable());
}

TEST_CASE("allocators copy and hand out bare pointers", "[c10][storage]") {
  Allocator* cpu = GetAllocator(DeviceType::CPU);
  auto* raw = static_cast<char*>(cpu->raw_allocate(10));
  std::memcpy(raw, "0123456789", 10);
  DataPtr copy = cpu->clone(raw, 10);
  CHECK(std::memcmp(copy.get(), raw, 10) == 0);
  CHECK(cpu->is_simple_data_ptr(copy));
  cpu->raw_deallocate(raw);
  CHECK(copy.cast_context<void>(cpu->raw_deleter()) == copy.get());
  CHECK_THROWS_WITH(GetAllocator(DeviceType::FPGA), Catch::Contains("is not set"));
  char to[4] = {};
  CopyBytes(3, "abc", Device(DeviceType::CPU), to, Device(DeviceType::CPU), false);
  CHECK(std::string(to) == "abc");
  CHECK_THROWS_WITH(
      CopyBytes(1, to, Device(DeviceType::CPU), to, Device(DeviceType::CUDA, 0), true),
      Catch::Contains("No function found for copying from"));
}
