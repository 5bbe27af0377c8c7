#pragma once

#include <csrc/tensor_flatten.h>
