#pragma once

#include <csrc/utils/progress.h>
