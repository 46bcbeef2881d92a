/*
 * Sums of points in G2: the kernels msm_g2_accumulate, _merge, _weigh and _gather. Launched by
 * msm_cuda_sum; msm_template_cuda.h has them. A SIGKILL leaves nothing but the caller's scratch.
 */
#define MSM_GROUP g2
#include "kernels/msm/msm_template_cuda.h"
