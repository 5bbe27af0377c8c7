#pragma once

#include <torch/data/samplers/serialize.h>
