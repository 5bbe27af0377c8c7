#include <csrc/optim/serialize.h>

#include <aten/Functions.h>
#include <aten/core/ivalue.h>
#include <autograd/variable_factories.h>

#include <map>

namespace torch::optim {
namespace {

// libtorch's version of the layout.
constexpr const char* kVersion = "1.5.0";

std::string address(const void* tensor) {
  return std::to_string(reinterpret_cast<size_t>(tensor));
}

Tensor count_tensor(size_t count) {
  return at::scalar_tensor(static_cast<int64_t>(count), at::kLong);
}

/// A count that bounds what is read next; `most` is how much there can be.
size_t read_count(serialize::InputArchive& archive, const std::string& key) {
  Tensor count;
  archive.read(key, count);
  TORCH_CHECK(
      count.defined() && count.numel() == 1 && count.item<int64_t>() >= 0, "Optimizer: '", key,
      "' of the archive must be a number that is not negative");
  return static_cast<size_t>(count.item<int64_t>());
}

/// A group as it was saved.
struct SavedGroup {
  std::vector<std::string> params;
  std::unique_ptr<OptimizerOptions> options;
};

SavedGroup read_group(serialize::InputArchive& groups, size_t index, const OptimizerParamGroup& current) {
  serialize::InputArchive archive, options;
  groups.read("param_groups/" + std::to_string(index), archive);
  SavedGroup group;
  const size_t count = read_count(archive, "params/size");
  TORCH_CHECK(
      count == current.params().size(),
      "loaded state dict contains a parameter group that has a different size than the optimizer's parameter group: group ", index,
      " has ", count, " parameters, the optimizer's ", current.params().size());
  for (size_t i = 0; i < count; ++i) {
    c10::IValue key;
    archive.read("params/" + std::to_string(i), key);
    group.params.push_back(key.toStringRef());
  }
  archive.read("options", options);
  group.options = current.options().clone();
  group.options->serialize(options);
  return group;
}

} // namespace

namespace detail {

void save_optimizer(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  archive.write("pytorch_version", c10::IValue(kVersion));
  serialize::OutputArchive states(archive.compilation_unit());
  for (const auto& [param, state] : optimizer.state()) {
    serialize::OutputArchive one(archive.compilation_unit());
    state->serialize(one);
    states.write(address(param), one);
  }
  archive.write("state", states);

  serialize::OutputArchive groups(archive.compilation_unit());
  groups.write("param_groups/size", count_tensor(optimizer.param_groups().size()));
  for (size_t g = 0; g < optimizer.param_groups().size(); ++g) {
    const OptimizerParamGroup& group = optimizer.param_groups()[g];
    serialize::OutputArchive one(archive.compilation_unit()), options(archive.compilation_unit());
    one.write("params/size", count_tensor(group.params().size()));
    for (size_t i = 0; i < group.params().size(); ++i) {
      one.write("params/" + std::to_string(i), c10::IValue(address(group.params()[i].unsafeGetTensorImpl())));
    }
    group.options().serialize(options);
    one.write("options", options);
    groups.write("param_groups/" + std::to_string(g), one);
  }
  archive.write("param_groups", groups);
}

void load_optimizer(serialize::InputArchive& archive, Optimizer& optimizer, NewState new_state) {
  c10::IValue version;
  TORCH_CHECK(
      archive.try_read("pytorch_version", version),
      "Optimizer: the archive has no 'pytorch_version'; it is not that of an optimizer, or from before PyTorch 1.5");
  TORCH_CHECK(
      version.isString() && version.toStringRef() == kVersion, "Optimizer: the archive must be of version ", kVersion, ", got ",
      version.isString() ? version.toStringRef() : std::string("a value that is no text"));
  serialize::InputArchive states, groups;
  archive.read("state", states);
  archive.read("param_groups", groups);
  const size_t count = read_count(groups, "param_groups/size");
  TORCH_CHECK(
      count == optimizer.param_groups().size(), "loaded state dict has a different number of parameter groups: ", count,
      ", the optimizer has ", optimizer.param_groups().size());

  std::map<std::string, std::unique_ptr<OptimizerParamState>> saved;
  for (const std::string& key : states.keys()) {
    serialize::InputArchive one;
    states.read(key, one);
    auto state = new_state();
    state->serialize(one);
    saved.emplace(key, std::move(state));
  }
  std::vector<SavedGroup> saved_groups;
  for (size_t g = 0; g < count; ++g) saved_groups.push_back(read_group(groups, g, optimizer.param_groups()[g]));

  for (size_t g = 0; g < count; ++g) {
    OptimizerParamGroup& group = optimizer.param_groups()[g];
    for (size_t i = 0; i < group.params().size(); ++i) {
      const auto found = saved.find(saved_groups[g].params[i]);
      if (found != saved.end() && found->second) {
        optimizer.state()[group.params()[i].unsafeGetTensorImpl()] = std::move(found->second);
      }
    }
    group.set_options(std::move(saved_groups[g].options));
  }
}

} // namespace detail

void Optimizer::save(serialize::OutputArchive& archive) const {
  detail::save_optimizer(archive, *this);
}

void Optimizer::load(serialize::InputArchive& archive) {
  detail::load_optimizer(archive, *this, [this] { return make_state(); });
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

void serialize(serialize::OutputArchive& archive, const std::string& key, const int64_t& value) {
  archive.write(key, c10::IValue(value));
}

void serialize(serialize::InputArchive& archive, const std::string& key, int64_t& value) {
  c10::IValue ivalue;
  archive.read(key, ivalue);
  value = ivalue.toInt();
}

void serialize(serialize::OutputArchive& archive, const std::string& key, const std::vector<int64_t>& steps) {
  archive.write(key, torch::tensor(steps, at::kLong));
}

void serialize(serialize::InputArchive& archive, const std::string& key, std::vector<int64_t>& steps) {
  Tensor values;
  archive.read(key, values);
  values = values.to(at::kLong).reshape({-1}).contiguous();
  steps.assign(values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel());
}

} // namespace torch::optim
