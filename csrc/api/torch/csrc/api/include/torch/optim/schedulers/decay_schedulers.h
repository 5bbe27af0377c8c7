#pragma once

#include <torch/optim/schedulers/decay_schedulers.h>
