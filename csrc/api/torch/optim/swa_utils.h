#pragma once

#include <csrc/optim/swa_utils.h>
#include <csrc/optim/update_bn.h>
