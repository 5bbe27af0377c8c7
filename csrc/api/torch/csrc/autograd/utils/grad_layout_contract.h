#pragma once

#include <autograd/utils/grad_layout_contract.h>
