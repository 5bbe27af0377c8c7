#include <csrc/functionalize/functional_form.h>

#include <csrc/functionalize/auto_functionalized.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace torch::functionalize {

namespace {

using c10::FunctionSchema;
using c10::OperatorHandle;
using c10::OperatorName;

/// Operators whose schemas do not say that they write, where the argument `when` is true.
struct SilentWriter {
  std::string_view name;
  std::vector<std::string_view> written;
  std::string_view when;
  const char* functional;
};

const std::vector<SilentWriter>& silent_writers() {
  static const std::vector<SilentWriter> all{
      {"aten::native_batch_norm",
       {"running_mean", "running_var"},
       "training",
       "aten::_native_batch_norm_legit_functional"},
      {"aten::rrelu_with_noise", {"noise"}, "training", "aten::rrelu_with_noise_functional"},
      {"aten::batch_norm_update_stats", {"running_mean", "running_var"}, "", nullptr},
      {"aten::cudnn_batch_norm", {"running_mean", "running_var"}, "training", nullptr},
      {"aten::miopen_batch_norm", {"running_mean", "running_var"}, "training", nullptr},
      {"aten::batch_norm_gather_stats", {"running_mean", "running_var"}, "", nullptr},
      {"aten::batch_norm_gather_stats_with_counts", {"running_mean", "running_var"}, "", nullptr},
  };
  return all;
}

const SilentWriter* silent_writer(const fx::Node& node) {
  for (const SilentWriter& writer : silent_writers()) {
    if (node.schema().name() != writer.name) {
      continue;
    }
    if (writer.when.empty()) {
      return &writer;
    }
    const fx::Arg& when = node.arg(writer.when);
    return when.is_constant() && when.constant().isBool() && !when.constant().toBool() ? nullptr : &writer;
  }
  return nullptr;
}

bool writes_to(const c10::Argument& formal) {
  const c10::AliasInfo* const alias = formal.alias_info();
  return alias &&
      (alias->isWrite() || std::any_of(alias->containedTypes().begin(), alias->containedTypes().end(), [](auto& in) {
           return in.isWrite();
         }));
}

/// The arguments of `schema` by the names of those of `functional`; nothing where they do not fit.
std::optional<std::vector<size_t>> matching_arguments(const FunctionSchema& schema, const FunctionSchema& functional) {
  std::vector<size_t> args;
  for (const c10::Argument& formal : functional.arguments()) {
    const auto index = schema.argumentIndexWithName(formal.name());
    if (!index || schema.arguments()[static_cast<size_t>(*index)].type()->str() != formal.type()->str()) {
      return std::nullopt;
    }
    args.push_back(static_cast<size_t>(*index));
  }
  return args;
}

bool returns_tensors_of_its_own(const FunctionSchema& schema) {
  return !schema.is_mutable() && fresh_results(schema).size() == schema.returns().size();
}

std::optional<FunctionalForm> form_of(
    const OperatorHandle& op,
    const OperatorHandle& functional,
    const std::vector<size_t>& written,
    bool takes_written) {
  const FunctionSchema &schema = op.schema(), &other = functional.schema();
  const std::vector<size_t> fresh = fresh_results(schema);
  if (!returns_tensors_of_its_own(other) || other.returns().size() != fresh.size() + written.size()) {
    return std::nullopt;
  }
  const size_t left_out = takes_written ? 0 : written.size();
  if (other.arguments().size() + left_out != schema.arguments().size()) {
    return std::nullopt;
  }
  auto args = matching_arguments(schema, other);
  if (!args) {
    return std::nullopt;
  }
  return FunctionalForm{functional, *std::move(args), fresh};
}

/// Overloads of each name, the names without underscores at their ends.
const std::vector<OperatorName>& overloads_of(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<OperatorName>> cache;
  const std::lock_guard<std::mutex> lock(mutex);
  if (cache.empty()) {
    for (OperatorName& each : c10::Dispatcher::singleton().getAllOpNames()) {
      cache[each.name].push_back(each);
    }
  }
  return cache[name];
}

std::optional<FunctionalForm> search(const OperatorHandle& op, const std::vector<size_t>& written) {
  auto& dispatcher = c10::Dispatcher::singleton();
  const std::string& name = op.schema().name();
  std::string base = name;
  while (base.size() > 1 && base.back() == '_' && base[base.size() - 2] != ':') {
    base.pop_back();
  }
  const std::string& overload = op.schema().overload_name();
  // The same overload first; of the others the one whose arguments have the same names and types.
  for (const bool takes_written : {true, false}) {
    for (const std::string& stem : {base, base + "_functional"}) {
      if (const auto same = dispatcher.findSchema({stem, overload}); same && stem != name) {
        if (auto form = form_of(op, *same, written, takes_written)) {
          return form;
        }
      }
      for (const OperatorName& each : overloads_of(stem)) {
        const auto other = dispatcher.findSchema(each);
        if (other && !(each == op.operator_name())) {
          if (auto form = form_of(op, *other, written, takes_written)) {
            return form;
          }
        }
      }
    }
  }
  return std::nullopt;
}

} // namespace

std::vector<size_t> written_arguments(const fx::Node& node) {
  std::vector<size_t> written;
  if (!node.is_operator()) {
    return written;
  }
  const auto& formals = node.schema().arguments();
  const SilentWriter* const silent = silent_writer(node);
  for (size_t i = 0; i < formals.size(); ++i) {
    const bool is_named =
        silent && std::find(silent->written.begin(), silent->written.end(), formals[i].name()) != silent->written.end();
    bool is_there = false;
    node.arg(i).for_each_value([&](fx::Value) { is_there = true; });
    if (is_there && (is_named || writes_to(formals[i]))) {
      written.push_back(i);
    }
  }
  return written;
}

std::optional<FunctionalForm> functional_form(const fx::Node& node, const std::vector<size_t>& written) {
  if (const SilentWriter* const silent = silent_writer(node)) {
    const auto op = silent->functional ? c10::Dispatcher::singleton().findSchema({silent->functional, ""})
                                       : std::optional<OperatorHandle>();
    if (!op || written.size() != silent->written.size()) {
      return std::nullopt;
    }
    auto args = matching_arguments(node.schema(), op->schema());
    if (!args) {
      args.emplace(); // optional statistics there, which are given here
      for (const c10::Argument& formal : op->schema().arguments()) {
        const auto index = node.schema().argumentIndexWithName(formal.name());
        if (!index) {
          return std::nullopt;
        }
        args->push_back(static_cast<size_t>(*index));
      }
    }
    return FunctionalForm{*op, *std::move(args), fresh_results(node.schema())};
  }
  return search(node.operator_handle(), written);
}

std::optional<OperatorHandle> view_form(const OperatorHandle& op) {
  static constexpr std::string_view names[] = {
      "aten::as_strided_", "aten::detach_", "aten::squeeze_",   "aten::swapaxes_",
      "aten::swapdims_",   "aten::t_",      "aten::transpose_", "aten::unsqueeze_",
  };
  const std::string& name = op.schema().name();
  if (std::find(std::begin(names), std::end(names), name) == std::end(names)) {
    return std::nullopt;
  }
  const std::string base = name.substr(0, name.size() - 1);
  auto& dispatcher = c10::Dispatcher::singleton();
  if (auto same = dispatcher.findSchema({base, op.schema().overload_name()})) {
    return same;
  }
  return dispatcher.findSchema({base, "int"});
}

std::optional<OperatorHandle> inplace_form(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  const auto inplace = c10::Dispatcher::singleton().findSchema({schema.name() + "_", schema.overload_name()});
  if (!inplace || inplace->schema().arguments().size() != schema.arguments().size() ||
      inplace->schema().returns().size() != 1 || schema.returns().size() != 1) {
    return std::nullopt;
  }
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument &formal = schema.arguments()[i], &other = inplace->schema().arguments()[i];
    if (formal.name() != other.name() || formal.type()->str() != other.type()->str() || writes_to(other) != (i == 0)) {
      return std::nullopt;
    }
  }
  return inplace;
}

} // namespace torch::functionalize
