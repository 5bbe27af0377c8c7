// Hooks on several tensors, on nodes and on what nodes keep: torch::autograd::graph.
#pragma once

#include <autograd/graph.h>
