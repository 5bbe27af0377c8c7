#pragma once

#include <torch/data/detail/queue.h>
