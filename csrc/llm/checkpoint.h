// The weights of a model's folder, by name.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/quantized/packed_weight.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace torch::llm {

/// A weight that its file keeps in another way than a plain tensor: quantized, or in several tensors. It is made anew
/// in each call, so that no more than one layer lies in memory twice.
class TORCH_API StoredWeight {
 public:
  virtual ~StoredWeight() = default;
  virtual std::vector<int64_t> sizes() const = 0;
  /// The numbers that it stands for.
  virtual at::Tensor tensor() const = 0;
  /// Its codes as they are, packed for products; undefined when it has none.
  virtual at::quantized::PackedWeight packed() const = 0;
};

/// Named tensors, of which a model takes what it needs. What it misses and what nobody took is told at the end, all of
/// it in one message.
class TORCH_API Checkpoint {
 public:
  /// Tensors by name; `where` begins the message of an error.
  Checkpoint(std::map<std::string, at::Tensor> tensors, std::string where);
  /// model.safetensors of `folder`, or the shards that model.safetensors.index.json names. Files are mapped: tensors
  /// lie in their pages and are read when they are used. Throws for an index that names files outside of the folder,
  /// for a tensor that is not in its shard, and what load_safetensors throws.
  static Checkpoint open(const std::string& folder);

  /// One more weight, instead of a tensor of this name if there is one.
  void add(const std::string& name, std::shared_ptr<const StoredWeight> weight);

  /// Names that end with this.
  std::vector<std::string> names_with_end(const std::string& end) const;
  /// Takes a tensor out, of any shape and dtype; undefined when there is none.
  at::Tensor remove(const std::string& name);

  bool has(const std::string& name) const {
    return entries_.count(name) > 0;
  }
  /// The part before `suffix` of the only name that ends with it, "model." for example; throws when there is none.
  std::string prefix_of(const std::string& suffix) const;
  /// Checks the shape and throws when it differs. Undefined when there is no such tensor; finish() will name it.
  at::Tensor take(const std::string& name, at::IntArrayRef shape);
  /// The same for a weight that is quantized in the file; undefined for others, which take() gives.
  at::quantized::PackedWeight take_packed(const std::string& name, at::IntArrayRef shape);
  /// Names that a model may leave alone although they are there, whole or by their end.
  void ignore(const std::string& name_or_end);

  /// Throws for tensors that were missing, and when `strict` for those that begin with `prefix` and nobody took.
  void finish(const std::string& prefix, bool strict) const;

 private:
  struct Entry {
    at::Tensor tensor;
    std::shared_ptr<const StoredWeight> stored; // instead of tensor
  };
  // nullptr when there is none; throws for another shape.
  const Entry* find(const std::string& name, at::IntArrayRef shape);

  std::map<std::string, Entry> entries_;
  std::string where_;
  std::set<std::string> taken_;
  std::vector<std::string> missing_, ignored_;
};

} // namespace torch::llm
