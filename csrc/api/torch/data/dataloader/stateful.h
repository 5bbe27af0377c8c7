#pragma once

#include <csrc/data/dataloader/stateful.h>
