#pragma once

#include <aten/core/function_schema.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/TypeList.h>

#include <array>
#include <optional>
#include <string>
#include <tuple>

// The schema that the C++ type of a function implies.

namespace c10 {
namespace detail::infer_schema {

/// A parameter's or result's type, fetched only when the schema is really made.
struct ArgumentDef final {
  using GetTypeFn = TypePtr();
  GetTypeFn* getTypeFn;
  GetTypeFn* getFakeTypeFn;
};

template <class List>
struct ArgumentDefs;
template <class... Types>
struct ArgumentDefs<guts::typelist::typelist<Types...>> {
  static constexpr std::array<ArgumentDef, sizeof...(Types)> get() {
    return {ArgumentDef{&getTypePtrCopy<std::decay_t<Types>>, &getFakeTypePtrCopy<std::decay_t<Types>>}...};
  }
};
template <class Return>
struct ReturnTypes {
  using type = guts::typelist::typelist<Return>;
};
template <class... Types>
struct ReturnTypes<std::tuple<Types...>> {
  using type = guts::typelist::typelist<Types...>;
};
template <>
struct ReturnTypes<void> {
  using type = guts::typelist::typelist<>;
};

template <class List>
struct without_key_set {
  using type = List;
};
template <class... Params>
struct without_key_set<guts::typelist::typelist<DispatchKeySet, Params...>> {
  using type = guts::typelist::typelist<Params...>;
};

/// Arguments are called _0, _1, ... and results have no names.
TORCH_API FunctionSchema make_function_schema(
    std::string name, std::string overload_name, ArrayRef<ArgumentDef> arguments, ArrayRef<ArgumentDef> returns);

} // namespace detail::infer_schema

/// A tuple becomes several results.
template <class FuncType>
FunctionSchema inferFunctionSchemaFlattenedReturns(std::string name = "", std::string overload_name = "") {
  using traits = guts::infer_function_traits_t<FuncType>;
  using Params = typename detail::infer_schema::without_key_set<typename traits::parameter_types>::type;
  using Returns = typename detail::infer_schema::ReturnTypes<std::decay_t<typename traits::return_type>>::type;
  constexpr auto arguments = detail::infer_schema::ArgumentDefs<Params>::get();
  constexpr auto returns = detail::infer_schema::ArgumentDefs<Returns>::get();
  return detail::infer_schema::make_function_schema(std::move(name), std::move(overload_name), arguments, returns);
}
/// A tuple stays one result, and nothing is one of type None.
template <class FuncType>
FunctionSchema inferFunctionSchemaSingleReturn(std::string name = "", std::string overload_name = "") {
  using traits = guts::infer_function_traits_t<FuncType>;
  using Params = typename detail::infer_schema::without_key_set<typename traits::parameter_types>::type;
  using Returns = guts::typelist::typelist<std::decay_t<typename traits::return_type>>;
  constexpr auto arguments = detail::infer_schema::ArgumentDefs<Params>::get();
  constexpr auto returns = detail::infer_schema::ArgumentDefs<Returns>::get();
  return detail::infer_schema::make_function_schema(std::move(name), std::move(overload_name), arguments, returns);
}

/// What keeps a kernel of the inferred schema from serving the specified one, with the place marked; nullopt if
/// nothing.
TORCH_API std::optional<std::string> findSchemaDifferences(
    const FunctionSchema& specified, const FunctionSchema& inferred);

/// Two texts below each other with a mark at the first difference.
TORCH_API std::string markDifference(const std::string& a, const std::string& b);

} // namespace c10
