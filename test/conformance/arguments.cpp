#include "arguments.h"

#include <string_view>

#include "test/support/elements.h"

namespace conformance {

namespace {

using c10::IValue;

// std::optional or c10::optional, whichever this library's IValue speaks.
template <class T>
using Optional = decltype(std::declval<const IValue&>().toOptional<T>());

constexpr std::string_view kLayouts[] = {"strided",    "sparse_coo", "sparse_csr", "mkldnn",
                                         "sparse_csc", "sparse_bsr", "sparse_bsc"};
constexpr std::string_view kMemoryFormats[] = {"contiguous", "preserve", "channels_last", "channels_last_3d"};

template <size_t N>
int64_t position_of(std::string_view name, const std::string_view (&names)[N]) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) {
      return static_cast<int64_t>(i);
    }
  }
  throw SchemaMismatch("unknown name " + std::string(name));
}

class ArgumentMaker {
 public:
  ArgumentMaker(const Inputs& inputs, c10::Device device) : inputs_(inputs), device_(device) {}

  IValue make(const Json& tagged, std::string type) const {
    // Only list types care about optional elements; "Tensor?" and "Tensor" differ in what null means.
    if (tagged.is_null()) {
      return type == "Tensor" ? IValue(at::Tensor()) : IValue();
    }
    if (!type.empty() && type.back() == '?') {
      type.pop_back();
    }
    const auto& [tag, value] = tagged.members().at(0);
    const bool wants_list = type.size() > 2 && type.compare(type.size() - 2, 2, "[]") == 0;
    if (wants_list && (tag == "i" || tag == "f" || tag == "b" || tag == "t")) {
      return one_element_list(tag, value, type);
    }

    if (tag == "t") {
      return inputs_.passed(value.as_int());
    }
    if (tag == "tl") {
      return tensor_list(value, type);
    }
    if (tag == "w") {
      return make_wrapped_number(value);
    }
    if (tag == "i") {
      return type == "float" ? IValue(value.as_double()) : IValue(value.as_int());
    }
    if (tag == "f") {
      return value.as_double();
    }
    if (tag == "b") {
      return value.as_bool();
    }
    if (tag == "c") {
      return complex_number(value);
    }
    if (tag == "s") {
      return value.as_string();
    }
    if (tag == "il" && type != "float[]") {
      return value.as_ints();
    }
    if (tag == "il" || tag == "fl") {
      return doubles(value);
    }
    if (tag == "bl") {
      return bools(value);
    }
    if (tag == "sl") {
      return scalars(value);
    }
    if (tag == "dtype") {
      return static_cast<int64_t>(dtype_info(value.as_string()).type);
    }
    if (tag == "layout") {
      return position_of(value.as_string(), kLayouts);
    }
    if (tag == "mf") {
      return position_of(value.as_string(), kMemoryFormats);
    }
    if (tag == "device") {
      return device(value.as_string());
    }
    throw SchemaMismatch("unknown tag " + tag);
  }

 private:
  static IValue one_element_list(const std::string& tag, const Json& value, const std::string& type) {
    if (type == "float[]") {
      return std::vector<double>{value.as_double()};
    }
    if (tag == "i") {
      return std::vector<int64_t>{value.as_int()};
    }
    if (tag == "b") {
      return c10::List<bool>({value.as_bool()});
    }
    throw SchemaMismatch("tag " + tag + " for " + type);
  }

  IValue tensor_list(const Json& indices, const std::string& type) const {
    if (type == "Tensor?[]") {
      c10::List<Optional<at::Tensor>> list;
      for (const Json& index : indices.items()) {
        list.push_back(index.is_null() ? Optional<at::Tensor>() : Optional<at::Tensor>(inputs_.passed(index.as_int())));
      }
      return list;
    }
    c10::List<at::Tensor> list;
    for (const Json& index : indices.items()) {
      list.push_back(index.is_null() ? at::Tensor() : inputs_.passed(index.as_int()));
    }
    return list;
  }

  static IValue complex_number(const Json& value) {
    return c10::complex<double>(value.items().at(0).as_double(), value.items().at(1).as_double());
  }

  static IValue doubles(const Json& value) {
    std::vector<double> list;
    for (const Json& item : value.items()) {
      list.push_back(item.as_double());
    }
    return list;
  }

  static IValue bools(const Json& value) {
    c10::List<bool> list;
    for (const Json& item : value.items()) {
      list.push_back(item.as_bool());
    }
    return list;
  }

  IValue scalars(const Json& value) const {
    c10::List<at::Scalar> list;
    for (const Json& item : value.items()) {
      list.push_back(make(item, "Scalar").toScalar());
    }
    return list;
  }

  IValue device(const std::string& name) const {
    return name == "cpu" ? device_ : c10::Device(name);
  }

  const Inputs& inputs_;
  c10::Device device_;
};

} // namespace

std::vector<IValue> make_arguments(
    const Json& tagged_args, const c10::FunctionSchema& schema, const Inputs& inputs, c10::Device device) {
  const auto& recorded = tagged_args.items();
  const auto& arguments = schema.arguments();
  if (recorded.size() > arguments.size()) {
    throw SchemaMismatch(
        "schema takes " + std::to_string(arguments.size()) + " arguments, recorded were " +
        std::to_string(recorded.size()));
  }
  const ArgumentMaker maker(inputs, device);
  std::vector<IValue> stack;
  stack.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i < recorded.size()) {
      try {
        stack.push_back(maker.make(recorded[i], arguments[i].type()->str()));
      } catch (const SchemaMismatch& e) {
        throw SchemaMismatch("argument " + arguments[i].name() + ": " + e.what());
      }
    } else if (arguments[i].default_value().has_value()) {
      stack.push_back(*arguments[i].default_value());
    } else {
      throw SchemaMismatch("argument " + arguments[i].name() + " has no default and was not recorded");
    }
  }
  return stack;
}

} // namespace conformance
