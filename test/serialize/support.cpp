#include "support.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace serialize_test {

std::string data_file(const std::string& name) {
  return std::string(TEST_SERIALIZE_DATA) + "/" + name;
}

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tensor_serialize.XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Folder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_bytes(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream.good());
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(stream.good());
}

const std::vector<std::pair<std::string, torch::ScalarType>>& dtypes() {
  using torch::ScalarType;
  static const std::vector<std::pair<std::string, ScalarType>> all = {
      {"float32", ScalarType::Float},
      {"float64", ScalarType::Double},
      {"float16", ScalarType::Half},
      {"bfloat16", ScalarType::BFloat16},
      {"int8", ScalarType::Char},
      {"int16", ScalarType::Short},
      {"int32", ScalarType::Int},
      {"int64", ScalarType::Long},
      {"uint8", ScalarType::Byte},
      {"uint16", ScalarType::UInt16},
      {"uint32", ScalarType::UInt32},
      {"uint64", ScalarType::UInt64},
      {"bool", ScalarType::Bool},
      {"complex32", ScalarType::ComplexHalf},
      {"complex64", ScalarType::ComplexFloat},
      {"complex128", ScalarType::ComplexDouble},
      {"float8_e4m3fn", ScalarType::Float8_e4m3fn},
      {"float8_e5m2", ScalarType::Float8_e5m2}};
  return all;
}

Tensor counting(torch::ScalarType dtype) {
  return torch::arange(4).to(dtype);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    return false;
  }
  const Tensor x = a.detach().cpu().contiguous(), y = b.detach().cpu().contiguous();
  return x.nbytes() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

IValue at_key(const IValue& dict, const std::string& key) {
  const auto entries = dict.toGenericDict();
  INFO("key " << key);
  REQUIRE(entries.contains(key));
  return entries.at(key);
}

} // namespace serialize_test
