/*
 * The table of pawl's commands: what each takes, and what its help says.
 */
#include "coordinator/client/commands.h"
#include "coordinator/client/options.h"
#include "coordinator/client/service.h"

#define JSON_OPTION                                                                                \
    {                                                                                              \
        "--json", OPTION_FLAG, NULL, "print JSON"                                                  \
    }
#define END                                                                                        \
    {                                                                                              \
        0                                                                                          \
    }

static const struct option_spec prove_options[] = {
    {"--device", OPTION_VALUE, "auto|cpu|cuda:N",
     "what proves (default auto: a GPU that is fit, or the CPU)"},
    {"--threads", OPTION_VALUE, "N", "of the CPU device (default: every CPU allowed)"},
    {"--cache", OPTION_VALUE, "DIR|none", "where compiled keys are kept (default ~/.cache/pawl)"},
    SERVICE_OPTIONS,
    JSON_OPTION,
    END};
static const struct option_spec json_option[] = {JSON_OPTION, END};
static const struct option_spec add_options[] = {
    {"--r1cs", OPTION_VALUE, "FILE",
     "the constraints: a witness that breaks one is refused by its number"},
    {"--program", OPTION_VALUE, "FILE",
     "the witness program (ELF, with FILE.dat): jobs may have inputs (.json)"},
    SERVICE_OPTIONS,
    JSON_OPTION,
    END};
static const struct option_spec remove_options[] = {
    {"--force", OPTION_FLAG, NULL, "also with jobs waiting for it"},
    SERVICE_OPTIONS,
    JSON_OPTION,
    END};
static const struct option_spec service_options[] = {SERVICE_OPTIONS, JSON_OPTION, END};
static const struct option_spec submit_options[] = {
    {"--priority", OPTION_VALUE, "WORD", "low, normal, high or critical"},
    {"--lane", OPTION_VALUE, "NAME", "the lane (default: the smallest that fits)"},
    {"--deadline", OPTION_VALUE, "S", "seconds after which the job fails"},
    {"--wait", OPTION_FLAG, NULL, "wait for the end"},
    {"--out", OPTION_VALUE, "DIR", "with --wait: where proofs and public signals go"},
    {"--key", OPTION_VALUE, "TEXT", "idempotency key: the same job however often it is sent"},
    SERVICE_OPTIONS,
    JSON_OPTION,
    END};
static const struct option_spec job_options[] = {
    {"--wait", OPTION_FLAG, NULL, "wait for the end"},
    {"--out", OPTION_VALUE, "DIR", "where proofs and public signals go"},
    SERVICE_OPTIONS,
    JSON_OPTION,
    END};
static const struct option_spec trace_options[] = {
    {"--seconds", OPTION_VALUE, "N", "only the last N seconds"},
    SERVICE_OPTIONS,
    JSON_OPTION, /* what it prints is JSON anyway */
    END};
static const struct option_spec healthz_options[] = {
    {"--timeout", OPTION_VALUE, "S", "seconds to wait for an answer (default 10)"},
    SERVICE_OPTIONS,
    END};

const struct command commands[] = {
    {"prove", "KEY.zkey WITNESS.wtns PROOF.json PUBLIC.json",
     "Prove with processes of its own, or with --socket by the running service.", prove_options, 4,
     4, command_prove, 0},
    {"fullprove", "INPUT.json PROGRAM KEY.zkey PROOF.json PUBLIC.json",
     "As prove, with the witness that PROGRAM makes of the input.", prove_options, 5, 5,
     command_fullprove, 0},
    {"verify", "VKEY.json PUBLIC.json PROOF.json",
     "Check a proof: prints \"OK!\" (exit 0) or \"Invalid proof\" (exit 1).", json_option, 3, 3,
     command_verify, 0},
    {"vkey", "KEY.zkey VKEY.json", "Write the verification key, as snarkjs exports it.", 0, 2, 2,
     command_vkey, 0},
    {"circuit add", "NAME KEY.zkey", "Add a proving key, and wait until it is compiled.",
     add_options, 2, 2, command_circuit_add, 0},
    {"circuit list", "", "List the service's circuits.", service_options, 0, 0,
     command_circuit_list, 0},
    {"circuit remove", "NAME", "Remove a circuit.", remove_options, 1, 1, command_circuit_remove,
     0},
    {"submit", "NAME FILE...",
     "Submit a job, a partition for each file (witness.wtns or input.json), and print its id.",
     submit_options, 2, -1, command_submit, 0},
    {"job", "ID", "Show a job.", job_options, 1, 1, command_job, 0},
    {"jobs", "", "List the newest jobs.", service_options, 0, 0, command_jobs, 0},
    {"cancel", "ID", "Cancel a job.", service_options, 1, 1, command_cancel, 0},
    {"status", "", "Show lanes, workers, jobs and counters.", service_options, 0, 0, command_status,
     0},
    {"trace", "", "Print the trace (Chrome Trace Event JSON, for Perfetto).", trace_options, 0, 0,
     command_trace, 0},
    {"healthz", "", "Ask whether the coordinator answers.", healthz_options, 0, 0, command_healthz,
     1},
    {"top", "", "", 0, 0, -1, 0, 1},
    {"doctor", "",
     "Look at limits, devices and places; exit 71 where something keeps Pawl from working.",
     service_options, 0, 0, command_doctor, 0},
    {"plan", "", "", 0, 0, -1, 0, 1},
    {0}};
