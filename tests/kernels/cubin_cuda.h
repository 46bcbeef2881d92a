/*
 * What nvcc made of the kernels: instructions counted in the cubins of a fatbin (uncompressed), and
 * registers, stack and spills from ptxas's report beside it (FILE.log). No disassembler: a cubin is
 * ELF64 for little-endian machines, with kernel K's code in section .text.K, 16 bytes an
 * instruction, the opcode in the lowest bits. The code of functions that K calls follows in the
 * same section, with symbols of their own.
 *
 * Opcodes (the lowest 9 bits, or all 12 where memory is meant), the same on sm_80 to sm_120:
 *     0x025 IMAD.WIDE   0x027 IMAD.HI   0x024 IMAD     0x387 STL   0x983 LDL   0x944 CALL.REL
 *
 * How many threads a block may have is attribute 5 in section .nv.info.K, which __launch_bounds__
 * makes: three numbers. An attribute is a byte of form, a byte of number and two bytes; of form 4
 * these are the length of what follows.
 *
 * Reads files of our own build only; ends the program where one is not as described. No state.
 */
#ifndef PAWL_TESTS_KERNELS_CUBIN_CUDA_H
#define PAWL_TESTS_KERNELS_CUBIN_CUDA_H

#include <assert.h>
#include <elf.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct instruction_counts {
    unsigned all;
    unsigned wide; /* IMAD.WIDE and IMAD.HI: half the rate of others on sm_90 */
    unsigned low;  /* IMAD to 32 bits, which copies of registers are, too */
    unsigned local_stores, local_loads, calls;
};

struct kernel_cost {
    char module[24], curve[12], name[64];
    unsigned arch; /* 90: sm_90 */
    unsigned registers, stack_bytes, spill_bytes;
    unsigned shared_bytes; /* declared, not dynamic */
    unsigned threads_most; /* of a block; 0: no bound is declared */
    /* the kernel itself; Fq2's product and square, where it calls them; and its other functions */
    struct instruction_counts body, product, square, functions;
};

struct kernel_costs {
    struct kernel_cost *kernel;
    size_t count, most;
};

static inline void *file_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        perror(path);
    assert(file && fseek(file, 0, SEEK_END) == 0);
    const long size = ftell(file);
    char *data = size < 0 ? NULL : calloc((size_t)size + 1, 1); /* a text ends with a zero */
    assert(data && fseek(file, 0, SEEK_SET) == 0);
    assert(fread(data, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    *bytes = (size_t)size;
    return data;
}

static inline void counts_add(struct instruction_counts *counts, const unsigned char *code,
                              size_t bytes)
{
    for (size_t at = 0; at + 16 <= bytes; at += 16) {
        uint64_t word;
        memcpy(&word, code + at, sizeof(word));
        const unsigned opcode = word & 0x1ff, whole = word & 0xfff;
        counts->all++;
        counts->wide += opcode == 0x025 || opcode == 0x027;
        counts->low += opcode == 0x024;
        counts->local_stores += whole == 0x387;
        counts->local_loads += whole == 0x983;
        counts->calls += whole == 0x944;
    }
}

/* Which of a kernel's parts a symbol names. */
static inline struct instruction_counts *cost_part(struct kernel_cost *cost, const char *symbol)
{
    if (strcmp(symbol, cost->name) == 0)
        return &cost->body;
    if (strstr(symbol, "gpu_fq2_product"))
        return &cost->product;
    if (strstr(symbol, "gpu_fq2_squared"))
        return &cost->square;
    return &cost->functions;
}

struct cubin {
    const unsigned char *data;
    size_t bytes;
    const Elf64_Shdr *section;
    unsigned sections;
};

static inline const void *cubin_at(const struct cubin *cubin, uint64_t offset, uint64_t bytes)
{
    assert(offset <= cubin->bytes && bytes <= cubin->bytes - offset);
    return cubin->data + offset;
}

static inline const char *cubin_name(const struct cubin *cubin, const Elf64_Shdr *names,
                                     uint64_t at)
{
    assert(at < names->sh_size);
    const char *name = cubin_at(cubin, names->sh_offset, names->sh_size);
    assert(memchr(name + at, 0, names->sh_size - at));
    return name + at;
}

/* Counts all functions whose code lies in section `number`; the body's count had theirs, too. */
static inline void cubin_count_section(const struct cubin *cubin, const Elf64_Shdr *symbols,
                                       unsigned number, struct kernel_cost *cost)
{
    const Elf64_Shdr *text = &cubin->section[number];
    const unsigned char *code = cubin_at(cubin, text->sh_offset, text->sh_size);
    const Elf64_Sym *symbol = cubin_at(cubin, symbols->sh_offset, symbols->sh_size);
    size_t functions_bytes = 0;
    for (uint64_t i = 0; i < symbols->sh_size / sizeof(*symbol); i++) {
        if (symbol[i].st_shndx != number || ELF64_ST_TYPE(symbol[i].st_info) != STT_FUNC)
            continue;
        const char *name = cubin_name(cubin, &cubin->section[symbols->sh_link], symbol[i].st_name);
        struct instruction_counts *part = cost_part(cost, name);
        assert(symbol[i].st_value + symbol[i].st_size <= text->sh_size);
        if (part == &cost->body)
            continue;
        counts_add(part, code + symbol[i].st_value, symbol[i].st_size);
        functions_bytes += symbol[i].st_size;
    }
    assert(functions_bytes <= text->sh_size);
    counts_add(&cost->body, code, text->sh_size - functions_bytes); /* which come last */
}

static inline struct kernel_cost *costs_new(struct kernel_costs *costs)
{
    if (costs->count == costs->most) {
        costs->most = 2 * costs->most + 64;
        costs->kernel = realloc(costs->kernel, costs->most * sizeof(*costs->kernel));
        assert(costs->kernel);
    }
    memset(&costs->kernel[costs->count], 0, sizeof(*costs->kernel));
    return &costs->kernel[costs->count++];
}

/* The bound of a kernel's block; 0 where the section has none. */
static inline unsigned cubin_threads_most(const struct cubin *cubin, const Elf64_Shdr *info)
{
    enum { LENGTH_FOLLOWS = 4, MAX_THREADS = 5 };
    const unsigned char *data = cubin_at(cubin, info->sh_offset, info->sh_size);
    uint32_t size[3];
    uint16_t length;
    for (uint64_t at = 0; at + 4 <= info->sh_size; at += 4 + length) {
        memcpy(&length, data + at + 2, sizeof(length));
        if (data[at] != LENGTH_FOLLOWS)
            length = 0;
        assert(length <= info->sh_size - at - 4);
        if (data[at] == LENGTH_FOLLOWS && data[at + 1] == MAX_THREADS) {
            assert(length == sizeof(size));
            memcpy(size, data + at + 4, sizeof(size));
            return size[0] * size[1] * size[2];
        }
    }
    return 0;
}

/* What section .nv.info.K says of kernel K, one of those from `first` on. */
static inline void cubin_read_info(struct kernel_costs *costs, size_t first,
                                   const struct cubin *cubin, const Elf64_Shdr *names)
{
    for (unsigned i = 0; i < cubin->sections; i++) {
        const char *name = cubin_name(cubin, names, cubin->section[i].sh_name);
        for (size_t k = first; k < costs->count && strncmp(name, ".nv.info.", 9) == 0; k++)
            if (strcmp(name + 9, costs->kernel[k].name) == 0)
                costs->kernel[k].threads_most = cubin_threads_most(cubin, &cubin->section[i]);
    }
}

static inline void cubin_read(struct kernel_costs *costs, const struct kernel_cost *of,
                              const void *data, size_t bytes)
{
    const Elf64_Ehdr *header = data;
    assert(bytes >= sizeof(*header) && memcmp(data, ELFMAG, SELFMAG) == 0);
    struct cubin cubin = {.data = data, .bytes = bytes, .sections = header->e_shnum};
    cubin.section = cubin_at(&cubin, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
    const Elf64_Shdr *names = &cubin.section[header->e_shstrndx], *symbols = NULL;
    const size_t first = costs->count;
    for (unsigned i = 0; i < cubin.sections; i++)
        if (cubin.section[i].sh_type == SHT_SYMTAB)
            symbols = &cubin.section[i];
    assert(symbols);
    for (unsigned i = 0; i < cubin.sections; i++) {
        const char *name = cubin_name(&cubin, names, cubin.section[i].sh_name);
        if (strncmp(name, ".text.", 6) != 0)
            continue;
        struct kernel_cost *cost = costs_new(costs);
        *cost = *of;
        snprintf(cost->name, sizeof(cost->name), "%s", name + 6);
        cubin_count_section(&cubin, symbols, i, cost);
    }
    cubin_read_info(costs, first, &cubin, names);
}

/* The images in a fatbin: a header of 16 bytes, then entries of their own header and contents. */
static inline void fatbin_read(struct kernel_costs *costs, struct kernel_cost *of, const char *path)
{
    enum { ELF_IMAGE = 2 };
    size_t bytes;
    unsigned char *data = file_read(path, &bytes);
    uint32_t header_bytes, arch;
    uint64_t image_bytes;
    uint16_t kind;
    for (size_t at = 16; at + 32 <= bytes; at += header_bytes + image_bytes) {
        memcpy(&kind, data + at, 2);
        memcpy(&header_bytes, data + at + 4, 4);
        memcpy(&image_bytes, data + at + 8, 8);
        memcpy(&arch, data + at + 28, 4);
        assert(header_bytes >= 32 && header_bytes <= bytes - at);
        assert(image_bytes <= bytes - at - header_bytes);
        of->arch = arch;
        if (kind == ELF_IMAGE)
            cubin_read(costs, of, data + at + header_bytes, image_bytes);
    }
    free(data);
}

static inline struct kernel_cost *costs_find(const struct kernel_costs *costs,
                                             const struct kernel_cost *like)
{
    for (size_t i = 0; i < costs->count; i++) {
        struct kernel_cost *cost = &costs->kernel[i];
        if (cost->arch == like->arch && strcmp(cost->name, like->name) == 0 &&
            strcmp(cost->curve, like->curve) == 0)
            return cost;
    }
    return NULL;
}

/* "... Used 60 registers, used 1 barriers, 33808 bytes smem": 0 where it names none. */
static inline unsigned report_shared_bytes(const char *line)
{
    unsigned bytes = 0;
    int end = 0; /* set where all of the text was found */
    while (!end && (line = strchr(line, ',')))
        sscanf(line++, ", %u bytes smem%n", &bytes, &end);
    return end ? bytes : 0;
}

/* ptxas -v: an entry's lines, and those of the functions that it calls, follow its name. */
static inline void report_read(const struct kernel_costs *costs, struct kernel_cost *of,
                               const char *path)
{
    size_t bytes;
    char *text = file_read(path, &bytes), *rest = text, *line;
    struct kernel_cost *cost = NULL;
    unsigned stack, stores, loads, registers;
    while ((line = strsep(&rest, "\n"))) {
        if (sscanf(line, "ptxas info : Compiling entry function '%63[^']' for 'sm_%u", of->name,
                   &of->arch) == 2)
            cost = costs_find(costs, of);
        if (!cost)
            continue;
        if (sscanf(line, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads",
                   &stack, &stores, &loads) == 3) {
            cost->stack_bytes += stack;
            cost->spill_bytes += stores + loads;
        }
        if (sscanf(line, "ptxas info : Used %u registers", &registers) == 1) {
            cost->registers = registers;
            cost->shared_bytes = report_shared_bytes(line);
        }
    }
    free(text);
}

/* Adds what lies below `folder` as kernels/OPERATION/MODULE.CURVE.fatbin; returns how many files.
 */
static inline size_t costs_read(struct kernel_costs *costs, const char *folder)
{
    char path[4096];
    glob_t found;
    snprintf(path, sizeof(path), "%s/kernels/*/*.fatbin", folder);
    if (glob(path, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct kernel_cost of = {.arch = 0};
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        assert(sscanf(name, "%23[^.].%11[^.].fatbin", of.module, of.curve) == 2);
        fatbin_read(costs, &of, found.gl_pathv[i]);
        snprintf(path, sizeof(path), "%s.log", found.gl_pathv[i]);
        report_read(costs, &of, path);
    }
    const size_t files = found.gl_pathc;
    globfree(&found);
    return files;
}

#endif
