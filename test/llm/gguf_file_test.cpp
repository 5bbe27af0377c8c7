// GGUF files: values, tensors as the gguf package has them (tools/peer/gguf_fixtures), tokenizers, refusals.
#include <torch/llm.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cstring>
#include <fstream>
#include <sstream>

namespace {

using torch::llm::GgufFile;
using torch::llm::Tokenizer;

const std::string kFolder = std::string(TEST_LLM_DATA) + "/";

std::string file_bytes(const std::string& name) {
  std::ostringstream bytes;
  bytes << std::ifstream(kFolder + name, std::ios::binary).rdbuf();
  return bytes.str();
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0;
}

/// A file by its parts, all little-endian.
class GgufBytes {
 public:
  template <class T>
  GgufBytes& number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  GgufBytes& text(const std::string& value) {
    number<uint64_t>(value.size());
    bytes_ += value;
    return *this;
  }
  static GgufBytes header(uint64_t tensors, uint64_t values, uint32_t version = 3) {
    GgufBytes out;
    out.bytes_ = "GGUF";
    return out.number(version).number(tensors).number(values);
  }
  GgufBytes& tensor(const std::string& name, const std::vector<uint64_t>& sizes, uint32_t type, uint64_t offset) {
    text(name).number(static_cast<uint32_t>(sizes.size()));
    for (const uint64_t size : sizes) {
      number(size);
    }
    return number(type).number(offset);
  }
  GgufBytes& pad(size_t more) {
    bytes_.resize((bytes_.size() + 31) / 32 * 32 + more, '\0');
    return *this;
  }
  GgufFile open() const {
    return GgufFile::from_bytes(bytes_);
  }
  const std::string& bytes() const {
    return bytes_;
  }

 private:
  std::string bytes_;
};

} // namespace

TEST_CASE("tensors of each format equal those of the gguf package bit for bit", "[llm][gguf]") {
  const GgufFile file = GgufFile::open(kFolder + "gguf/formats.gguf");
  for (const char* type : {"F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"}) {
    INFO("type " << type);
    CHECK(same_bits(file.dequantized(type), file.tensor(std::string("expected.") + type)));
  }
  CHECK(same_bits(file.dequantized("F32"), file.tensor("F32")));
  CHECK(file.tensor("F16").scalar_type() == at::kHalf);
  CHECK(same_bits(file.tensor("F16").to(at::kFloat), file.tensor("expected.F16")));
  CHECK(same_bits(file.tensor("BF16").to(at::kFloat), file.tensor("expected.BF16")));
  CHECK_THROWS_WITH(file.tensor("Q4_K"), Catch::Contains("stored as Q4_K; read it with dequantized()"));
  CHECK_THROWS_WITH(file.dequantized("none"), Catch::Contains("has no tensor 'none'"));
}

TEST_CASE("metadata is read with its kinds", "[llm][gguf]") {
  const GgufFile file = GgufFile::open(kFolder + "gguf/formats.gguf");
  CHECK(file.text("general.architecture", "") == "llama");
  CHECK(file.text("general.name", "") == "Formats \xe2\x9c\x93");
  CHECK(file.integers("numbers") == std::vector<int64_t>{1, -2, 3});
  CHECK(std::get<double>(*file.find("half")) == 0.5);
  CHECK(file.integer("missing", 7) == 7);
  CHECK_THROWS_WITH(file.integer("general.name", 0), Catch::Contains("'general.name' must be an integer"));
}

TEST_CASE("the vocabulary of a file is a tokenizer", "[llm][gguf]") {
  const Tokenizer bytes = GgufFile::open(kFolder + "gguf/byte_level.gguf").tokenizer();
  const Tokenizer bytes_reference = Tokenizer::load(kFolder + "tokenizers/llama3.json");
  const Tokenizer pieces = GgufFile::open(kFolder + "gguf/sentencepiece.gguf").tokenizer();
  const Tokenizer pieces_reference = Tokenizer::load(kFolder + "tokenizers/sentencepiece_bpe.model");
  for (const char* text :
       {"Hello, world! It's 2026.", "Größe 🙂 多行\n\n  x", "", "<|im_start|>user", "TOKEN  <sep>a"}) {
    INFO(text);
    CHECK(bytes.encode(text) == bytes_reference.encode(text));
    CHECK(pieces.encode(text) == pieces_reference.encode(text));
    CHECK(pieces.decode(pieces.encode(text)) == pieces_reference.decode(pieces_reference.encode(text)));
  }
}

TEST_CASE("a file that lies about its sizes is refused", "[llm][gguf]") {
  const uint64_t huge = uint64_t{1} << 62;
  CHECK_THROWS_WITH(GgufFile::from_bytes("GGML"), Catch::Contains("is no GGUF file"));
  CHECK_THROWS_WITH(GgufBytes::header(0, 0, 1).open(), Catch::Contains("version 1"));
  CHECK_THROWS_WITH(GgufBytes::header(0, huge).open(), Catch::Contains("do not fit"));
  CHECK_THROWS_WITH(GgufBytes::header(huge, 0).open(), Catch::Contains("do not fit"));
  CHECK_THROWS_WITH(
      GgufBytes::header(0, 1).text("k").number<uint32_t>(8).number(huge).open(), Catch::Contains("do not fit"));
  CHECK_THROWS_WITH(
      GgufBytes::header(0, 1).text("k").number<uint32_t>(9).number<uint32_t>(10).number(huge).open(),
      Catch::Contains("do not fit"));
  CHECK_THROWS_WITH(
      GgufBytes::header(0, 1).text("k").number<uint32_t>(77).number(huge).open(), Catch::Contains("unknown type 77"));
  const auto refused = [](const std::vector<uint64_t>& sizes, uint32_t type, uint64_t offset) {
    try {
      GgufBytes::header(1, 0).tensor("t", sizes, type, offset).pad(64).open();
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  };
  CHECK(refused({4, 2}, 0, 0).empty());
  CHECK(refused({0, uint64_t{1} << 40}, 0, 0).empty());
  CHECK_THAT(refused({huge, huge}, 0, 0), Catch::Contains("needs more bytes"));
  CHECK_THAT(refused({4, huge}, 0, 0), Catch::Contains("needs more bytes"));
  CHECK_THAT(refused({4}, 0, 64), Catch::Contains("does not lie inside"));
  CHECK_THAT(refused({4}, 0, ~uint64_t{0}), Catch::Contains("does not lie inside"));
  CHECK_THAT(refused({4}, 0, 3), Catch::Contains("does not lie inside"));
  CHECK_THAT(refused({31}, 8, 0), Catch::Contains("needs a multiple of 32"));
  CHECK_THAT(refused({4}, 99, 0), Catch::Contains("type 99, which is not supported"));
  CHECK_THAT(refused(std::vector<uint64_t>(9, 1), 0, 0), Catch::Contains("9 dimensions"));
}

TEST_CASE("a file that is cut off anywhere is refused or complete", "[llm][gguf]") {
  const std::string bytes = file_bytes("gguf/sentencepiece.gguf");
  for (size_t size = 0; size < bytes.size(); size += 97) {
    CHECK_THROWS_AS(GgufFile::from_bytes(std::string_view(bytes).substr(0, size)), c10::Error);
  }
}
