#include <csrc/state_dict.h>

#include <aten/core/ivalue.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/optim/optimizer.h>
#include <csrc/serialize/pickle_file.h>
#include <csrc/serialize/safetensors.h>
#include <csrc/serialize/tensor_file.h>
#include <csrc/serialize/zip_reader.h>

#include <algorithm>
#include <string_view>

namespace torch {

namespace {

using at::Tensor;

// ---- names
// ---------------------------------------------------------------------------------------------------------------

void collect(const nn::Module& module, const std::string& prefix, StateDict& out) {
  for (const auto& item : module.named_parameters(/*recurse=*/false)) {
    out.insert(prefix + item.key(), item.value());
  }
  for (const auto& item : module.named_buffers(/*recurse=*/false)) {
    out.insert(prefix + item.key(), item.value());
  }
  for (const auto& child : module.named_children()) {
    collect(*child.value(), prefix + child.key() + ".", out);
  }
}

void replace(std::string& text, std::string_view what, std::string_view by) {
  const size_t place = text.rfind(what);
  if (place != std::string::npos) {
    text.replace(place, what.size(), by);
  }
}

/// What nn::utils::weight_norm calls a tensor of the parametrization of that name: "weight_g" is
/// "parametrizations.weight.original0". The name itself if it is another.
std::string name_in_weight_norm(const std::string& name) {
  std::string old = name;
  replace(old, "parametrizations.", "");
  replace(old, ".original0", "_g");
  replace(old, ".original1", "_v");
  return old;
}

// ---- the report
// -----------------------------------------------------------------------------------------------------------

constexpr size_t kMostNames = 30;

std::string quoted_names(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    text += (i == 0 ? "\"" : ", \"") + names[i] + "\"";
  }
  if (names.size() > kMostNames) {
    text += " and " + std::to_string(names.size() - kMostNames) + " more";
  }
  return text;
}

/// Whether `longer` are the names `shorter` behind one prefix, which is returned with its dot.
std::string common_prefix(const std::vector<std::string>& longer, std::vector<std::string> shorter) {
  if (longer.empty() || shorter.empty()) {
    return "";
  }
  const std::string prefix = longer[0].substr(0, longer[0].find('.') + 1);
  std::sort(shorter.begin(), shorter.end());
  const bool all = !prefix.empty() && std::all_of(longer.begin(), longer.end(), [&](const std::string& name) {
    return name.compare(0, prefix.size(), prefix) == 0 &&
        std::binary_search(shorter.begin(), shorter.end(), name.substr(prefix.size()));
  });
  return all ? prefix : "";
}

/// Why `value` cannot be copied into `target`; empty if it can.
std::string reason_against(const std::string& name, const Tensor& target, const Tensor& value) {
  if (!value.defined()) {
    return "the value for " + name + " is an undefined tensor";
  }
  const bool scalar = target.dim() == 0 && value.dim() == 1 && value.numel() == 1; // as PyTorch wrote before 0.4
  if (target.sizes() != value.sizes() && !scalar) {
    return c10::str(
        "size mismatch for ", name, ": copying a param with shape ", value.sizes(),
        " from checkpoint, the shape in current model is ", target.sizes(), ".");
  }
  if (value.layout() != at::kStrided || (value.is_meta() && !target.is_meta())) {
    return c10::str(
        "the value for ", name, " has layout ", value.layout(), " on device ", value.device(),
        ": it must be dense and have data.");
  }
  if (value.is_complex() && !target.is_complex()) {
    return c10::str(
        "the value for ", name, " is complex (", value.scalar_type(), "), in current model it is ",
        target.scalar_type(), ".");
  }
  return "";
}

void add_tensors(const serialize::ArchiveNode& node, const std::string& prefix, StateDict& out) {
  for (const auto& entry : node.entries) {
    if (entry.value.isTensor()) {
      if (entry.value.toTensor().defined()) {
        out.insert(prefix + entry.name, entry.value.toTensor());
      }
    } else if (const auto nested = serialize::node_of(entry.value)) {
      add_tensors(*nested, prefix + entry.name + ".", out);
    }
  }
}

StateDict from_safetensors(const std::string& filename, const serialize::LoadOptions& options) {
  StateDict state;
  for (const auto& entry : serialize::load_safetensors(filename, options).tensors) {
    state.insert(entry.key(), entry.value());
  }
  return state;
}

template <class Dict>
Dict to_dict(const StateDict& state) {
  Dict dict;
  for (const auto& item : state) {
    dict.insert(item.key(), item.value());
  }
  return dict;
}

} // namespace

template <class Text>
bool BasicLoadReport<Text>::ok() const noexcept {
  return missing.empty() && unexpected.empty() && mismatched.empty();
}

template <class Text>
Text BasicLoadReport<Text>::text() const {
  std::string text;
  const auto line = [&](const std::string& what) { text += (text.empty() ? "" : "\n") + what; };
  if (!unexpected.empty()) {
    line("Unexpected key(s) in state_dict: " + quoted_names(unexpected) + ".");
  }
  if (!missing.empty()) {
    line("Missing key(s) in state_dict: " + quoted_names(missing) + ".");
  }
  if (const std::string prefix = common_prefix(unexpected, missing); !prefix.empty()) {
    line("The names in the dictionary begin with \"" + prefix + "\", those of the module do not: take it off.");
  } else if (const std::string lacking = common_prefix(missing, unexpected); !lacking.empty()) {
    line("The names of the module begin with \"" + lacking + "\", those in the dictionary do not: put it before them.");
  }
  for (size_t i = 0; i < std::min(mismatched.size(), kMostNames); ++i) {
    line(mismatched[i].reason);
  }
  if (mismatched.size() > kMostNames) {
    line("and " + std::to_string(mismatched.size() - kMostNames) + " more that do not fit");
  }
  return text;
}

template struct TORCH_API BasicLoadReport<std::string>;

StateDict state_dict(const nn::Module& module) {
  StateDict state;
  collect(module, "", state);
  for (auto& item : state) {
    item.value() = item.value().detach();
  }
  return state;
}

LoadReport load_state_dict(nn::Module& module, const StateDict& state, bool strict) {
  StateDict targets;
  collect(module, "", targets);
  LoadReport report;
  std::vector<std::string> used;
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (const auto& target : targets) {
    std::string name = target.key();
    const Tensor* value = state.find(name);
    if (!value) {
      value = state.find(name = name_in_weight_norm(name));
    }
    if (!value) {
      report.missing.push_back(target.key());
      continue;
    }
    used.push_back(name);
    if (std::string reason = reason_against(name, target.value(), *value); !reason.empty()) {
      report.mismatched.push_back({target.key(), std::move(reason)});
    } else {
      copies.emplace_back(target.value(), *value);
    }
  }
  std::sort(used.begin(), used.end());
  for (const auto& item : state) {
    if (!std::binary_search(used.begin(), used.end(), item.key())) {
      report.unexpected.push_back(item.key());
    }
  }
  TORCH_CHECK(!strict || report.ok(), "Error(s) in loading state_dict for ", module.name(), ":\n", report.text());
  const c10::NoGradGuard no_grad;
  for (const auto& [target, value] : copies) {
    target.copy_(value.reshape(target.sizes()));
  }
  return report;
}

LoadReport load_state_dict(
    nn::Module& module, const std::string& filename, bool strict, const serialize::LoadOptions& options) {
  return load_state_dict(module, read_state_dict(filename, options), strict);
}

void save_state_dict(const StateDict& state, const std::string& filename) {
  using Tensors = c10::Dict<std::string, Tensor>;
  constexpr std::string_view kEnding = ".safetensors";
  const bool safe = filename.size() >= kEnding.size() &&
      filename.compare(filename.size() - kEnding.size(), kEnding.size(), kEnding) == 0;
  if (!safe) {
    return serialize::save_pickle(to_dict<Tensors>(state), filename);
  }
  c10::Dict<std::string, std::string> metadata;
  metadata.insert("format", "pt");
  serialize::save_safetensors(to_dict<Tensors>(state), filename, metadata);
}

void save_state_dict(const nn::Module& module, const std::string& filename) {
  save_state_dict(state_dict(module), filename);
}

StateDict read_state_dict(const std::string& filename, const serialize::LoadOptions& options) {
  serialize::FileBytes bytes = options.map ? serialize::FileBytes::map(filename) : serialize::FileBytes::read(filename);
  // A .pt file begins as a ZIP file does, a safetensors file with eight bytes and a brace.
  if (!serialize::ZipReader::looks_like_zip(bytes) && bytes.size() > 8 && bytes.data()[8] == '{') {
    return from_safetensors(filename, options);
  }
  const serialize::TensorFile file = serialize::read_tensor_file(std::move(bytes), options.device, options.verify);
  if (!file.is_torchscript) {
    return to_state_dict(file.value);
  }
  const auto root = serialize::node_of(file.value);
  TORCH_CHECK(
      root, "read_state_dict: '", filename, "' holds a value of type ", file.value.tagKind(),
      ", not an archive of torch::save");
  StateDict state;
  add_tensors(*root, "", state);
  return state;
}

StateDict to_state_dict(const c10::IValue& value) {
  TORCH_CHECK_TYPE(
      value.isGenericDict(), "Expected state_dict to be dict-like, got a value of type ", value.tagKind(),
      ": it must map names to tensors");
  StateDict state;
  for (const auto& entry : value.toGenericDict()) {
    const c10::IValue key = entry.key(), element = entry.value();
    TORCH_CHECK_TYPE(
        key.isString(), "a state_dict has names for keys, this dictionary has one of type ", key.tagKind());
    if (!element.isTensor()) {
      std::string names;
      for (const auto& other : value.toGenericDict()) {
        names += (names.empty() ? "" : ", ") + (other.key().isString() ? other.key().toStringRef() : "?");
      }
      TORCH_CHECK_TYPE(
          false, "a state_dict maps names to tensors, but here '", key.toStringRef(), "' is of type ",
          element.tagKind(), ". The dictionary has ", names,
          ": give the part with the tensors to to_state_dict (see serialize::load_pickle)");
    }
    state.insert(key.toStringRef(), element.toTensor());
  }
  return state;
}

void save_state_dict(const optim::Optimizer& optimizer, const std::string& filename) {
  serialize::save_pickle(optimizer.state_dict(), filename);
}

void load_state_dict(optim::Optimizer& optimizer, const std::string& filename, const serialize::LoadOptions& options) {
  optimizer.load_state_dict(serialize::load_pickle(filename, options));
}

} // namespace torch
