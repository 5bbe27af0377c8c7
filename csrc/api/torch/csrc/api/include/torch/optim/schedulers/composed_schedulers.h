#pragma once

#include <torch/optim/schedulers/composed_schedulers.h>
