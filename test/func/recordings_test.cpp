// What PyTorch's torch.func gives for random transforms of operators, recorded by tools/peer/record_transforms.
#include "support.h"

#include "test/conformance/arguments.h"
#include "test/conformance/compare.h"
#include "test/conformance/corpus.h"

#include <aten/core/dispatch/Dispatcher.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <sstream>

namespace func_test {

namespace {

using conformance::Json;
using torch::func::BatchDims;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;
using Dims = std::vector<std::optional<int64_t>>;

bool is_float(const Tensor& t) {
  return t.is_floating_point() || t.is_complex();
}

/// The operator as a function of the tensors among its arguments.
class OperatorFunction {
 public:
  OperatorFunction(const c10::OperatorHandle& op, const Json& args, const conformance::Inputs& inputs)
      : op_(op), args_(args), stack_(conformance::make_arguments(args, op.schema(), inputs, at::kCPU)) {}

  Tensors operator()(const Tensors& tensors) const {
    torch::jit::Stack stack = stack_;
    for (size_t i = 0; i < args_.items().size(); ++i) {
      const Json& tagged = args_.items()[i];
      if (tagged.is_null()) {
        continue;
      }
      const auto& [tag, value] = tagged.members().at(0);
      if (tag == "t") {
        stack[i] = stack[i].isTensorList() ? c10::IValue(Tensors{tensors.at(place(value))})
                                           : c10::IValue(tensors.at(place(value)));
      } else if (tag == "tl") {
        stack[i] = list_of(value, tensors, stack[i].isTensorList());
      }
    }
    op_.callBoxed(&stack);
    Tensors results;
    for (const c10::IValue& value : stack) {
      if (value.isTensorList()) {
        const Tensors list = value.toTensorVector();
        results.insert(results.end(), list.begin(), list.end());
      } else if (value.isTensor() && value.toTensor().defined()) {
        results.push_back(value.toTensor());
      }
    }
    return results;
  }

 private:
  static size_t place(const Json& value) {
    return static_cast<size_t>(value.as_int());
  }
  static c10::IValue list_of(const Json& value, const Tensors& tensors, bool all_defined) {
    Tensors list;
    c10::List<std::optional<Tensor>> optional;
    for (const Json& item : value.items()) {
      optional.push_back(item.is_null() ? std::nullopt : std::optional<Tensor>(tensors.at(place(item))));
      list.push_back(item.is_null() ? Tensor() : tensors.at(place(item)));
    }
    return all_defined ? c10::IValue(list) : c10::IValue(optional);
  }

  c10::OperatorHandle op_;
  const Json& args_;
  torch::jit::Stack stack_;
};

Tensors only_floats(const Tensors& tensors) {
  Tensors floats;
  std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(floats), is_float);
  return floats;
}

/// The sum of all results, each element with a weight of its own.
Tensor weighted_sum(const Tensors& results) {
  Tensor total = at::zeros({}, at::kDouble);
  for (const Tensor& result : results) {
    const Tensor real = result.is_complex() ? at::view_as_real(result) : result;
    total = total + (real * at::linspace(0.5, 1.5, real.numel(), real.options()).reshape(real.sizes())).sum();
  }
  return total;
}

Dims dims_of(const Json& list) {
  Dims dims;
  for (const Json& item : list.items()) {
    dims.push_back(item.is_null() ? std::nullopt : std::optional<int64_t>(item.as_int()));
  }
  return dims;
}

template <class Nested>
Tensors flat(const Nested& nested) {
  return torch::func::detail::tensors_of(nested);
}

/// One step of a chain: a function of the same tensors, behind which there may be others.
Function transformed(const Function& function, const Json& step) {
  const std::string name(step.at("name").as_string());
  const Json* const chunk_spec = step.find("chunk");
  const std::optional<int64_t> chunk =
      chunk_spec == nullptr ? std::nullopt : std::optional<int64_t>(chunk_spec->as_int());
  if (name == "vmap") {
    const BatchDims in(std::vector<BatchDims>{BatchDims(dims_of(step.at("in")))}), out(dims_of(step.at("out")));
    return torch::func::vmap(function, in, out, "error", chunk);
  }
  std::vector<size_t> argnums;
  for (const Json& item : step.at("argnums").items()) {
    argnums.push_back(static_cast<size_t>(item.as_int()));
  }
  const Json* const own = step.find("inputs"); // those behind them are cotangents or tangents
  const size_t count = own == nullptr ? 0 : static_cast<size_t>(own->as_int());
  return [=](const Tensors& all) -> Tensors {
    const Tensors inputs(all.begin(), count == 0 ? all.end() : all.begin() + static_cast<std::ptrdiff_t>(count));
    const Tensors others(all.begin() + static_cast<std::ptrdiff_t>(inputs.size()), all.end());
    Tensors chosen;
    for (const size_t argnum : argnums) {
      chosen.push_back(inputs.at(argnum));
    }
    const auto of_chosen = [&](const Tensors& tensors) {
      Tensors given = inputs;
      for (size_t i = 0; i < argnums.size(); ++i) {
        given[argnums[i]] = tensors[i];
      }
      return function(given);
    };
    const auto number = [&](const Tensors& tensors) { return weighted_sum(of_chosen(tensors)); };
    if (name == "vjp") {
      return std::get<1>(torch::func::vjp(of_chosen, chosen))(others);
    }
    if (name == "jvp") {
      auto [results, derivatives] = torch::func::jvp(of_chosen, std::make_tuple(chosen), std::make_tuple(others));
      results.insert(results.end(), derivatives.begin(), derivatives.end());
      return results;
    }
    if (name == "grad") {
      return torch::func::grad(number)(chosen);
    }
    if (name == "jacrev") {
      return flat(torch::func::jacrev(of_chosen, chunk)(chosen));
    }
    if (name == "jacfwd") {
      return flat(torch::func::jacfwd(of_chosen)(chosen));
    }
    REQUIRE(name == "hessian");
    return flat(torch::func::hessian(number)(chosen));
  };
}

/// Empty where the case gives what was recorded.
std::string difference(const Json& json, const conformance::SafeTensors& data) {
  const std::string full_name(json.at("op").as_string());
  const size_t dot = full_name.find('.');
  const auto op = c10::Dispatcher::singleton().findSchema(
      {full_name.substr(0, dot), dot == std::string::npos ? "" : full_name.substr(dot + 1)});
  if (!op) {
    return "there is no such operator";
  }
  const conformance::Inputs given(json.at("tensors"), data, at::kCPU);
  Tensors inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    inputs.push_back(given.leaf(i));
  }
  Function function = OperatorFunction(*op, json.at("args"), given);
  bool is_differentiated = false;
  for (const Json& step : json.at("transforms").items()) {
    is_differentiated |= step.at("name").as_string() != "vmap";
  }
  if (is_differentiated) {
    function = [function](const Tensors& tensors) { return only_floats(function(tensors)); };
  }
  for (const Json& step : json.at("transforms").items()) {
    function = transformed(function, step);
  }
  Tensors results;
  try {
    results = function(inputs);
  } catch (const c10::Error& error) {
    return std::string("raised ") + error.what_without_backtrace();
  } catch (const std::exception& error) {
    return std::string("raised ") + error.what();
  }
  const std::vector<Json>& wanted = json.at("outs").items();
  if (results.size() != wanted.size()) {
    return std::to_string(results.size()) + " tensors, not " + std::to_string(wanted.size());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string found = conformance::compare_dense(
        results[i].detach().resolve_conj().resolve_neg().contiguous(), wanted[i], data, {1e-6, 1e-8});
    if (!found.empty()) {
      return "tensor " + std::to_string(i) + ": " + found;
    }
  }
  return {};
}

/// Replays all of a folder; gives how many cases there are.
size_t replay(const std::string& folder, std::ostringstream& differences, size_t& failed) {
  const conformance::Corpus corpus(folder);
  for (const conformance::Case& c : corpus.cases()) {
    const Json json = Json::parse(c.line);
    const std::string found = difference(json, c.file->data);
    if (!found.empty()) {
      ++failed;
      differences << c.id << ": " << found.substr(0, 400) << '\n';
      std::printf("%s: %s\n", c.id.c_str(), found.substr(0, found.find('\n')).c_str());
    }
  }
  return corpus.cases().size();
}

} // namespace

} // namespace func_test

TEST_CASE("transforms of operators give what PyTorch gives", "[recordings]") {
  std::ostringstream differences;
  size_t failed = 0;
  const char* const folder = std::getenv("LIBTENSOR_TRANSFORMS");
  const size_t count = func_test::replay(folder != nullptr ? folder : FUNC_TEST_FOLDER "/data", differences, failed);
  CHECK(count > 100);
  INFO(failed << " of " << count << " differ:\n" << differences.str());
  CHECK(failed == 0);
}
