#include "support.h"

#include <csrc/serialize/safetensors.h>

#include <cstring>

using namespace serialize_test;
using torch::serialize::load_safetensors;
using torch::serialize::LoadOptions;
using torch::serialize::Safetensors;
using torch::serialize::save_safetensors;

namespace {

// A file with this header, and as many zero bytes of data.
std::string file_with(const std::string& header, size_t data) {
  const uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + std::string(data, '\0');
}

Safetensors parse(const std::string& header, size_t data) {
  const std::string bytes = file_with(header, data);
  return load_safetensors(bytes.data(), bytes.size());
}

bool has_format_dtype(torch::ScalarType dtype) {
  return dtype != torch::ScalarType::ComplexHalf && dtype != torch::ScalarType::ComplexDouble;
}

} // namespace

TEST_CASE("safetensors files of Python are read", "[serialize][safetensors]") {
  LoadOptions options;
  options.map = GENERATE(true, false);
  const Safetensors file = load_safetensors(data_file("python.safetensors"), options);
  for (const auto& [name, dtype] : dtypes()) {
    INFO(name);
    if (has_format_dtype(dtype)) {
      CHECK(same_bits(file.tensors.at(name), counting(dtype)));
    }
  }
  CHECK(file.tensors.size() == 19);
  CHECK(file.tensors.at("scalar").dim() == 0);
  CHECK(file.tensors.at("scalar").item<float>() == 3.5f);
  CHECK(file.tensors.at("empty").sizes() == torch::IntArrayRef({0, 3}));
  CHECK_THAT(file.tensors.at("matrix")[1], EqualsTensor({3, 4, 5}));
  CHECK(file.metadata.at("format") == "pt");
  CHECK(file.metadata.at("note") == "\u00e9 \"quoted\" \n");
}

TEST_CASE("safetensors: save and load", "[serialize][safetensors]") {
  const Folder folder;
  const std::string path = folder.file("a.safetensors");
  c10::Dict<std::string, Tensor> tensors;
  for (const auto& [name, dtype] : dtypes()) {
    if (has_format_dtype(dtype)) {
      tensors.insert(name, counting(dtype));
    }
  }
  tensors.insert("transposed", torch::arange(6).view({2, 3}).t());
  tensors.insert("empty", torch::zeros({0, 3}));
  tensors.insert("name \"quoted\" \n\x01", torch::ones({1}));
  tensors.insert("grad", torch::ones({2}, torch::requires_grad()));
  c10::Dict<std::string, std::string> metadata;
  metadata.insert("format", "pt");
  metadata.insert("empty", "");
  save_safetensors(tensors, path, metadata);

  const Safetensors file = load_safetensors(path);
  CHECK(file.tensors.size() == tensors.size());
  for (const auto& entry : tensors) {
    INFO(entry.key());
    CHECK(same_bits(file.tensors.at(entry.key()), entry.value()));
    CHECK(reinterpret_cast<uintptr_t>(file.tensors.at(entry.key()).const_data_ptr()) % entry.value().itemsize() == 0);
  }
  CHECK(file.metadata.at("format") == "pt");
  CHECK(file.metadata.at("empty").empty());

  save_safetensors({}, path);
  CHECK(load_safetensors(path).tensors.empty());
}

TEST_CASE("safetensors: tensors that the format does not know", "[serialize][safetensors]") {
  const Folder folder;
  c10::Dict<std::string, Tensor> tensors;
  tensors.insert("z", torch::zeros({1}, torch::kComplexDouble));
  CHECK_THROWS_MATCHES(
      save_safetensors(tensors, folder.file("a")), c10::Error, test::Says("tensor 'z' has dtype ComplexDouble"));
  CHECK(folder.files().empty());
}

TEST_CASE("safetensors: every rule of the header is checked", "[serialize][safetensors]") {
  struct Case {
    const char* header;
    size_t data;
    const char* says;
  };
  const Case bad = GENERATE(values<Case>({
      {R"(x)", 0, "must begin with '{'"},
      {R"({)", 0, "must stand here, but the header ends"},
      {R"({} x)", 0, "text follows"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       8, "'a' occurs twice"},
      {R"({"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}})", 4, "dtype 'F99' is not supported"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "must span 8 bytes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "must span 4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3, "end within the 3 bytes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5, "must end with its last tensor"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "it must begin at 0"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
       6, "it must begin at 4"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "an integer that is not negative"},
      {R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "']' must stand here"},
      {R"({"a":{"dtype":"F32","shape":[01],"data_offsets":[0,4]}})", 4, "begins with 0"},
      {R"({"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4]}})", 4, "63 bits"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
       "more bytes than can be counted"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "must have dtype, shape and data_offsets"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4, "has 'dtype' twice"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})", 4, "unknown field 'more'"},
      {R"({"__metadata__":{"a":1}})", 0, "'\"' must stand here"},
      {R"({"__metadata__":{"a":"\ud800"}})", 0, "surrogate stands alone"},
      {R"({"__metadata__":{"a":"\x"}})", 0, "backslash"},
  }));
  INFO(bad.header);
  CHECK_THROWS_MATCHES(parse(bad.header, bad.data), c10::Error, test::Says(bad.says));
}

TEST_CASE("safetensors: headers that are odd but right", "[serialize][safetensors]") {
  CHECK(parse("{}", 0).tensors.empty());
  CHECK(parse("{} \n  ", 0).tensors.empty());
  const Safetensors file = parse(
      R"({"__metadata__" : {"\u00e9\ud83d\ude00":"\/"}, "b":{"shape":[],"data_offsets":[2,3],"dtype":"U8"},
      "a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}})",
      3);
  CHECK(file.metadata.at("\u00e9\U0001f600") == "/");
  CHECK(file.tensors.at("b").dim() == 0);
  CHECK(file.tensors.at("a").scalar_type() == torch::kHalf);
}

TEST_CASE("safetensors: a header must fit into the file", "[serialize][safetensors]") {
  std::string bytes = file_with("{}", 0);
  CHECK_THROWS_MATCHES(load_safetensors(bytes.data(), 7), c10::Error, test::Says("the header's length takes 8"));
  bytes[5] = 1;
  CHECK_THROWS_MATCHES(load_safetensors(bytes.data(), bytes.size()), c10::Error, test::Says("must fit into the file"));
}
