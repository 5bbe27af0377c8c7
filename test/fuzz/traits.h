// What is known of operators and of single calls: whether their values can be compared.
#pragma once

#include "test/fuzz/cases.h"

namespace fuzz {

/// The results are values, and not memory as it was found, or facts about strides, addresses and devices.
bool has_values(const c10::FunctionSchema& schema);
/// A way of placing the elements may be refused.
bool is_bound_to_placing(const c10::FunctionSchema& schema);
/// Writes to arguments whose schema does not say so, as in PyTorch: running statistics, storages that grow.
bool writes_undeclared(const c10::FunctionSchema& schema);
/// The functional form of set_ lets the storage grow too, and shows what memory it finds.
bool sets_storage(const c10::FunctionSchema& schema);
/// Draws numbers, as its name tells.
bool is_named_random(const c10::FunctionSchema& schema);

/// Draws numbers: takes a generator, or a probability, at which nothing may be left whatever the seed.
bool has_generator(const Call& call);
/// Elements of an output share memory in a way that operators need not notice: the last write wins. The scatter family
/// writes to a copy that keeps the strides. index_put may name a position more than once, and the last in memory wins.
bool writes_over_itself(const Call& call);
/// The values follow from the seed of the default generator: found by calls with several seeds.
bool depends_on_seed(const Cases& cases, uint64_t index);
/// Numbers are small enough for the order of sums not to matter, and that of products: infinity times a later 0
/// is NaN, an earlier 0 stays 0.
bool all_moderate(const Call& call);

} // namespace fuzz
