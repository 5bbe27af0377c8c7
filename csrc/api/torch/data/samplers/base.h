#pragma once

#include <csrc/data/samplers/base.h>
