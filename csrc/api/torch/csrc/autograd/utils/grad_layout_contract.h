#pragma once

#include <autograd/functions/accumulate_grad.h>
