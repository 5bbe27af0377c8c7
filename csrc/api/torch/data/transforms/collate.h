#pragma once

#include <csrc/data/transforms/collate.h>
