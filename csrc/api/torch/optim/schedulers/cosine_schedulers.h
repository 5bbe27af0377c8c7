#pragma once

#include <csrc/optim/schedulers/cosine_schedulers.h>
