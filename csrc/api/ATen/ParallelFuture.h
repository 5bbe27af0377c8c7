#pragma once

#include <aten/ParallelFuture.h>
