#pragma once

#include <aten/PTThreadPool.h>
