#include <c10/core/DeviceType.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <mutex>
#include <ostream>

namespace c10 {

namespace {

// In the order of DeviceType.
constexpr const char* kDeviceTypeNames[COMPILE_TIME_MAX_DEVICE_TYPES] = {
    "CPU",   "CUDA", "MKLDNN", "OPENGL", "OPENCL", "IDEEP", "HIP",  "FPGA", "MAIA", "XLA",          "VULKAN",
    "METAL", "XPU",  "MPS",    "META",   "HPU",    "VE",    "LAZY", "IPU",  "MTIA", "PRIVATEUSEONE"};

std::mutex& privateuse1_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

// Set once and never freed, so that readers need no lock.
std::atomic<const std::string*> privateuse1_name{nullptr};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}
std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

} // namespace

std::string DeviceTypeName(DeviceType d, bool lower_case) {
  TORCH_CHECK(
      isValidDeviceType(d), "Unknown device: ", static_cast<int>(d), "; device types are 0 to ",
      COMPILE_TIME_MAX_DEVICE_TYPES - 1);
  if (d == DeviceType::PrivateUse1) {
    return get_privateuse1_backend(lower_case);
  }
  const std::string name = kDeviceTypeNames[static_cast<int>(d)];
  return lower_case ? lower(name) : name;
}

bool isValidDeviceType(DeviceType d) {
  return static_cast<int>(d) >= 0 && static_cast<int>(d) < COMPILE_TIME_MAX_DEVICE_TYPES;
}

std::ostream& operator<<(std::ostream& stream, DeviceType type) {
  return stream << DeviceTypeName(type, /*lower_case=*/true);
}

void register_privateuse1_backend(const std::string& backend_name) {
  const std::lock_guard<std::mutex> lock(privateuse1_mutex());
  const std::string* current = privateuse1_name.load();
  if (current != nullptr) {
    TORCH_CHECK(
        *current == backend_name,
        "torch.register_privateuse1_backend() has already been set! Current backend: ", *current,
        ", new one: ", backend_name);
    return;
  }
  for (const char* name : kDeviceTypeNames) {
    TORCH_CHECK(
        upper(backend_name) != name || backend_name == "privateuseone",
        "Cannot register privateuse1 backend with in-tree device name: ", backend_name, "; choose another name");
  }
  privateuse1_name.store(new std::string(backend_name));
}

std::string get_privateuse1_backend(bool lower_case) {
  const std::string* name = privateuse1_name.load();
  const std::string text = name != nullptr ? *name : "privateuseone";
  return lower_case ? lower(text) : upper(text);
}

bool is_privateuse1_backend_registered() {
  return privateuse1_name.load() != nullptr;
}

} // namespace c10
