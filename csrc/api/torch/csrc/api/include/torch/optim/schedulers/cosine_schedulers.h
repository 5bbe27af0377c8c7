#pragma once

#include <torch/optim/schedulers/cosine_schedulers.h>
