#pragma once

#include <autograd/next_edges.h>
