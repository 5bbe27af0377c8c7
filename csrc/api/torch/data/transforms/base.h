#pragma once

#include <csrc/data/transforms/base.h>
