// Tensors: "tokens", and for each layer its rows as they are stored, from the first position that the cache still has:
// "layer.0.0" (keys), "layer.0.1" (values), and for int8 "layer.0.2", "layer.0.3" (scales).
#include <csrc/llm/prompt_cache.h>

#include <csrc/serialize/safetensors.h>
#include <aten/Functions.h>
#include <aten/core/tensor_literal.h>
#include <c10/util/Exception.h>

namespace torch::llm {

namespace {

constexpr const char* kFormat = "libtensor prompt cache 1";

std::string part_name(int64_t layer, size_t part) {
  return "layer." + std::to_string(layer) + "." + std::to_string(part);
}

struct Expected {
  const Model& model;
  const std::string& filename;

  void check(bool holds, const std::string& what) const {
    TORCH_CHECK(holds, "prompt cache '", filename, "': ", what);
  }
};

std::vector<int64_t> read_tokens(const at::Tensor& tensor, const Expected& expected) {
  expected.check(tensor.scalar_type() == at::kLong && tensor.dim() == 1, "'tokens' must be a row of int64");
  const at::Tensor flat = tensor.contiguous();
  const int64_t* const data = flat.const_data_ptr<int64_t>();
  std::vector<int64_t> tokens(data, data + flat.numel());
  for (const int64_t token : tokens) {
    expected.check(
        token >= 0 && token < expected.model.config().vocab_size,
        "token " + std::to_string(token) + " is not in the vocabulary");
  }
  return tokens;
}

void restore_layer(
    KVCache& cache,
    int64_t layer,
    int64_t length,
    const c10::Dict<std::string, at::Tensor>& tensors,
    const Expected& expected) {
  LayerBlocks& blocks = cache.blocks(layer);
  const std::vector<at::Tensor*> parts = blocks.parts();
  std::vector<at::Tensor> rows;
  for (size_t part = 0; part < parts.size(); ++part) {
    const std::string name = part_name(layer, part);
    expected.check(tensors.contains(name), "there is no tensor '" + name + "'");
    rows.push_back(tensors.at(name));
    const bool fits = rows.back().scalar_type() == parts[part]->scalar_type() &&
        rows.back().dim() == parts[part]->dim() - 1 && rows.back().sizes().slice(1) == parts[part]->sizes().slice(2) &&
        rows.back().size(0) == rows[0].size(0) && rows.back().size(0) <= length;
    expected.check(fits, "'" + name + "' does not have the shape or the dtype of this model's cache");
  }
  const int64_t first = length - rows[0].size(0);
  expected.check(
      first <= cache.first_kept(layer),
      "positions before " + std::to_string(first) + " were not kept: load it into a ring of at most that chunk");
  const int64_t skipped = cache.first_kept(layer) - first;
  for (at::Tensor& part : rows) {
    part = part.narrow(0, skipped, part.size(0) - skipped);
  }
  blocks.write_stored(cache.slots(layer, first + skipped, rows[0].size(0)), rows);
}

} // namespace

void save_prompt_cache(
    const Model& model, const KVCache& cache, c10::ArrayRef<int64_t> tokens, const std::string& filename) {
  TORCH_CHECK(
      static_cast<int64_t>(tokens.size()) == cache.length(), "save_prompt_cache: ", tokens.size(),
      " tokens for a cache of ", cache.length(), " positions: there must be as many");
  c10::Dict<std::string, at::Tensor> tensors;
  tensors.insert("tokens", at::tensor(tokens.vec(), at::TensorOptions(at::kLong)));
  for (int64_t layer = 0; layer < cache.num_layers(); ++layer) {
    const int64_t first = cache.first_kept(layer);
    const std::vector<at::Tensor> rows =
        cache.blocks(layer).read_stored(cache.slots(layer, first, cache.length() - first));
    for (size_t part = 0; part < rows.size(); ++part) {
      tensors.insert(part_name(layer, part), rows[part]);
    }
  }
  c10::Dict<std::string, std::string> metadata;
  metadata.insert("format", kFormat);
  metadata.insert("model", model.fingerprint());
  serialize::save_safetensors(tensors, filename, metadata);
}

PromptCache load_prompt_cache(const Model& model, const std::string& filename, CacheOptions options) {
  const serialize::Safetensors file = serialize::load_safetensors(filename);
  const Expected expected{model, filename};
  const auto text = [&](const char* name) {
    return file.metadata.contains(name) ? file.metadata.at(name) : std::string();
  };
  expected.check(text("format") == kFormat, "it is no prompt cache of this version");
  expected.check(text("model") == model.fingerprint(), "it was written with another model");
  expected.check(file.tensors.contains("tokens"), "there is no tensor 'tokens'");
  std::vector<int64_t> tokens = read_tokens(file.tensors.at("tokens"), expected);
  const auto length = static_cast<int64_t>(tokens.size());
  const std::string first = part_name(0, 0);
  expected.check(file.tensors.contains(first), "there is no tensor '" + first + "'");
  options.dtype = options.dtype.value_or(file.tensors.at(first).scalar_type());
  options.capacity = std::max(options.capacity, length);
  PromptCache loaded{std::move(tokens), model.make_cache(options)};
  // A ring takes no more than its chunk at once, but these positions are not computed: they are put in place.
  loaded.cache.place(length);
  for (int64_t layer = 0; layer < loaded.cache.num_layers(); ++layer) {
    restore_layer(loaded.cache, layer, length, file.tensors, expected);
  }
  return loaded;
}

} // namespace torch::llm
