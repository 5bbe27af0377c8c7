#pragma once

#include <csrc/jit/executor_settings.h>
