// torch::jit::pickle and unpickle.
#include "support.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <cstring>
#include <string>

using namespace serialize_test;
using Catch::Matchers::Contains;

namespace {

IValue value_with(const Tensor& tensor) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("numbers", std::vector<int64_t>{1, 2});
  dict.insert("tuple", std::make_tuple(2.5, std::string("x"), true));
  dict.insert("tensors", std::vector<Tensor>{tensor, tensor});
  dict.insert("none", IValue());
  return dict;
}

IValue unpickled(const std::vector<char>& bytes, const std::vector<Tensor>& table = {}) {
  return torch::jit::unpickle(bytes.data(), bytes.size(), nullptr, table);
}

} // namespace

TEST_CASE("pickles in memory keep tensors in a table", "[pickle_bytes]") {
  const Tensor tensor = torch::ones({3});
  const IValue value = value_with(tensor);
  std::vector<Tensor> table{torch::zeros({1})}; // what is there stays
  const std::vector<char> bytes = torch::jit::pickle(value, &table);
  REQUIRE(table.size() == 3);
  CHECK(table[2].is_same(tensor));
  const IValue back = unpickled(bytes, table);
  CHECK(back == value);
  CHECK(*back.type() == *value.type());
  CHECK(back.toGenericDict().at("tensors").toTensorVector()[1].is_same(tensor));

  std::string written;
  table.resize(1);
  torch::jit::pickle([&](const char* data, size_t size) { written.append(data, size); }, value, &table);
  CHECK(written == std::string(bytes.begin(), bytes.end()));
  size_t position = 0;
  const IValue read = torch::jit::unpickle(
      [&](char* buffer, size_t size) {
        const size_t count = std::min<size_t>({size, 7, written.size() - position});
        std::memcpy(buffer, written.data() + position, count);
        position += count;
        return count;
      },
      nullptr, table);
  CHECK(read == value);
  CHECK(unpickled(torch::jit::pickle(IValue(5))).toInt() == 5);
}

TEST_CASE("pickles in memory that cannot be made or read", "[pickle_bytes]") {
  std::vector<Tensor> table;
  const std::vector<char> bytes = torch::jit::pickle(value_with(torch::ones({3})), &table);
  CHECK_THROWS_WITH(torch::jit::pickle(IValue(torch::ones({1}))), Contains("tensor_table"));
  CHECK_THROWS_WITH(unpickled(bytes), Contains("tensor 0 is not in the table, which has 0"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK_THROWS_AS(unpickled({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, table), c10::Error);
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<char> changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    try {
      unpickled(changed, table);
    } catch (const c10::Error&) {
    }
  }
}
