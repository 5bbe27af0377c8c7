#pragma once

#include <torch/amp/autocast_guard.h>
