#pragma once

#include <csrc/data/dataloader/stateless.h>
