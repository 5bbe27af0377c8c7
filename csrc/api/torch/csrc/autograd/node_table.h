#pragma once

#include <autograd/node_table.h>
