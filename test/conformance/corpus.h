// The recorded calls: NAME.jsonl with one case per line, NAME.safetensors with the tensor contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json.h"

namespace conformance {

using Bytes = std::span<const std::byte>;

/// A file mapped read-only for the life of the object.
class MappedFile {
 public:
  /// Throws std::runtime_error when the file cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Bytes bytes() const {
    return {data_, size_};
  }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(data_), size_};
  }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Reads contents by key out of one .safetensors file.
class SafeTensors {
 public:
  explicit SafeTensors(const std::string& path);

  /// Contents of `key`; throws std::runtime_error when there is no such key.
  Bytes at(const std::string& key) const;

 private:
  MappedFile file_;
  std::unordered_map<std::string, Bytes> entries_;
};

struct CorpusFile {
  std::string name;
  MappedFile lines;
  SafeTensors data;
};

/// What can be judged about one case: the call itself, its gradient, its second gradient.
enum class Part : uint8_t { Call, Grad, GradGrad };

/// One recorded call; the line is parsed again by whoever replays it.
struct Case {
  const CorpusFile* file;
  std::string_view line;
  std::string id;
  std::string op;
  std::string kind;
  std::vector<Part> parts;
};

/// The kind shown for a part: forward, inplace, out or error for the call, else grad or gradgrad.
std::string part_name(const Case& c, Part part);

class Corpus {
 public:
  /// Loads NAME.jsonl and NAME.safetensors of `folder`, of all names or of `only_file`.
  /// Throws std::runtime_error when there are none or one is damaged.
  explicit Corpus(const std::string& folder, const std::string& only_file = "");

  const std::vector<Case>& cases() const {
    return cases_;
  }

 private:
  void load(const std::string& folder, const std::string& name);

  std::vector<std::unique_ptr<CorpusFile>> files_;
  std::vector<Case> cases_;
};

} // namespace conformance
