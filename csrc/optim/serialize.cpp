#include <csrc/optim/serialize.h>

#include <aten/Functions.h>
#include <aten/core/ivalue.h>

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
      "loaded state dict contains a parameter group that has a different size than the optimizer's parameter group: "
      "group ",
      index, " has ", count, " parameters, the optimizer's ", current.params().size());
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

// ---- before PyTorch 1.5
// --------------------------------------------------------------------------------------------------

struct OldName {
  const char* archive;
  const char* state;
};

/// Lists with an element for each parameter.
constexpr OldName kOldLists[] = {
    {"step_buffers", "step"},
    {"momentum_buffers", "momentum_buffer"},
    {"sum_buffers", "sum"},
    {"exp_average_buffers", "exp_avg"},
    {"exp_average_sq_buffers", "exp_avg_sq"},
    {"max_exp_average_sq_buffers", "max_exp_avg_sq"},
    {"square_average_buffers", "square_avg"},
    {"grad_average_buffers", "grad_avg"},
};

/// What LBFGS kept once for all parameters.
constexpr const char* kOldLbfgsTensors[] = {"d", "t", "H_diag", "prev_flat_grad", "prev_loss"};
constexpr const char* kOldLbfgsLists[] = {"old_dirs", "old_stps"};

using StateDict = c10::impl::GenericDict;

/// The state of each parameter under today's names; none where the archive is of another kind.
std::vector<StateDict> read_old_state(serialize::InputArchive& archive) {
  std::vector<StateDict> states;
  const auto of_parameter = [&](size_t i) -> StateDict& {
    while (states.size() <= i) {
      states.emplace_back(c10::StringType::get(), c10::AnyType::get());
    }
    return states[i];
  };
  const auto has_list = [&](const char* name) {
    Tensor count;
    return archive.try_read(std::string(name) + "/size", count);
  };
  for (const OldName& name : kOldLists) {
    if (!has_list(name.archive)) {
      continue;
    }
    const std::vector<Tensor> buffers = detail::load_buffers(archive, name.archive);
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].defined()) {
        of_parameter(i).insert(std::string(name.state), buffers[i]);
      }
    }
  }
  for (const char* name : kOldLbfgsTensors) {
    Tensor tensor; // a new one each time: what is defined already would be written into
    if (archive.try_read(name, tensor, /*is_buffer=*/true) && tensor.defined()) {
      of_parameter(0).insert(std::string(name), tensor);
    }
  }
  for (const char* name : kOldLbfgsLists) {
    if (!has_list(name)) {
      continue;
    }
    of_parameter(0).insert(std::string(name), c10::List<Tensor>(detail::load_buffers(archive, name)));
  }
  return states;
}

void load_old_optimizer(serialize::InputArchive& archive, Optimizer& optimizer, detail::NewState new_state) {
  const std::vector<StateDict> saved = read_old_state(archive);
  TORCH_CHECK(
      !saved.empty(),
      "Optimizer: the archive has neither 'pytorch_version' nor the lists of PyTorch before 1.5; it is not that of "
      "an optimizer, or of one without state");
  const std::vector<Tensor>& params = optimizer.param_groups().at(0).params();
  TORCH_CHECK(
      saved.size() <= params.size(), "Optimizer: the archive has state of ", saved.size(),
      " parameters, the optimizer's first group has ", params.size());
  TORCH_WARN(
      "Your serialized optimizer is still using the old serialization format. You should re-save your optimizer to use "
      "the new "
      "serialization format.");
  std::vector<std::unique_ptr<OptimizerParamState>> states;
  for (size_t i = 0; i < saved.size(); ++i) {
    states.push_back(new_state());
    states.back()->load_state_dict(saved[i], params[i]);
  }
  for (size_t i = 0; i < states.size(); ++i) {
    optimizer.state()[params[i].unsafeGetTensorImpl()] = std::move(states[i]);
  }
}

} // namespace

namespace detail {

void save_buffers(serialize::OutputArchive& archive, const std::string& key, const std::vector<Tensor>& buffers) {
  archive.write(key + "/size", count_tensor(buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i) {
    archive.write(key + "/" + std::to_string(i), buffers[i], /*is_buffer=*/true);
  }
}

std::vector<Tensor> load_buffers(serialize::InputArchive& archive, const std::string& key) {
  // The count may be any number: it ends where an element is missing.
  const size_t count = read_count(archive, key + "/size");
  std::vector<Tensor> buffers;
  for (size_t i = 0; i < count; ++i) {
    archive.read(key + "/" + std::to_string(i), buffers.emplace_back(), /*is_buffer=*/true);
  }
  return buffers;
}

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
  if (!archive.try_read("pytorch_version", version)) {
    load_old_optimizer(archive, optimizer, new_state);
    return;
  }
  TORCH_CHECK(
      version.isString() && version.toStringRef() == kVersion, "Optimizer: the archive must be of version ", kVersion,
      ", got ", version.isString() ? version.toStringRef() : std::string("a value that is no text"));
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
  for (size_t g = 0; g < count; ++g) {
    saved_groups.push_back(read_group(groups, g, optimizer.param_groups()[g]));
  }

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
  std::vector<Tensor> tensors;
  for (const int64_t step : steps) {
    tensors.push_back(at::scalar_tensor(step, at::kLong));
  }
  detail::save_buffers(archive, key, tensors);
}

void serialize(serialize::InputArchive& archive, const std::string& key, std::vector<int64_t>& steps) {
  steps.clear();
  for (const Tensor& step : detail::load_buffers(archive, key)) {
    TORCH_CHECK(step.defined() && step.numel() == 1, "Optimizer: '", key, "' of the archive must be a list of numbers");
    steps.push_back(step.item<int64_t>());
  }
}

} // namespace torch::optim
