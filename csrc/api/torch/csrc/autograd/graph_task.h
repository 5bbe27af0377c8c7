// Thin face of <autograd/graph_task.h> under the name that libtorch gives it.
#pragma once

#include <autograd/graph_task.h>
