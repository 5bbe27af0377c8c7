#pragma once

#include <csrc/data/dataloader/base.h>
