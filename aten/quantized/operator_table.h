#pragma once
// Operators with one kernel for all backends, as rows of one table.

#include <aten/core/dispatch/BuiltinRegistration.h>

#include <cstddef>

namespace at::quantized {

struct OperatorRow {
  const char* name; // with its namespace
  const char* overload_name;
  const char* schema; // without its namespace
  const c10::impl::BuiltinKernel* kernel;
};

/// The tables that the dispatcher reads, made by the compiler: objects are `constinit`, of static storage duration.
template <size_t N>
struct OperatorTable {
  constexpr OperatorTable(const char* place, const OperatorRow (&rows)[N]) {
    for (size_t i = 0; i < N; ++i) {
      const OperatorRow& row = rows[i];
      definitions[i] = {row.name, row.overload_name, row.schema, place, &slots[i]};
      kernels[i] = {row.name, row.overload_name, c10::DispatchKey::CompositeExplicitAutograd, row.kernel, place};
    }
  }

  c10::impl::BuiltinSlot slots[N]{};
  c10::impl::BuiltinDefinition definitions[N]{};
  c10::impl::BuiltinKernelRow kernels[N]{};
};

/// Registers the operators of a table, for good.
struct RegisteredTable {
  template <size_t N>
  explicit RegisteredTable(const OperatorTable<N>& table) {
    c10::impl::BuiltinRegistrar::define(table.definitions, N);
    c10::impl::BuiltinRegistrar::implement(table.kernels, N);
  }
};

} // namespace at::quantized
