#pragma once

#include <csrc/cuda/graphs.h>
