#pragma once

#include <csrc/data/detail/data_shuttle.h>
