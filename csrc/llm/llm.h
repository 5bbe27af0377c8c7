// Language models from a folder.
#pragma once

#include <csrc/llm/config.h>
