// Tests of derivatives by differences: torch::autograd::gradcheck and gradgradcheck.
#pragma once

#include <csrc/autograd/gradcheck.h>
