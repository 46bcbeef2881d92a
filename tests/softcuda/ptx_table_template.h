/*
 * The operations' mnemonics, for ptx_operations.h. Included by ptx_alu_*.c, which name the table.
 */
#define SIGNS32(base, operands, run)                                                               \
    {base ".u32", operands, run},                                                                  \
    {                                                                                              \
        base ".s32", operands, run                                                                 \
    }
#define BITS32(base, operands, run) {base ".b32", operands, run}, SIGNS32(base, operands, run)
#define SIGNS64(base, operands, run)                                                               \
    {base ".u64", operands, run},                                                                  \
    {                                                                                              \
        base ".s64", operands, run                                                                 \
    }
#define BITS64(base, operands, run) {base ".b64", operands, run}, SIGNS64(base, operands, run)
#define SIGNS16(base, operands, run)                                                               \
    {base ".u16", operands, run},                                                                  \
    {                                                                                              \
        base ".s16", operands, run                                                                 \
    }
#define BITS16(base, operands, run) {base ".b16", operands, run}, SIGNS16(base, operands, run)
#define COMPARE(name, compare)                                                                     \
    {"setp." name ".u16", "phh", setp_##compare##_u16},                                            \
        {"setp." name ".s16", "phh", setp_##compare##_s16},                                        \
        {"setp." name ".u32", "pww", setp_##compare##_u32},                                        \
        {"setp." name ".s32", "pww", setp_##compare##_s32},                                        \
        {"setp." name ".u64", "pdd", setp_##compare##_u64},                                        \
    {                                                                                              \
        "setp." name ".s64", "pdd", setp_##compare##_s64                                           \
    }
#define COMPARE_UNSIGNED(name, compare)                                                            \
    {"setp." name ".u16", "phh", setp_##compare##_u16},                                            \
        {"setp." name ".u32", "pww", setp_##compare##_u32},                                        \
    {                                                                                              \
        "setp." name ".u64", "pdd", setp_##compare##_u64                                           \
    }
#define EQUALITY(name, compare)                                                                    \
    BITS16("setp." name, "phh", setp_##compare##_16),                                              \
        BITS32("setp." name, "pww", setp_##compare##_32),                                          \
        BITS64("setp." name, "pdd", setp_##compare##_64)

#define CONVERT(from, letter, name)                                                                \
    {"cvt.u8." from, "h" letter, cvt_u8_##name}, {"cvt.s8." from, "h" letter, cvt_s8_##name},      \
        {"cvt.u16." from, "h" letter, cvt_16_##name},                                              \
        {"cvt.s16." from, "h" letter, cvt_16_##name},                                              \
        {"cvt.u32." from, "w" letter, cvt_32_##name},                                              \
        {"cvt.s32." from, "w" letter, cvt_32_##name},                                              \
        {"cvt.u64." from, "d" letter, cvt_64_##name},                                              \
    {                                                                                              \
        "cvt.s64." from, "d" letter, cvt_64_##name                                                 \
    }

/* .cc after, and c before it */
#define CARRIES32(base, chained, half, operands, run)                                              \
    SIGNS32(base half ".cc", operands, run##_cc), SIGNS32(chained half, operands, run##c),         \
        SIGNS32(chained half ".cc", operands, run##c_cc)
#define CARRIES64(base, chained, half, operands, run)                                              \
    SIGNS64(base half ".cc", operands, run##_cc), SIGNS64(chained half, operands, run##c),         \
        SIGNS64(chained half ".cc", operands, run##c_cc)

const struct ptx_operation OPERATIONS_TABLE[] = {
    SIGNS32("add", "www", add32),
    SIGNS32("sub", "www", sub32),
    SIGNS32("mul.lo", "www", mul_lo32),
    {"mul.hi.u32", "www", mul_hi_u32},
    {"mul.hi.s32", "www", mul_hi_s32},
    {"mul.wide.u32", "dww", mul_wide_u32},
    {"mul.wide.s32", "dww", mul_wide_s32},
    SIGNS32("mad.lo", "wwww", mad_lo32),
    {"mad.hi.u32", "wwww", mad_hi_u32},
    {"mad.hi.s32", "wwww", mad_hi_s32},
    {"mad.wide.u32", "dwwd", mad_wide_u32},
    {"mad.wide.s32", "dwwd", mad_wide_s32},
    {"div.u32", "www", div_u32},
    {"div.s32", "www", div_s32},
    {"rem.u32", "www", rem_u32},
    {"rem.s32", "www", rem_s32},
    {"min.u32", "www", min_u32},
    {"min.s32", "www", min_s32},
    {"max.u32", "www", max_u32},
    {"max.s32", "www", max_s32},
    {"neg.s32", "ww", neg32},
    {"abs.s32", "ww", abs32},
    {"and.b32", "www", and32},
    {"or.b32", "www", or32},
    {"xor.b32", "www", xor32},
    {"not.b32", "ww", not32},
    {"cnot.b32", "ww", cnot32},
    {"shl.b32", "www", shl32},
    {"shr.b32", "www", shr_u32},
    {"shr.u32", "www", shr_u32},
    {"shr.s32", "www", shr_s32},
    {"shf.l.wrap.b32", "wwww", shf_l_wrap},
    {"shf.l.clamp.b32", "wwww", shf_l_clamp},
    {"shf.r.wrap.b32", "wwww", shf_r_wrap},
    {"shf.r.clamp.b32", "wwww", shf_r_clamp},
    {"popc.b32", "ww", popc32},
    {"clz.b32", "ww", clz32},
    {"brev.b32", "ww", brev32},
    {"bfind.u32", "ww", bfind_u32},
    {"bfind.s32", "ww", bfind_s32},
    {"bfind.shiftamt.u32", "ww", bfind_shift_u32},
    {"prmt.b32", "wwww", prmt},
    {"bfe.u32", "wwww", bfe_u32},
    {"bfe.s32", "wwww", bfe_s32},
    {"bfi.b32", "wwwww", bfi32},
    {"lop3.b32", "wwwww", lop3},
    CARRIES32("add", "addc", "", "www", add32),
    CARRIES32("sub", "subc", "", "www", sub32),
    CARRIES32("mad", "madc", ".lo", "wwww", mad_lo32),
    {"mad.hi.cc.u32", "wwww", mad_hi_u32_cc},
    {"madc.hi.u32", "wwww", mad_hi_u32c},
    {"madc.hi.cc.u32", "wwww", mad_hi_u32c_cc},
    CARRIES64("add", "addc", "", "ddd", add64),
    CARRIES64("sub", "subc", "", "ddd", sub64),
    CARRIES64("mad", "madc", ".lo", "dddd", mad_lo64),
    {"mad.hi.cc.u64", "dddd", mad_hi_u64_cc},
    {"madc.hi.u64", "dddd", mad_hi_u64c},
    {"madc.hi.cc.u64", "dddd", mad_hi_u64c_cc},

    SIGNS64("add", "ddd", add64),
    SIGNS64("sub", "ddd", sub64),
    SIGNS64("mul.lo", "ddd", mul_lo64),
    {"mul.hi.u64", "ddd", mul_hi_u64},
    {"mul.hi.s64", "ddd", mul_hi_s64},
    SIGNS64("mad.lo", "dddd", mad_lo64),
    {"mad.hi.u64", "dddd", mad_hi_u64},
    {"div.u64", "ddd", div_u64},
    {"div.s64", "ddd", div_s64},
    {"rem.u64", "ddd", rem_u64},
    {"rem.s64", "ddd", rem_s64},
    {"min.u64", "ddd", min_u64},
    {"min.s64", "ddd", min_s64},
    {"max.u64", "ddd", max_u64},
    {"max.s64", "ddd", max_s64},
    {"neg.s64", "dd", neg64},
    {"abs.s64", "dd", abs64},
    {"and.b64", "ddd", and64},
    {"or.b64", "ddd", or64},
    {"xor.b64", "ddd", xor64},
    {"not.b64", "dd", not64},
    {"shl.b64", "ddw", shl64},
    {"shr.b64", "ddw", shr_u64},
    {"shr.u64", "ddw", shr_u64},
    {"shr.s64", "ddw", shr_s64},
    {"popc.b64", "wd", popc64},
    {"clz.b64", "wd", clz64},
    {"brev.b64", "dd", brev64},
    {"bfind.u64", "wd", bfind_u64},
    {"bfind.shiftamt.u64", "wd", bfind_shift_u64},
    {"bfe.u64", "ddww", bfe_u64},
    {"bfe.s64", "ddww", bfe_s64},
    {"bfi.b64", "dddww", bfi64},

    SIGNS16("add", "hhh", add16),
    SIGNS16("sub", "hhh", sub16),
    SIGNS16("mul.lo", "hhh", mul_lo16),
    SIGNS16("mad.lo", "hhhh", mad_lo16),
    {"mul.wide.u16", "whh", mul_wide_u16},
    {"mul.wide.s16", "whh", mul_wide_s16},
    {"min.u16", "hhh", min_u16},
    {"min.s16", "hhh", min_s16},
    {"max.u16", "hhh", max_u16},
    {"max.s16", "hhh", max_s16},
    {"neg.s16", "hh", neg16},
    {"and.b16", "hhh", and16},
    {"or.b16", "hhh", or16},
    {"xor.b16", "hhh", xor16},
    {"not.b16", "hh", not16},
    {"shl.b16", "hhw", shl16},
    {"shr.b16", "hhw", shr_u16},
    {"shr.u16", "hhw", shr_u16},
    {"shr.s16", "hhw", shr_s16},

    BITS16("mov", "hh", mov16),
    BITS32("mov", "ww", mov32),
    BITS64("mov", "dd", mov64),
    {"mov.pred", "pp", mov_pred},
    {"and.pred", "ppp", and_pred},
    {"or.pred", "ppp", or_pred},
    {"xor.pred", "ppp", xor_pred},
    {"not.pred", "pp", not_pred},
    BITS16("selp", "hhhp", selp32),
    BITS32("selp", "wwwp", selp32),
    BITS64("selp", "dddp", selp64),
    /* names of our own, for mov with vectors */
    {"pack.b64", "dww", pack64},
    {"unpack.b64", "ww<d", unpack64},
    {"pack.b32", "whh", pack32},
    {"unpack.b32", "hh<w", unpack32},

    EQUALITY("eq", eq),
    EQUALITY("ne", ne),
    COMPARE("lt", lt),
    COMPARE("le", le),
    COMPARE("gt", gt),
    COMPARE("ge", ge),
    COMPARE_UNSIGNED("lo", lt),
    COMPARE_UNSIGNED("ls", le),
    COMPARE_UNSIGNED("hi", gt),
    COMPARE_UNSIGNED("hs", ge),
    CONVERT("u8", "h", u8),
    CONVERT("s8", "h", s8),
    CONVERT("u16", "h", u16),
    CONVERT("s16", "h", s16),
    CONVERT("u32", "w", u32),
    CONVERT("s32", "w", s32),
    CONVERT("u64", "d", 64),
    CONVERT("s64", "d", 64),
    {NULL, NULL, NULL},
};
