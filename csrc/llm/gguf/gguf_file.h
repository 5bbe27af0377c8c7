// GGUF files: the models of llama.cpp.
#pragma once

#include <csrc/llm/tokenizer/tokenizer.h>
#include <csrc/llm/weight_codes.h>
#include <csrc/serialize/file_bytes.h>

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace torch::llm {

/// A value of the metadata; integers of all widths are int64_t, floats double, arrays of bool are integers.
using GgufValue = std::
    variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;

/// How the elements of a tensor are stored, with the numbers of the format.
enum class GgufType : uint32_t {
  F32 = 0,
  F16 = 1,
  Q4_0 = 2,
  Q4_1 = 3,
  Q5_0 = 6,
  Q5_1 = 7,
  Q8_0 = 8,
  Q4_K = 12,
  Q5_K = 13,
  Q6_K = 14,
  BF16 = 30
};

struct GgufTensor {
  std::string name;
  std::vector<int64_t> sizes; ///< outermost first, as tensors here have them
  GgufType type;
  size_t offset; ///< of the first byte in the file
  size_t nbytes;
};

/// A mapped file of version 2 or 3. Everything in it is checked when it is opened: counts and sizes against the bytes
/// that are there, types of elements, alignment; c10::Error tells what is wrong. Const calls from several threads are
/// safe.
class TORCH_API GgufFile {
 public:
  static GgufFile open(const std::string& path);
  /// A file in memory, which is copied where tensors are made of it.
  static GgufFile from_bytes(std::string_view bytes);

  const std::map<std::string, GgufValue, std::less<>>& metadata() const {
    return metadata_;
  }
  const GgufValue* find(std::string_view key) const;
  // These throw c10::Error when the value is of another kind; the ones with a fallback give it when there is none.
  int64_t integer(std::string_view key, int64_t fallback) const;
  bool flag(std::string_view key, bool fallback) const;
  std::string text(std::string_view key, std::string fallback) const;
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<int64_t> integers(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;

  const std::vector<GgufTensor>& tensors() const {
    return tensors_;
  }
  bool has_tensor(std::string_view name) const;
  /// Throws when there is none.
  const GgufTensor& tensor_info(std::string_view name) const;
  /// Whether it is in a format of blocks.
  bool is_quantized(std::string_view name) const;
  /// The tensor as it is stored: float32, float16 or bfloat16 in the file's pages. Throws for block formats.
  at::Tensor tensor(std::string_view name) const;
  /// The tensor in float32, whatever its format.
  at::Tensor dequantized(std::string_view name) const;
  /// The codes of a tensor in a format of blocks, nothing rounded; of Q5 and Q6 they take 8 bits. Throws for others.
  WeightCodes codes(std::string_view name) const;

  /// The tokenizer of the metadata (tokenizer.ggml.*): SentencePiece BPE ("llama"), unigram ("t5") or byte-level BPE
  /// ("gpt2"). Throws c10::Error for other models and for splits of words that are not known, by their names.
  Tokenizer tokenizer() const;

 private:
  friend class GgufReader;
  explicit GgufFile(serialize::FileBytes bytes) : bytes_(std::move(bytes)) {}

  serialize::FileBytes bytes_;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

} // namespace torch::llm
