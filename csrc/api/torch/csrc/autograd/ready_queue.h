#pragma once

#include <autograd/ready_queue.h>
