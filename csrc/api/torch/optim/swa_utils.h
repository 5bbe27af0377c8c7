#pragma once

#include <csrc/optim/swa_utils.h>
