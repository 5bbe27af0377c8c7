#pragma once
#include <csrc/stable/tensor.h>
