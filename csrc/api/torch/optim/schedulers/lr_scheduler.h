#pragma once

#include <csrc/optim/schedulers/lr_scheduler.h>
