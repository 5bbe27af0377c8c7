// Arguments of which an operator takes the sizes alone.
#pragma once

#include <csrc/fx/graph.h>

namespace torch::aot {

/// Derivatives of pooling take what was pooled, for its sizes and strides. They get the value that it was made from by
/// element instead, as far back as that looks the same: one that costs more to compute, and so is kept anyway.
void take_shapes_from_sources(fx::Graph& joint);

} // namespace torch::aot
