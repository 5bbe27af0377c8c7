#pragma once

#include <csrc/optim/schedulers/decay_schedulers.h>
