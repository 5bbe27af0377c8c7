#pragma once

#include <csrc/optim/schedulers/step_lr.h>
