// Archives: trees of named values, saved in the file format that libtorch's torch::save writes.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace c10 {
struct IValue;
} // namespace c10

namespace torch::jit {
struct CompilationUnit;
} // namespace torch::jit

namespace torch::serialize {

struct ArchiveNode;

/// Gathers named tensors, values and nested archives, then writes them as one file. libtorch and torch.jit.load read
/// it. A key stands for one value: a second write to it replaces the first if both are of one type, and throws
/// otherwise.
class TORCH_API OutputArchive final {
 public:
  explicit OutputArchive(std::shared_ptr<jit::CompilationUnit> cu);
  explicit OutputArchive();
  OutputArchive(OutputArchive&&) noexcept;
  OutputArchive& operator=(OutputArchive&&) noexcept;
  OutputArchive(OutputArchive&) = delete;
  OutputArchive& operator=(OutputArchive&) = delete;
  ~OutputArchive();

  std::shared_ptr<jit::CompilationUnit> compilation_unit() const {
    return cu_;
  }

  /// Stores a value: None, bool, int, float, complex, str, Device, Tensor, and tuples, lists and dicts of these.
  void write(const std::string& key, const c10::IValue& ivalue);
  /// Stores a tensor, as a parameter or as a buffer. Tensors that share a storage share it in the file.
  void write(const std::string& key, const at::Tensor& tensor, bool is_buffer = false);
  /// Stores a nested archive. It is shared: what is written to it later is saved too.
  void write(const std::string& key, OutputArchive& nested_archive);

  /// Writes everything to the file. It is replaced at once when all is on disk: after an error, which names the file
  /// and the reason, an older file of that name is as it was.
  void save_to(const std::string& filename);
  void save_to(std::ostream& stream);
  /// Calls `func` with one piece after the other; it returns how many bytes it took, and throws or returns less to
  /// stop.
  void save_to(const std::function<size_t(const void*, size_t)>& func);

  template <typename... Ts>
  void operator()(Ts&&... ts) {
    write(std::forward<Ts>(ts)...);
  }

 private:
  std::shared_ptr<jit::CompilationUnit> cu_;
  c10::intrusive_ptr<ArchiveNode> node_;
};

/// Reads what an OutputArchive, libtorch's or ours, has saved, the attributes of a TorchScript module, or a state_dict
/// that Python's torch.save has written: there "fc.weight" is the tensor "weight" of the nested archive "fc". Code in
/// the file is never run. Damaged files give a c10::Error.
class TORCH_API InputArchive final {
 public:
  InputArchive();
  InputArchive(InputArchive&&) noexcept;
  InputArchive& operator=(InputArchive&&) noexcept;
  InputArchive(InputArchive&) = delete;
  InputArchive& operator=(InputArchive&) = delete;
  ~InputArchive();

  /// The value stored under `key`. Throws if there is none.
  void read(const std::string& key, c10::IValue& ivalue);
  /// As read(), but gives false and leaves the argument as it was if there is no such value.
  bool try_read(const std::string& key, c10::IValue& ivalue);
  /// The tensor stored under `key`. A defined `tensor` stays the same object, with its place in the graph and its
  /// requires_grad, and gets the stored sizes and data.
  void read(const std::string& key, at::Tensor& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, at::Tensor& tensor, bool is_buffer = false);
  /// The nested archive stored under `key`.
  void read(const std::string& key, InputArchive& archive);
  bool try_read(const std::string& key, InputArchive& archive);

  /// Opens the file. Tensors go to `device`, without it to the device that they were saved from. CPU tensors lie in a
  /// private mapping of the file, see LoadOptions::map in <csrc/serialize/load_options.h>.
  void load_from(const std::string& filename, std::optional<c10::Device> device = std::nullopt);
  /// Reads from the stream's position to its end.
  void load_from(std::istream& stream, std::optional<c10::Device> device = std::nullopt);
  /// The bytes are copied.
  void load_from(const char* data, size_t size, std::optional<c10::Device> device = std::nullopt);
  /// `read_func(pos, buf, n)` gives the number of bytes read; `size_func` the number of bytes there are.
  void load_from(
      const std::function<size_t(uint64_t pos, void* buf, size_t nbytes)>& read_func,
      const std::function<size_t(void)>& size_func,
      std::optional<c10::Device> device = std::nullopt);

  /// Names of all values here, in the order in which they were written.
  std::vector<std::string> keys();

  template <typename... Ts>
  void operator()(Ts&&... ts) {
    read(std::forward<Ts>(ts)...);
  }

 private:
  c10::intrusive_ptr<ArchiveNode> node_;
  std::string hierarchy_prefix_;
};

} // namespace torch::serialize

namespace torch {

namespace serialize::detail {
/// Writes a tensor that load() is to find again: an undefined one is an error.
TORCH_API void write_defined(OutputArchive& archive, const std::string& key, const at::Tensor& tensor);
} // namespace serialize::detail

inline serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const at::Tensor& tensor) {
  serialize::detail::write_defined(archive, "0", tensor);
  return archive;
}
inline serialize::InputArchive& operator>>(serialize::InputArchive& archive, at::Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

} // namespace torch
