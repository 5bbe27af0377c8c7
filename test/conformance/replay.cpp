#include "replay.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <torch/autograd.h>
#include <torch/cuda.h>

#include <fstream>
#include <map>
#include <optional>
#include <regex>

#include "arguments.h"
#include "compare.h"
#include "errors.h"
#include "tensors.h"
#include "test/support/device_rules.h"

namespace conformance {

namespace {

using at::Tensor;
using c10::IValue;
using torch::autograd::variable_list;

/// The first difference found; later ones are dropped.
class Difference {
 public:
  void add(const std::string& where, const std::string& what) {
    if (text_.empty() && !what.empty()) {
      text_ = where.empty() ? what : where + ": " + what;
    }
  }
  const std::string& text() const {
    return text_;
  }

 private:
  std::string text_;
};

std::optional<c10::OperatorHandle> find_operator(const std::string& full_name) {
  const size_t dot = full_name.find('.', full_name.find("::"));
  const std::string name = full_name.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : full_name.substr(dot + 1);
  const auto found = c10::Dispatcher::singleton().findSchema(c10::OperatorName{name, overload});
  if (!found.has_value()) {
    return std::nullopt;
  }
  return *found;
}

bool has_tag(const Json& json, std::string_view tag) {
  const Json* tags = json.find("tags");
  if (tags == nullptr) {
    return false;
  }
  for (const Json& item : tags->items()) {
    if (item.as_string() == tag) {
      return true;
    }
  }
  return false;
}

/// What PyTorch 2 calls the node of each operator in the graph: node_names.txt beside the compact corpus.
const std::map<std::string, std::string>& node_names() {
  static const std::map<std::string, std::string> names = [] {
    std::map<std::string, std::string> read;
    std::ifstream file(CONFORMANCE_DATA "/node_names.txt");
    for (std::string op, name; file >> op >> name;) {
      read.emplace(op, name);
    }
    return read;
  }();
  return names;
}

/// For each input whether the operator wants it on the CPU.
std::vector<bool> inputs_on_host(const Json& json, const std::string& op, const c10::FunctionSchema& schema) {
  std::vector<bool> on_host(json.at("tensors").items().size(), false);
  const auto& args = json.at("args").items();
  for (size_t i = 0; i < std::min(args.size(), schema.arguments().size()); ++i) {
    if (!args[i].is_null() && args[i].find("t") != nullptr && test::belongs_on_host(op, schema.arguments()[i].name())) {
      on_host.at(args[i].at("t").as_int()) = true;
    }
  }
  return on_host;
}

class Replay {
 public:
  Replay(const Case& c, const Json& json, c10::Device device, const c10::FunctionSchema& schema)
      : op_(c.op),
        json_(json),
        data_(c.file->data),
        device_(device),
        is_error_(c.kind == "error"),
        inputs_(json.at("tensors"), data_, device, inputs_on_host(json, c.op, schema)),
        written_(inputs_.size(), false) {
    if (const Json* mutations = json.find("mut")) {
      for (const Json& pair : mutations->items()) {
        written_.at(pair.items().at(0).as_int()) = true;
      }
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (written_[i] && inputs_.requires_grad(i)) {
        inputs_.pass_clone(i);
      }
    }
  }

  /// Throws SchemaMismatch when the operator cannot take the recorded arguments.
  void prepare(const c10::OperatorHandle& op) {
    schema_ = &op.schema();
    stack_ = make_arguments(json_.at("args"), *schema_, inputs_, device_);
  }

  std::string judge_call(const c10::OperatorHandle& op) {
    if (is_error_) {
      return judge_error(op);
    }
    try {
      call(op);
    } catch (const c10::NotImplementedError& e) {
      has_kernel_ = device_.is_cpu();
      return "raised " + describe_exception(e);
    } catch (const std::exception& e) {
      has_kernel_ = std::string_view(e.what()).find("not supported on CUDA") == std::string_view::npos;
      return "raised " + describe_exception(e);
    }
    called_ = true;
    const std::string difference = judge_results();
    return difference;
  }

  std::string judge_grad() {
    if (!called_) {
      return "the call itself failed";
    }
    const Json& grad = json_.at("grad");
    return guarded([&] {
      prepare_grad(grad);
      const variable_list gradients = torch::autograd::grad(
          outputs_, leaves_, cotangents_, /*retain_graph=*/true, /*create_graph=*/false, /*allow_unused=*/true);
      if (!gauge_fixed_) {
        return std::string();
      }
      Difference difference;
      compare_gradients(
          gradients, leaves_, grad.at("res"), tolerance_for(grad.at("tol")), "gradient of input ", grad.at("in"),
          difference);
      difference.add("after backward", inputs_.find_undeclared_write(written_));
      return difference.text();
    });
  }

  std::string judge_gradgrad() {
    if (!called_) {
      return "the call itself failed";
    }
    const Json& grad = json_.at("grad");
    const Json& second = json_.at("gradgrad");
    return guarded([&] {
      prepare_grad(grad);
      for (Tensor& cotangent : cotangents_) {
        cotangent.set_requires_grad(true);
      }
      const variable_list gradients = torch::autograd::grad(
          outputs_, leaves_, cotangents_, /*retain_graph=*/true, /*create_graph=*/true, /*allow_unused=*/true);
      variable_list selected;
      for (const Json& position : second.at("sel").items()) {
        selected.push_back(gradients.at(position.as_int()));
        if (!selected.back().defined()) {
          return "gradient " + std::to_string(position.as_int()) + " is undefined";
        }
      }
      variable_list wrt = leaves_;
      wrt.insert(wrt.end(), cotangents_.begin(), cotangents_.end());
      const variable_list all = torch::autograd::grad(
          selected, wrt, make_all(second.at("v")), /*retain_graph=*/true, /*create_graph=*/false,
          /*allow_unused=*/true);
      if (!gauge_fixed_) {
        return std::string();
      }
      const auto middle = all.begin() + static_cast<std::ptrdiff_t>(leaves_.size());
      const Tolerance tolerance = tolerance_for(second.at("tol"));
      Difference difference;
      compare_gradients(
          {all.begin(), middle}, leaves_, second.at("res_in"), tolerance, "second gradient of input ", grad.at("in"),
          difference);
      compare_gradients(
          {middle, all.end()}, cotangents_, second.at("res_cot"), tolerance, "second gradient of cotangent of output ",
          grad.at("out"), difference);
      return difference.text();
    });
  }

  /// False where another device than the CPU has said that it has no kernel for a dtype or a setting.
  bool has_kernel() const {
    return has_kernel_;
  }

 private:
  /// A device that works behind our back gets time to say what is wrong: an index out of range must not fail a later
  /// case.
  void call(const c10::OperatorHandle& op) {
    op.callBoxed(&stack_);
    if (device_.is_cuda()) {
      torch::cuda::synchronize();
    }
  }

  template <class Body>
  static std::string guarded(const Body& body) {
    try {
      return body();
    } catch (const std::exception& e) {
      return "raised " + describe_exception(e);
    }
  }

  std::string judge_error(const c10::OperatorHandle& op) {
    const Json& error = json_.at("error");
    const bool dtype_only = has_tag(json_, "unsupported");
    try {
      call(op);
    } catch (const std::exception& e) {
      if (is_bad_index_on_device(e, error.at("msg").as_string())) {
        return {};
      }
      const Json* regex = error.find("regex");
      return compare_exception(
          e, error.at("type").as_string(), on_device(error.at("msg").as_string()),
          regex != nullptr ? regex->as_string() : "", dtype_only);
    }
    if (dtype_only || (device_.is_cuda() && test::only_host_looks(error.at("msg").as_string()))) {
      return {};
    }
    return "did not raise, want " + error.at("type").as_string() + ": " + error.at("msg").as_string();
  }

  /// Is that an index which a kernel found out of range? It says so in words of its own, always as an IndexError.
  bool is_bad_index_on_device(const std::exception& e, const std::string& wanted) const {
    static const std::regex of_index("index.*out of|out of (DATA )?bounds|out of range|invalid max index");
    return device_.is_cuda() && dynamic_cast<const c10::IndexError*>(&e) != nullptr &&
        std::string_view(e.what()).find("on a CUDA device has it at position") != std::string_view::npos &&
        std::regex_search(wanted, of_index);
  }

  /// A recorded message, with the device of this replay in names of tensor types, options and functions.
  std::string on_device(std::string message) const {
    static const std::regex type_of_cpu("CPU(\\w+Type)"), option("device=cpu"), function("_cpu\\)$");
    if (!device_.is_cuda()) {
      return message;
    }
    message = std::regex_replace(message, type_of_cpu, "CUDA$1");
    return std::regex_replace(std::regex_replace(message, option, "device=cuda"), function, "_gpu)");
  }

  std::string judge_results() {
    const auto& returns = json_.at("ret").items();
    if (stack_.size() != returns.size()) {
      return "returned " + std::to_string(stack_.size()) + " values, want " + std::to_string(returns.size());
    }
    Difference difference;
    actual_.assign(json_.at("outs").items().size(), Tensor());
    for (size_t i = 0; i < returns.size(); ++i) {
      difference.add("result " + std::to_string(i), judge_return(stack_[i], returns[i]));
    }
    if (const Json* mutations = json_.find("mut")) {
      for (const Json& pair : mutations->items()) {
        const int64_t input = pair.items().at(0).as_int();
        const int64_t out = pair.items().at(1).as_int();
        difference.add("input " + std::to_string(input) + " after the call", judge_written(input, out));
      }
    }
    difference.add("", inputs_.find_undeclared_write(written_));
    return difference.text();
  }

  std::string judge_return(const IValue& got, const Json& want) {
    if (want.is_null()) {
      return got.isNone() || (got.isTensor() && !got.toTensor().defined()) ? "" : "got a value, want none";
    }
    const auto& [tag, value] = want.members().at(0);
    if (tag == "t") {
      if (!got.isTensor()) {
        return "got a " + got.tagKind() + ", want a tensor";
      }
      return judge_tensor(got.toTensor(), value.as_int());
    }
    if (tag != "tl") {
      return compare_plain(got, want, tolerance_for(json_.at("tol")));
    }
    if (!got.isTensorList()) {
      return "got a " + got.tagKind() + ", want a list of tensors";
    }
    const std::vector<Tensor> list = got.toTensorVector();
    if (list.size() != value.items().size()) {
      return "got a list of " + std::to_string(list.size()) + " tensors, want " + std::to_string(value.items().size());
    }
    for (size_t i = 0; i < list.size(); ++i) {
      const Json& index = value.items()[i];
      const std::string text = index.is_null() ? (list[i].defined() ? "got a tensor, want none" : "")
                                               : judge_tensor(list[i], index.as_int());
      if (!text.empty()) {
        return "[" + std::to_string(i) + "] " + text;
      }
    }
    return {};
  }

  std::string judge_tensor(const Tensor& got, int64_t out) {
    if (!got.defined()) {
      return "got none, want a tensor";
    }
    actual_.at(out) = got;
    const Json& want = json_.at("outs").items().at(out);
    Difference difference;
    difference.add("", compare_shape(got, want));
    if (!difference.text().empty()) {
      return difference.text();
    }
    difference.add("", compare_identity(got, want));
    difference.add("", compare_flags(got, want));
    difference.add("", compare_node(got));
    difference.add("", compare_strides(got, want));
    difference.add("", judge_values(got, want));
    return difference.text();
  }

  std::string compare_node(const Tensor& got) const {
    const auto want = node_names().find(op_);
    if (want == node_names().end() || !got.requires_grad() || !got.grad_fn()) {
      return {};
    }
    const std::string name = got.grad_fn()->name();
    return name == want->second ? "" : "its node is called " + name + ", want " + want->second;
  }

  /// An input after the call: identity and flags are those of the input, so only contents and layout count.
  std::string judge_written(int64_t input, int64_t out) {
    const Tensor& got = inputs_.passed(input);
    if (!actual_.at(out).defined()) {
      actual_.at(out) = got;
    }
    const Json& want = json_.at("outs").items().at(out);
    Difference difference;
    difference.add("", compare_shape(got, want));
    if (!difference.text().empty()) {
      return difference.text();
    }
    difference.add("", compare_strides(got, want));
    if (!is_judged_as_result(input)) {
      difference.add("", judge_values(got, want));
    }
    return difference.text();
  }

  /// Was this input returned, and its values judged there by a rule of their own (gauge, tie, free)?
  bool is_judged_as_result(int64_t input) const {
    for (const Json& out : json_.at("outs").items()) {
      const Json* same = out.find("same");
      if (same != nullptr && same->as_int() == input && out.find("chk") != nullptr) {
        return true;
      }
    }
    return false;
  }

  std::string judge_values(const Tensor& got, const Json& want) {
    const Json* key = want.find("b");
    if (key == nullptr) {
      return {};
    }
    const Bytes values = data_.at(key->as_string());
    const Json* how = want.find("chk");
    const Tolerance tolerance = tolerance_for(json_.at("tol"));
    if (how == nullptr) {
      return writes_in_any_order() ? compare_any_write(got, values, source(), tolerance)
                                   : compare_values(got, values, tolerance);
    }
    if (how->as_string() == "tie") {
      // Without a dimension the index is one of all elements in a row.
      const std::optional<int64_t> dim = dim_argument();
      const Tensor& source = inputs_.leaf(0);
      return compare_tied_indices(got, values, dim ? source : source.reshape(-1), dim.value_or(0));
    }
    // gauge: only gradients taken in the recorded gauge can be compared.
    if (how->as_string() == "gauge" && !compare_values(got, values, tolerance).empty()) {
      gauge_fixed_ = false;
    }
    return {};
  }

  /// Several values for one place come in any order where the operator runs in parallel.
  bool writes_in_any_order() const {
    if (!device_.is_cuda() || !test::any_write_may_stay(op_)) {
      return false;
    }
    const auto accumulate = schema_->argumentIndexWithName("accumulate");
    return !accumulate.has_value() || !json_.at("args").items().at(*accumulate).at("b").as_bool();
  }

  /// What such an operator writes.
  Tensor source() const {
    for (const char* name : {"values", "src", "source"}) {
      if (const auto at = schema_->argumentIndexWithName(name); at.has_value()) {
        return inputs_.leaf(json_.at("args").items().at(*at).at("t").as_int());
      }
    }
    return {};
  }

  /// The argument `dim`, the last dimension where the operator has none; nothing where it is null.
  std::optional<int64_t> dim_argument() const {
    const auto& arguments = schema_->arguments();
    const auto& recorded = json_.at("args").items();
    for (size_t i = 0; i < recorded.size(); ++i) {
      if (arguments[i].name() != "dim") {
        continue;
      }
      if (recorded[i].is_null()) {
        return std::nullopt;
      }
      if (recorded[i].find("i") != nullptr) {
        return recorded[i].at("i").as_int();
      }
    }
    return -1;
  }

  std::string compare_identity(const Tensor& got, const Json& want) const {
    const Json* same = want.find("same");
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const bool is_input = got.is_same(inputs_.passed(i));
      const bool should = same != nullptr && same->as_int() == static_cast<int64_t>(i);
      if (should && !is_input) {
        return "is not input " + std::to_string(i) + " itself";
      }
      if (is_input && same == nullptr) {
        return "is input " + std::to_string(i) + " itself";
      }
    }
    const Json* view = want.find("view");
    if (view != nullptr) {
      const Tensor& base = inputs_.passed(view->as_int());
      if (!shares_storage(got, base)) {
        return "shares no storage with input " + std::to_string(view->as_int());
      }
      const int64_t offset = want.at("o").as_int();
      if (got.storage_offset() != offset) {
        return "storage offset: got " + std::to_string(got.storage_offset()) + ", want " + std::to_string(offset);
      }
      return {};
    }
    // Whether two tensors share a storage without memory cannot be seen, so the recording does not tell.
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (shares_storage(got, inputs_.passed(i)) && got.storage().nbytes() != 0) {
        return "shares storage with input " + std::to_string(i);
      }
    }
    return {};
  }

  static bool shares_storage(const Tensor& a, const Tensor& b) {
    if (!a.has_storage() || !b.has_storage()) {
      return false;
    }
    return a.storage().unsafeGetStorageImpl() == b.storage().unsafeGetStorageImpl();
  }

  static std::string compare_flags(const Tensor& got, const Json& want) {
    const auto differs = [&](const char* key, bool has) { return (want.find(key) != nullptr) != has; };
    if (differs("rg", got.requires_grad())) {
      return got.requires_grad() ? "requires grad, want not" : "does not require grad";
    }
    if (differs("conj", got.is_conj())) {
      return got.is_conj() ? "has the conj bit" : "lacks the conj bit";
    }
    if (differs("neg", got.is_neg())) {
      return got.is_neg() ? "has the neg bit" : "lacks the neg bit";
    }
    return {};
  }

  variable_list make_all(const Json& specs) const {
    variable_list tensors;
    for (const Json& spec : specs.items()) {
      tensors.push_back(make_dense(spec, data_, device_));
    }
    return tensors;
  }

  void prepare_grad(const Json& grad) {
    leaves_.clear();
    outputs_.clear();
    for (const Json& input : grad.at("in").items()) {
      leaves_.push_back(inputs_.leaf(input.as_int()));
    }
    for (const Json& out : grad.at("out").items()) {
      outputs_.push_back(actual_.at(out.as_int()));
    }
    cotangents_ = make_all(grad.at("cot"));
  }

  void compare_gradients(
      const variable_list& got,
      const variable_list& of,
      const Json& want,
      Tolerance tolerance,
      const char* what,
      const Json& indices,
      Difference& difference) const {
    for (size_t i = 0; i < of.size(); ++i) {
      difference.add(
          what + std::to_string(indices.items().at(i).as_int()),
          compare_dense(got.at(i), want.items().at(i), data_, tolerance));
    }
  }

  /// The record tells how far another CPU may be. A GPU adds in an order of its own.
  Tolerance tolerance_for(const Json& pair) const {
    const Tolerance recorded = tolerance_of(pair);
    const double factor = device_.is_cpu() ? 1 : 8;
    return {factor * recorded.rtol, factor * recorded.atol};
  }

  const std::string& op_;
  const Json& json_;
  const SafeTensors& data_;
  c10::Device device_;
  bool is_error_;
  Inputs inputs_;
  std::vector<bool> written_;
  const c10::FunctionSchema* schema_ = nullptr;
  std::vector<IValue> stack_;
  std::vector<Tensor> actual_; // by index into outs
  bool called_ = false;
  bool gauge_fixed_ = true;
  bool has_kernel_ = true;
  variable_list leaves_;
  variable_list outputs_;
  variable_list cotangents_;
};

std::vector<Verdict> all_parts(const Case& c, Status status, const std::string& why) {
  std::vector<Verdict> verdicts;
  for (const Part part : c.parts) {
    verdicts.push_back({part, status, why});
  }
  return verdicts;
}

} // namespace

std::vector<Verdict> replay(const Case& c, c10::Device device) {
  try {
    const auto op = find_operator(c.op);
    if (!op.has_value()) {
      return all_parts(c, Status::Missing, "no such operator");
    }
    if (!device.is_cpu() && !op->hasComputedKernelForDispatchKey(c10::DispatchKey::CUDA)) {
      return all_parts(c, Status::Missing, "no kernel for this device");
    }
    const Json json = Json::parse(c.line);
    Replay replay(c, json, device, op->schema());
    try {
      replay.prepare(*op);
    } catch (const SchemaMismatch& e) {
      return all_parts(c, Status::Missing, std::string("schema differs: ") + e.what());
    }
    std::vector<Verdict> verdicts;
    for (const Part part : c.parts) {
      const std::string why = part == Part::Call ? replay.judge_call(*op)
          : part == Part::Grad                   ? replay.judge_grad()
                                                 : replay.judge_gradgrad();
      verdicts.push_back(
          {part,
           why.empty()               ? Status::Passed
               : replay.has_kernel() ? Status::Failed
                                     : Status::Missing,
           why});
    }
    return verdicts;
  } catch (const std::exception& e) {
    return all_parts(c, Status::Failed, std::string("harness: ") + e.what());
  }
}

} // namespace conformance
