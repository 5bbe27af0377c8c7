#pragma once

#include <torch/data/detail/sequencers.h>
