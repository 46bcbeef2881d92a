/*
 * Sums of points in G1: the kernels msm_g1_accumulate, _merge, _weigh and _gather. Launched by
 * msm_cuda_sum; msm_template_cuda.h has them. A SIGKILL leaves nothing but the caller's scratch.
 */
#define MSM_GROUP g1
#include "kernels/msm/msm_template_cuda.h"
