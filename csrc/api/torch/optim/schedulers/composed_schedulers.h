#pragma once

#include <csrc/optim/schedulers/composed_schedulers.h>
