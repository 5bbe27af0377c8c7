#include "agreement.h"

#include <ATen/ATen.h>
#include <ATen/core/function_schema.h>

#include <sstream>

#include "test/conformance/compare.h"
#include "values.h"

namespace programs {

namespace {

using c10::IValue;
using test::Tolerance;

std::string shown(const IValue& value) {
  std::ostringstream text;
  text << value;
  return value.tagKind() + " " + text.str().substr(0, 200);
}

class Agreement {
 public:
  Agreement(const SafeTensors& tensors, Tolerance tolerance) : tensors_(tensors), tolerance_(tolerance) {}

  std::string compare(const IValue& got, const Json& want) const {
    if (want.is_null()) {
      return got.isNone() ? "" : "got " + shown(got) + ", want None";
    }
    const auto& [tag, value] = want.members().at(0);
    if (tag == "t" || tag == "sparse" || tag == "quant") {
      return got.isTensor() ? compare_tensor(got.toTensor(), tag == "t" ? value : want, tensors_, tolerance_)
                            : wrong_type(got, tag);
    }
    if (tag == "l") {
      return got.isList() ? sequence(got.toListRef(), value, "element ") : wrong_type(got, tag);
    }
    if (tag == "u") {
      return tuple(got, value, want.find("names"));
    }
    if (tag == "m") {
      return dict(got, value);
    }
    if (tag == "enum") {
      return enum_member(got, value);
    }
    if (tag == "fut") {
      return got.isFuture() ? future(*got.toFuture(), value) : wrong_type(got, tag);
    }
    if (tag == "device") {
      const bool same = got.isDevice() && got.toDevice() == c10::Device(value.as_string());
      return same ? "" : "got " + shown(got) + ", want device " + value.as_string();
    }
    if (tag == "layout" || tag == "mf") {
      const int64_t number =
          tag == "layout" ? layout_number(value.as_string()) : memory_format_number(value.as_string());
      return got.isInt() && got.toInt() == number ? "" : "got " + shown(got) + ", want " + value.as_string();
    }
    if (tag == "gen") {
      return got.isGenerator() ? "" : wrong_type(got, tag);
    }
    return conformance::compare_plain(got, want, tolerance_);
  }

 private:
  static std::string wrong_type(const IValue& got, const std::string& tag) {
    return "got " + shown(got) + ", want a value tagged '" + tag + "'";
  }

  std::string future(c10::ivalue::Future& got, const Json& want) const {
    got.waitAndThrow();
    return compare(got.value(), want);
  }

  std::string sequence(c10::ArrayRef<IValue> got, const Json& want, const char* what) const {
    const auto& items = want.items();
    if (got.size() != items.size()) {
      return "got " + std::to_string(got.size()) + " elements, want " + std::to_string(items.size());
    }
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string difference = compare(got[i], items[i]);
      if (!difference.empty()) {
        return what + std::to_string(i) + ": " + difference;
      }
    }
    return {};
  }

  std::string tuple(const IValue& got, const Json& want, const Json* names) const {
    if (!got.isTuple()) {
      return wrong_type(got, "u");
    }
    const auto type = got.type()->cast<c10::TupleType>();
    // Those of operators with named results have no name of their own, and Python shows them as plain ones.
    const bool is_named = type->schema() != nullptr && !type->schema()->name().empty();
    if (is_named != (names != nullptr)) {
      return names != nullptr ? "got a plain tuple, want a named one" : "got a named tuple, want a plain one";
    }
    for (size_t i = 0; names != nullptr && i < names->items().size(); ++i) {
      const auto& arguments = type->schema()->arguments();
      if (i >= arguments.size() || arguments[i].name() != names->items()[i].as_string()) {
        return "field " + std::to_string(i) + " is not called " + names->items()[i].as_string();
      }
    }
    const auto& elements = got.toTupleRef().elements();
    std::vector<IValue> held;
    for (size_t i = 0; i < elements.size(); ++i) {
      held.push_back(elements[i]);
    }
    return sequence(held, want, "of the tuple, ");
  }

  std::string dict(const IValue& got, const Json& want) const {
    if (!got.isGenericDict()) {
      return wrong_type(got, "m");
    }
    const auto held = got.toGenericDict();
    if (held.size() != want.items().size()) {
      return "got " + std::to_string(held.size()) + " entries, want " + std::to_string(want.items().size());
    }
    size_t place = 0;
    for (const auto& entry : held) {
      const auto& pair = want.items()[place++].items();
      const std::string key = compare(entry.key(), pair.at(0));
      if (!key.empty()) {
        return "key " + std::to_string(place - 1) + ": " + key;
      }
      const std::string value = compare(entry.value(), pair.at(1));
      if (!value.empty()) {
        return "value " + std::to_string(place - 1) + ": " + value;
      }
    }
    return {};
  }

  std::string enum_member(const IValue& got, const Json& want) const {
    if (!got.isEnum()) {
      return wrong_type(got, "enum");
    }
    const auto holder = got.toEnumHolder();
    const std::string& name = want.items().at(1).as_string();
    if (holder->name() != name) {
      return "got member " + holder->name() + ", want " + name;
    }
    return want.items().size() > 2 ? compare(holder->value(), want.items()[2]) : "";
  }

  const SafeTensors& tensors_;
  Tolerance tolerance_;
};

std::string compare_sparse(
    const at::Tensor& got, const Json& want, const SafeTensors& tensors, const Tolerance& tolerance) {
  if (!got.is_sparse()) {
    return "got a dense tensor, want a sparse one";
  }
  if (!got.sizes().equals(want.at("s").as_ints())) {
    return "shape: got " + test::show(got.sizes()) + ", want " + test::show(want.at("s").as_ints());
  }
  const at::Tensor coalesced = got.coalesce();
  const std::string indices = conformance::compare_dense(coalesced.indices(), want.at("i"), tensors, {});
  return !indices.empty() ? "indices: " + indices
                          : conformance::compare_dense(coalesced.values(), want.at("v"), tensors, tolerance);
}

} // namespace

std::string compare_tensor(
    const at::Tensor& got, const Json& want, const SafeTensors& tensors, test::Tolerance tolerance) {
  if (want.is_null()) {
    return got.defined() ? "got a tensor, want none" : "";
  }
  if (const Json* sparse = want.find("sparse")) {
    return compare_sparse(got, *sparse, tensors, tolerance);
  }
  if (want.find("quant") != nullptr) {
    throw NotThere("tensors with a quantized dtype are not there");
  }
  if (!got.defined()) {
    return "got an undefined tensor";
  }
  if (got.layout() != c10::kStrided) {
    return "got a sparse tensor, want a dense one";
  }
  std::string difference = conformance::compare_dense(got.detach(), want, tensors, tolerance);
  const Json* requires_grad = want.find("rg");
  const bool wants_grad = requires_grad != nullptr && requires_grad->as_bool();
  if (difference.empty() && got.requires_grad() != wants_grad) {
    return wants_grad ? "does not require grad" : "requires grad";
  }
  return difference;
}

std::string compare_value(const IValue& got, const Json& want, const SafeTensors& tensors, test::Tolerance tolerance) {
  return Agreement(tensors, tolerance).compare(got, want);
}

} // namespace programs
