#include <c10/core/Device.h>

#include <algorithm>
#include <ostream>
#include <string_view>

namespace c10 {

namespace {

struct NamedType {
  std::string_view name;
  DeviceType type;
};

constexpr NamedType kTypes[] = {
    {"cpu", DeviceType::CPU},       {"cuda", DeviceType::CUDA},     {"ipu", DeviceType::IPU},
    {"xpu", DeviceType::XPU},       {"mkldnn", DeviceType::MKLDNN}, {"opengl", DeviceType::OPENGL},
    {"opencl", DeviceType::OPENCL}, {"ideep", DeviceType::IDEEP},   {"hip", DeviceType::HIP},
    {"ve", DeviceType::VE},         {"fpga", DeviceType::FPGA},     {"maia", DeviceType::MAIA},
    {"xla", DeviceType::XLA},       {"lazy", DeviceType::Lazy},     {"vulkan", DeviceType::Vulkan},
    {"mps", DeviceType::MPS},       {"meta", DeviceType::Meta},     {"hpu", DeviceType::HPU},
    {"mtia", DeviceType::MTIA},     {"metal", DeviceType::Metal},   {"privateuseone", DeviceType::PrivateUse1},
};

DeviceType parse_type(std::string_view name) {
  for (const NamedType& known : kTypes) {
    if (name == known.name) {
      return known.type;
    }
  }
  if (is_privateuse1_backend_registered() && name == get_privateuse1_backend()) {
    return DeviceType::PrivateUse1;
  }
  std::string expected;
  for (const NamedType& known : kTypes) {
    expected += expected.empty() ? "" : ", ";
    expected += known.name;
  }
  AT_ERROR("Expected one of ", expected, " device type at start of device string: ", name);
}

// Decimal digits without a leading zero.
DeviceIndex parse_index(std::string_view digits, const std::string& whole) {
  TORCH_CHECK(
      !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }),
      "Invalid device string: '", whole, "'; expected a type, or a type and an index such as cuda:0");
  TORCH_CHECK(
      digits == "0" || digits.front() != '0', "Invalid device string: '", whole,
      "'; the index must not start with a zero");
  int index = 0;
  for (const char c : digits) {
    index = index * 10 + (c - '0');
    TORCH_CHECK(
        index <= INT8_MAX, "Could not parse device index '", digits, "' in device string '", whole,
        "'; the largest index is ", INT8_MAX);
  }
  return static_cast<DeviceIndex>(index);
}

} // namespace

namespace detail {

void invalid_device(DeviceType type, int index) {
  AT_ERROR("Device index must be -1 or non-negative, got ", index, " for device type ", type);
}

} // namespace detail

Device::Device(const std::string& device_string) : Device(DeviceType::CPU) {
  TORCH_CHECK(!device_string.empty(), "Device string must not be empty");
  const std::string_view text = device_string;
  const size_t colon = text.find(':');
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const std::string_view name = text.substr(0, colon);
  TORCH_CHECK(
      !name.empty() && std::all_of(name.begin(), name.end(), is_name), "Invalid device string: '", device_string,
      "'; expected a type, or a type and an index such as cuda:0");
  type_ = parse_type(name);
  if (colon != std::string_view::npos) {
    index_ = parse_index(text.substr(colon + 1), device_string);
  }
  validate();
}

std::string Device::str() const {
  std::string text = DeviceTypeName(type_, /*lower_case=*/true);
  if (has_index()) {
    text += ':' + std::to_string(index_);
  }
  return text;
}

std::ostream& operator<<(std::ostream& stream, const Device& device) {
  return stream << device.str();
}

} // namespace c10
