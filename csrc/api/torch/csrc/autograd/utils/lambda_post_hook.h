#pragma once

#include <autograd/utils/lambda_post_hook.h>
