#include "inputs.h"

#include <torch/serialize.h>
#include <torch/torch.h>

#if __has_include(<csrc/serialize/safetensors.h>)
#include <csrc/serialize/safetensors.h>
#endif

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "options.h"

namespace tensor_run {

namespace {

using torch::IValue;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::optional<torch::ScalarType> dtype_called(const std::string& name) {
  const std::pair<const char*, torch::ScalarType> names[] = {
      {"float32", torch::kFloat32},
      {"float", torch::kFloat32},
      {"float64", torch::kFloat64},
      {"double", torch::kFloat64},
      {"float16", torch::kFloat16},
      {"half", torch::kFloat16},
      {"bfloat16", torch::kBFloat16},
      {"int64", torch::kInt64},
      {"long", torch::kInt64},
      {"int32", torch::kInt32},
      {"int", torch::kInt32},
      {"int16", torch::kInt16},
      {"int8", torch::kInt8},
      {"uint8", torch::kUInt8},
      {"bool", torch::kBool},
      {"complex64", torch::kComplexFloat},
      {"complex128", torch::kComplexDouble}};
  for (const auto& [known, dtype] : names) {
    if (name == known) {
      return dtype;
    }
  }
  return std::nullopt;
}

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? std::optional<double>(value) : std::nullopt;
}

std::optional<int64_t> whole_number(const std::string& text) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0' ? std::optional<int64_t>(value) : std::nullopt;
}

/// "[1, 2, 3]"
std::optional<std::vector<int64_t>> whole_numbers(const std::string& text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  std::string item;
  for (const char c : text.substr(1, text.size() - 2) + ",") {
    if (std::isspace(static_cast<unsigned char>(c))) {
      continue;
    }
    if (c != ',') {
      item += c;
      continue;
    }
    const auto value = whole_number(item);
    if (!value) {
      return item.empty() && numbers.empty() ? std::optional(numbers) : std::nullopt;
    }
    numbers.push_back(*value);
    item.clear();
  }
  return numbers;
}

/// "float32[2,3]" or "int64[2]:10"
IValue random_tensor(const std::string& spec, size_t bracket, torch::ScalarType dtype, torch::Device device) {
  const size_t close = spec.find(']');
  const auto sizes =
      close == std::string::npos ? std::nullopt : whole_numbers(spec.substr(bracket, close + 1 - bracket));
  const std::string rest = close == std::string::npos ? "" : spec.substr(close + 1);
  const auto limit = rest.empty() ? std::optional<int64_t>(2) : whole_number(rest.substr(1));
  if (!sizes || !limit || *limit < 1 || (!rest.empty() && rest[0] != ':')) {
    throw UserError("'" + spec + "' is no tensor: write it as float32[2,3] or int64[2,3]:10");
  }
  const bool draws_normal = torch::isFloatingType(dtype) || torch::isComplexType(dtype);
  const torch::Tensor drawn = draws_normal
      ? torch::randn(*sizes, torch::isComplexType(dtype) ? torch::kComplexFloat : torch::kFloat32)
      : torch::randint(*limit, *sizes);
  return drawn.to(device, dtype);
}

std::string folder_free(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

IValue saved_value(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw UserError("cannot read " + path);
  }
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  try {
    return torch::pickle_load(bytes);
  } catch (const c10::Error& error) {
    throw UserError(folder_free(path) + ": " + error.what_without_backtrace());
  }
}

IValue safetensor(const std::string& path, const std::string& key) {
#if __has_include(<csrc/serialize/safetensors.h>)
  const auto file = torch::serialize::load_safetensors(path);
  if (key.empty() && file.tensors.size() == 1) {
    return file.tensors.begin()->value();
  }
  const auto found = file.tensors.find(key);
  if (found == file.tensors.end()) {
    throw UserError(folder_free(path) + " has no tensor '" + key + "'; write FILE.safetensors:KEY");
  }
  return found->value();
#else
  throw UserError(path + ": this build reads no safetensors, key '" + key + "'");
#endif
}

IValue to_device(const IValue& value, torch::Device device) {
  return value.isTensor() ? IValue(value.toTensor().to(device)) : value;
}

} // namespace

std::string take_name(std::string& spec) {
  size_t end = 0;
  while (end < spec.size() && (std::isalnum(static_cast<unsigned char>(spec[end])) || spec[end] == '_')) {
    ++end;
  }
  if (end == 0 || end >= spec.size() || spec[end] != '=') {
    return {};
  }
  const std::string name = spec.substr(0, end);
  spec.erase(0, end + 1);
  return name;
}

IValue make_input(const std::string& spec, torch::Device device) {
  if (const size_t bracket = spec.find('['); bracket != std::string::npos && bracket > 0) {
    if (const auto dtype = dtype_called(spec.substr(0, bracket))) {
      return random_tensor(spec, bracket, *dtype, device);
    }
  }
  if (spec.rfind("str:", 0) == 0) {
    return spec.substr(4);
  }
  if (spec == "none" || spec == "None") {
    return {};
  }
  if (spec == "true" || spec == "false") {
    return spec == "true";
  }
  if (const auto value = whole_number(spec)) {
    return *value;
  }
  if (const auto value = number(spec)) {
    return *value;
  }
  if (const auto values = whole_numbers(spec)) {
    return *values;
  }
  const size_t safetensors = spec.find(".safetensors");
  if (safetensors != std::string::npos) {
    const size_t end = safetensors + 12;
    return to_device(safetensor(spec.substr(0, end), spec.size() > end ? spec.substr(end + 1) : ""), device);
  }
  if (ends_with(spec, ".pt") || ends_with(spec, ".pth")) {
    return to_device(saved_value(spec), device);
  }
  throw UserError("--input " + spec + " is nothing known; --help lists what can stand there");
}

} // namespace tensor_run
