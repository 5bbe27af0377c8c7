// Definition and implementation of operators in the stable interface:
//
//   torch::stable::Tensor relu6(const torch::stable::Tensor& x);
//   STABLE_TORCH_LIBRARY(mine, m) { m.def("relu6(Tensor x) -> Tensor"); }
//   STABLE_TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("relu6", TORCH_BOX(&relu6)); }
#pragma once

#include <c10/util/Metaprogramming.h>
#include <csrc/stable/stable_value.h>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::stable::detail {

/// Operators of one namespace, as long as the object lives. Made by the macros STABLE_TORCH_LIBRARY...
class TORCH_API StableLibrary final {
 public:
  enum class Kind { DEF, IMPL, FRAGMENT };

  StableLibrary(Kind kind, const char* ns, const char* k, const char* file, uint32_t line);
  StableLibrary(const StableLibrary&) = delete;
  StableLibrary& operator=(const StableLibrary&) = delete;
  ~StableLibrary();

  /// Defines an operator by its schema: "name(args) -> returns".
  StableLibrary& def(const char* schema);
  StableLibrary& def(const char* schema, const std::vector<at::Tag>& tags);
  /// Implements an operator by a boxed kernel, usually TORCH_BOX(&function).
  StableLibrary& impl(const char* name, void (*kernel)(StableIValue*, uint64_t, uint64_t));
  StableLibrary& set_python_module(const char* module, const char* context = "");

 private:
  TorchLibraryHandle library_ = nullptr;
};

class StableTorchLibraryInit final {
 public:
  StableTorchLibraryInit(
      StableLibrary::Kind kind,
      void (*init)(StableLibrary&),
      const char* ns,
      const char* k,
      const char* file,
      uint32_t line)
      : library_(kind, ns, k, file, line) {
    init(library_);
  }

 private:
  StableLibrary library_;
};

/// What a parameter of type T is read as: views own nothing, so the kernel's caller holds the values.
template <class T>
struct UnboxType {
  using type = T;
};
template <class T>
struct UnboxType<c10::ArrayRef<T>> {
  using type = std::vector<T>;
};
template <class T>
struct UnboxType<std::optional<c10::ArrayRef<T>>> {
  using type = std::optional<std::vector<T>>;
};
template <>
struct UnboxType<std::string_view> {
  using type = std::string;
};
template <class T>
using unbox_type_t = typename UnboxType<std::remove_cv_t<std::remove_reference_t<T>>>::type;

template <class T>
inline constexpr bool is_tuple_v = false;
template <class... T>
inline constexpr bool is_tuple_v<std::tuple<T...>> = true;

/// Throws if a schema's number of arguments or results is not the kernel's.
TORCH_API void check_boxed_count(const char* what, uint64_t schema, uint64_t kernel);

template <
    class Function,
    Function* function,
    class Parameters = typename c10::guts::infer_function_traits_t<Function>::parameter_types>
struct boxer;

/// A function as a boxed kernel.
template <class Function, Function* function, class... Parameters>
struct boxer<Function, function, c10::guts::typelist::typelist<Parameters...>> {
  static void boxed_fn(StableIValue* stack, uint64_t num_args, uint64_t num_outputs) {
    call(stack, num_args, num_outputs, std::index_sequence_for<Parameters...>());
  }

 private:
  template <size_t... I>
  static void call(
      [[maybe_unused]] StableIValue* stack,
      uint64_t num_args,
      uint64_t num_outputs,
      std::index_sequence<I...> /*indices*/) {
    using Result = typename c10::guts::infer_function_traits_t<Function>::return_type;
    check_boxed_count("arguments", num_args, sizeof...(Parameters));
    std::tuple<unbox_type_t<Parameters>...> args{to<unbox_type_t<Parameters>>(stack[I])...};
    if constexpr (std::is_void_v<Result>) {
      check_boxed_count("results", num_outputs, 0);
      std::apply(function, args);
    } else if constexpr (is_tuple_v<Result>) {
      check_boxed_count("results", num_outputs, std::tuple_size_v<Result>);
      store(stack, std::apply(function, args), std::make_index_sequence<std::tuple_size_v<Result>>());
    } else {
      check_boxed_count("results", num_outputs, 1);
      stack[0] = from<std::remove_cv_t<std::remove_reference_t<Result>>>(std::apply(function, args));
    }
  }
  template <class Results, size_t... I>
  static void store(
      [[maybe_unused]] StableIValue* stack, const Results& results, std::index_sequence<I...> /*indices*/) {
    ((stack[I] =
          from<std::remove_cv_t<std::remove_reference_t<std::tuple_element_t<I, Results>>>>(std::get<I>(results))),
     ...);
  }
};

} // namespace torch::stable::detail

#define TORCH_BOX(func) \
  torch::stable::detail::boxer<std::remove_pointer_t<std::remove_reference_t<decltype(func)>>, (func)>::boxed_fn

#define STABLE_TORCH_LIBRARY_BLOCK_(ns, k, m, kind, name)                                                   \
  static void C10_CONCATENATE(stable_torch_library_init_, name)(torch::stable::detail::StableLibrary&);     \
  static const torch::stable::detail::StableTorchLibraryInit C10_CONCATENATE(stable_torch_library_, name)(  \
      torch::stable::detail::StableLibrary::Kind::kind, &C10_CONCATENATE(stable_torch_library_init_, name), \
      C10_STRINGIZE(ns), k, __FILE__, __LINE__);                                                            \
  void C10_CONCATENATE(stable_torch_library_init_, name)(torch::stable::detail::StableLibrary & m)

#define STABLE_TORCH_LIBRARY(ns, m) STABLE_TORCH_LIBRARY_BLOCK_(ns, nullptr, m, DEF, ns)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) \
  STABLE_TORCH_LIBRARY_BLOCK_(ns, nullptr, m, FRAGMENT, C10_CONCATENATE(ns##_fragment_, C10_UID))
#define STABLE_TORCH_LIBRARY_IMPL(ns, k, m) \
  STABLE_TORCH_LIBRARY_BLOCK_(ns, C10_STRINGIZE(k), m, IMPL, C10_CONCATENATE(ns##_##k##_, C10_UID))
