// Writing again where the memory is free.
#pragma once

#include <csrc/fx/graph.h>

#include <cstddef>

namespace torch::functionalize {

/// Lets operators of a functional graph write to their first argument, where it is a tensor that the graph made,
/// nothing reads it afterwards and the result has its dtype and strides; also to an input that is to hold the result in
/// the end
/// (`aten::copy_`), which then is no longer copied to. Gives how many do. The graph does the same, with less memory; it
/// is no functional graph any more.
TORCH_API size_t reinplace(fx::Graph& graph);

} // namespace torch::functionalize
