#pragma once

#include <aten/core/dispatch/Dispatcher.h>
