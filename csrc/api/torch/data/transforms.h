#pragma once

#include <csrc/data/transforms.h>
