#include "replay.h"

#include <ATen/ATen.h>
#include <csrc/jit/runtime/print_handler.h>

#include <memory>
#include <regex>

#include "agreement.h"
#include "gradients.h"
#include "loaders.h"
#include "test/conformance/compare.h"
#include "test/support/refusals.h"
#include "values.h"

namespace programs {

namespace {

using c10::IValue;
using test::Tolerance;

std::string printed;

/// Text that the program itself gave to raise or assert; empty if it was the library that threw. The message ends with
/// "Class: text", which stands on a line of its own and may have more lines.
std::string own_text(const Json& error) {
  const std::string type = error.at("type").as_string();
  const std::string& message = error.at("msg").as_string();
  static const std::regex kind(R"((^|\n)[A-Za-z_][\w.]*: )");
  std::smatch last;
  size_t begin = std::string::npos;
  std::string name;
  for (std::sregex_iterator found(message.begin(), message.end(), kind), end; found != end; ++found) {
    begin = static_cast<size_t>(found->position() + found->length());
    name = found->str();
  }
  const bool is_raised = type == "torch.jit.Error" || name.find("builtins.") != std::string::npos;
  if (begin == std::string::npos || !is_raised) {
    return {};
  }
  const std::string text = message.substr(begin);
  const std::string assertion = "AssertionError: ";
  return text.rfind(assertion, 0) == 0 ? text.substr(assertion.size()) : text;
}

bool is_utf8(const std::string& text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    const int more = lead < 0x80 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : -1;
    if (more < 0) {
      return false;
    }
    for (int k = 0; k < more; ++k) {
      if (i >= text.size() || (static_cast<unsigned char>(text[i++]) & 0xC0) != 0x80) {
        return false;
      }
    }
  }
  return true;
}

/// One call of a program, from the arguments to all that can be seen afterwards.
class Call {
 public:
  Call(Loaded& loaded, const Json& record, const SafeTensors& tensors)
      : loaded_(loaded),
        record_(record),
        tensors_(tensors),
        tolerance_(record.find("tol") != nullptr ? conformance::tolerance_of(record.at("tol")) : Tolerance{1e-5, 1e-6}),
        method_(record.at("m").as_string()) {}

  /// The first difference, or an empty string.
  std::string run() {
    if (const Json* mode = record_.find("mode"); mode != nullptr && !mode->is_null()) {
      loaded_.train(mode->as_string() == "train");
    }
    const Json* error = record_.find("error");
    IValue result;
    try {
      result = call();
    } catch (const NotThere&) {
      throw;
    } catch (const std::exception& e) {
      const std::string text = test::refusal_text(e);
      return error == nullptr ? "threw " + text : compare_error(text, *error);
    }
    if (error != nullptr) {
      return is_of_python_alone(*error, result) ? "" : "did not throw; want " + error->at("msg").as_string();
    }
    return compare(result);
  }

 private:
  IValue call() {
    make_arguments();
    remember_state();
    printed.clear();
    if (const Json* seed = record_.find("seed"); seed != nullptr && !seed->is_null()) {
      at::manual_seed(seed->as_int());
    }
    return loaded_.call(method_, arguments_, keywords_);
  }

  void make_arguments() {
    const std::vector<c10::Argument> declared = loaded_.arguments(method_);
    const auto& recorded = record_.at("args").items();
    for (size_t i = 0; i < recorded.size(); ++i) {
      arguments_.push_back(make_value(recorded[i], i < declared.size() ? declared[i].type() : nullptr, tensors_));
      collect_tensors(arguments_.back(), passed_);
    }
    const Json* named = record_.find("kw");
    if (named == nullptr || named->is_null()) {
      return;
    }
    for (const auto& [name, value] : named->members()) {
      c10::TypePtr type;
      for (const c10::Argument& argument : declared) {
        type = argument.name() == name ? argument.type() : type;
      }
      keywords_.emplace(name, make_value(value, type, tensors_));
    }
  }

  std::map<std::string, at::Tensor> state() {
    auto all = loaded_.parameters();
    all.merge(loaded_.buffers());
    return all;
  }

  void remember_state() {
    for (const auto& [name, tensor] : state()) {
      if (tensor.defined()) {
        before_.emplace(name, tensor.detach().clone());
      }
    }
  }

  /// Python cannot read every string that a program may return.
  static bool is_of_python_alone(const Json& error, const IValue& result) {
    bool is_readable = true;
    result.visit([&](const IValue& part) {
      is_readable = is_readable && (!part.isString() || is_utf8(part.toStringRef()));
      return false;
    });
    return error.at("type").as_string() == "UnicodeDecodeError" && !is_readable;
  }

  static std::string compare_error(const std::string& text, const Json& error) {
    const std::string own = own_text(error);
    return text.find(own) != std::string::npos ? "" : "threw " + text + "; want text " + own;
  }

  std::string compare(const IValue& result) {
    std::string difference = compare_value(result, record_.at("ret"), tensors_, tolerance_);
    if (!difference.empty()) {
      return "result: " + difference;
    }
    const Json* stdout_text = record_.find("stdout");
    const std::string wanted = stdout_text != nullptr ? stdout_text->as_string() : "";
    if (printed != wanted) {
      return "printed \"" + printed + "\", want \"" + wanted + "\"";
    }
    difference = compare_arguments();
    if (difference.empty()) {
      difference = compare_state();
    }
    if (const Json* grad = record_.find("grad"); difference.empty() && grad != nullptr) {
      difference = compare_gradients(result, loaded_.parameters(), arguments_, *grad, tensors_, tolerance_);
    }
    return difference;
  }

  /// Tensors alone: calls from Python copy lists and dicts, so that what becomes of those is not recorded.
  std::string compare_arguments() const {
    const Json* after = record_.find("args_after");
    std::vector<const Json*> wanted;
    collect_tensors(after != nullptr ? *after : record_.at("args"), wanted);
    for (size_t i = 0; i < passed_.size() && i < wanted.size(); ++i) {
      const std::string difference = compare_tensor(passed_[i], *wanted[i], tensors_, tolerance_);
      if (!difference.empty()) {
        return "tensor " + std::to_string(i) + " of the arguments afterwards: " + difference;
      }
    }
    return {};
  }

  static void collect_tensors(const Json& tagged, std::vector<const Json*>& found) {
    if (tagged.is_array()) {
      for (const Json& item : tagged.items()) {
        collect_tensors(item, found);
      }
    } else if (tagged.kind() == Json::Kind::Object && !tagged.members().empty()) {
      const auto& [tag, value] = tagged.members().at(0);
      if (tag == "t") {
        found.push_back(&value);
      } else if (tag == "l" || tag == "u" || tag == "m") {
        collect_tensors(value, found);
      }
    }
  }

  static void collect_tensors(const IValue& value, std::vector<at::Tensor>& found) {
    value.visit([&](const IValue& part) {
      if (part.isTensor()) {
        found.push_back(part.toTensor());
      }
      return false;
    });
  }

  std::string compare_state() {
    const Json* after = record_.find("state_after");
    for (const auto& [name, tensor] : state()) {
      const Json* want = after != nullptr ? after->find(name) : nullptr;
      const auto before = before_.find(name);
      std::string difference;
      if (want != nullptr) {
        difference = conformance::compare_dense(tensor.detach(), *want, tensors_, tolerance_);
      } else if (before != before_.end()) {
        difference = test::first_difference(tensor.detach(), before->second, {});
      }
      if (!difference.empty()) {
        return name + " afterwards: " + difference;
      }
    }
    return {};
  }

  Loaded& loaded_;
  const Json& record_;
  const SafeTensors& tensors_;
  Tolerance tolerance_;
  std::string method_;
  std::vector<IValue> arguments_;
  std::vector<at::Tensor> passed_; // all tensors in the arguments, depth first
  torch::jit::Kwargs keywords_;
  std::map<std::string, at::Tensor> before_;
};

std::string without_trailing_space(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

Verdict refusal(const Program& program, bool texts) {
  const std::string wanted = without_trailing_space(program.record.at("error").as_string());
  try {
    load(program);
  } catch (const std::exception& e) {
    const std::string text = without_trailing_space(test::refusal_text(e));
    return !texts || text == wanted ? Verdict{0, Status::Passed, ""}
                                    : Verdict{0, Status::Failed, "says:\n" + text + "\nwant:\n" + wanted};
  }
  return {0, Status::Failed, "compiled; want " + wanted};
}

/// libtorch's Python makes some modules that its C++ refuses to define: then the record says what it answers.
bool may_be_refused(const Program& program) {
  const Json* answer = program.record.find("cpp");
  return answer != nullptr && answer->as_string() != "ok";
}

Verdict judge(const Program& program, size_t index, std::unique_ptr<Loaded>& loaded) {
  const Json& call = program.record.at("calls").items()[index];
  const Json* continued = call.find("cont");
  if (!loaded || continued == nullptr || !continued->as_bool()) {
    try {
      loaded = load(program);
    } catch (const std::exception& e) {
      return {index, may_be_refused(program) ? Status::Passed : Status::Failed, "load: " + test::refusal_text(e)};
    }
  }
  const std::string difference = Call(*loaded, call, program.category->tensors).run();
  return {index, difference.empty() ? Status::Passed : Status::Failed, difference};
}

} // namespace

void replay(const Program& program, bool texts, const std::function<void(const Verdict&)>& give) {
  torch::jit::setPrintHandler([](const std::string& text) { printed += text; });
  if (program.kind() == "refused") {
    give(refusal(program, texts));
    return;
  }
  std::unique_ptr<Loaded> loaded;
  for (size_t i = 0; i < program.judged(); ++i) {
    try {
      give(judge(program, i, loaded));
    } catch (const NotThere& e) {
      give({i, Status::Skipped, e.what()});
    } catch (const std::exception& e) {
      give({i, Status::Failed, std::string("replay: ") + e.what()});
    }
  }
}

} // namespace programs
