/*
 * testkey: proving keys of any size for tests and benchmarks, in seconds and without a ceremony.
 *
 *     testkey --curve bn128|bls12381 --profile dense|bits --log2 N --seed S --out DIR
 *
 * Writes key.zkey, circuit.r1cs, w1.wtns, w2.wtns and vkey.json into DIR, which it makes; the same
 * arguments give the same bytes. The toxic waste is known to all: a proof under such a key proves
 * nothing. Never installed. A SIGKILL leaves files cut short.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/threads.h"
#include "tests/testkey/output.h"
#include "tests/testkey/profiles.h"

static const char usage[] =
    "usage: testkey --curve bn128|bls12381 --profile dense|bits --log2 N --seed S --out DIR\n"
    "Writes a Groth16 key whose secrets are known, a circuit and two witnesses: for tests only.\n";

struct options {
    const struct curve *curve;
    void (*profile)(struct circuit *circuit, const struct curve *curve, unsigned log2,
                    uint64_t seed);
    unsigned log2;
    uint64_t seed;
    const char *out;
};

static void usage_fail(const char *option, const char *value)
{
    fprintf(stderr, "testkey: --%s cannot be %s\n%s", option, value, usage);
    exit(64);
}

static uint64_t number_parse(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || value < least || value > most)
        usage_fail(option, text);
    return value;
}

static void option_apply(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "curve") == 0) {
        options->curve = curve_by_name(value);
        if (!options->curve)
            usage_fail(name, value);
    } else if (strcmp(name, "profile") == 0) {
        if (strcmp(value, "dense") != 0 && strcmp(value, "bits") != 0)
            usage_fail(name, value);
        options->profile = value[0] == 'd' ? profile_dense_make : profile_bits_make;
    } else if (strcmp(name, "log2") == 0) {
        options->log2 = (unsigned)number_parse(name, value, LOG2_MIN, LOG2_MAX);
    } else if (strcmp(name, "seed") == 0) {
        options->seed = number_parse(name, value, 0, UINT64_MAX);
    } else {
        options->out = value;
    }
}

static struct options options_parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"curve", required_argument, NULL, 'o'}, {"profile", required_argument, NULL, 'o'},
        {"log2", required_argument, NULL, 'o'},  {"seed", required_argument, NULL, 'o'},
        {"out", required_argument, NULL, 'o'},   {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},     {NULL, 0, NULL, 0}};
    struct options options = {.curve = NULL};
    int option, index = 0;
    while ((option = getopt_long(argc, argv, "", known, &index)) != -1) {
        if (option == 'h' || option == 'v') {
            fputs(option == 'h' ? usage : "testkey " PAWL_VERSION "\n", stdout);
            exit(0);
        }
        if (option != 'o') {
            fputs(usage, stderr);
            exit(64);
        }
        option_apply(&options, known[index].name, optarg);
    }
    if (!options.curve || !options.profile || !options.log2 || !options.out || optind < argc) {
        fputs(usage, stderr);
        exit(64);
    }
    return options;
}

/* ---- witnesses ---- */

/* How far a witness of bits is from the shares of a real one: 43.5 % ones; publics that are bits do
 * not do. */
static double witness_distance(const struct circuit *circuit, const struct scalar *witness)
{
    const struct scalar one = scalar_from(circuit->curve, 1), zero = {{0}};
    size_t ones = 0;
    for (uint32_t wire = 0; wire < circuit->wires; wire++)
        ones += (size_t)scalar_equal(&witness[wire], &one);
    for (uint32_t wire = 1; wire <= circuit->publics; wire++) {
        if (scalar_equal(&witness[wire], &one) || scalar_equal(&witness[wire], &zero))
            return 1;
    }
    double share = (double)ones / circuit->wires - 0.435;
    return share < 0 ? -share : share;
}

/* Of small circuits a witness may miss the shares by chance: the first seed of some that does not.
 */
static void witness_make(const struct circuit *circuit, struct scalar *witness, uint64_t seed)
{
    uint64_t best_seed = seed;
    double best = 2;
    for (int i = 0; circuit->inputs_are_bits && i < 400 && best > 0.006; i++, seed += 2) {
        circuit_make_witness(circuit, witness, seed);
        double distance = witness_distance(circuit, witness);
        if (distance < best) {
            best = distance;
            best_seed = seed;
        }
    }
    circuit_make_witness(circuit, witness, best_seed);
    for (uint32_t wire = 0; wire < circuit->wires; wire++)
        witness[wire] = scalar_plain(circuit->curve, &witness[wire]);
}

static void witnesses_write(const struct options *options, const struct circuit *circuit)
{
    struct scalar *witness = memory_resize(NULL, circuit->wires, sizeof(*witness));
    witness_make(circuit, witness, options->seed * 1000 + 1);
    write_witness(options->out, "w1.wtns", options->curve, witness, circuit->wires);
    witness_make(circuit, witness, options->seed * 1000 + 2);
    write_witness(options->out, "w2.wtns", options->curve, witness, circuit->wires);
    free(witness);
}

static struct parallel threads_all(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return threads_make(cores < 1 ? 1 : cores > 32 ? 32 : (unsigned)cores);
}

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv);
    struct parallel parallel = threads_all();
    struct circuit circuit;
    struct setup setup;
    struct key_points key;
    if (mkdir(options.out, 0777) && errno != EEXIST) {
        fprintf(stderr, "testkey: %s cannot be made: %s\n", options.out, strerror(errno));
        return 73;
    }
    options.profile(&circuit, options.curve, options.log2, options.seed);
    witnesses_write(&options, &circuit);
    write_r1cs(options.out, &circuit);
    setup_make(&setup, &circuit, options.log2, ~options.seed, &parallel);
    write_zkey(options.out, &circuit, &setup, &key, &parallel);
    write_verification_key(options.out, &circuit, &key);
    setup_free(&setup);
    circuit_free(&circuit);
    free(key.ic);
    return 0;
}
