#pragma once

#include <csrc/optim/schedulers/cycle_schedulers.h>
