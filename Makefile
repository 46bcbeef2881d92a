# Pawl: one non-recursive file. Everything built lies below $(BUILD).
#
#   make            the programs            make check      every test that needs no GPU
#   make demo       the main job, shown     make format     clang-format in place
#
# SAN=address|thread builds with that sanitizer (use another BUILD with it).
# FAULT=1 builds programs whose faults tests can ask for (PAWL_FAULT), below build/fault.

FAULT ?=
BUILD ?= build$(if $(FAULT),/fault)
CC ?= gcc
OPT ?= -O2
WARN ?= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
WERROR ?=
SAN ?=
VERSION := 0.1.0

comma := ,
san_flags := $(if $(filter address,$(SAN)),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
san_flags += $(if $(filter thread,$(SAN)),-fsanitize=thread -fno-omit-frame-pointer)

CPPFLAGS += -I. -D_GNU_SOURCE -DPAWL_VERSION='"$(VERSION)"' $(if $(FAULT),-DPAWL_FAULT)
CFLAGS += -std=gnu11 $(OPT) -g $(WARN) $(if $(WERROR),-Werror) $(san_flags) -fstack-protector-strong
LDFLAGS += $(san_flags) -pthread
LDLIBS += -lrt

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SECONDARY:

all: programs

# ---------------------------------------------------------------- libraries
# A file in a folder of kernels/ is a template: compiled once for each curve and form of the mathematics; one named
# *_ifma.c for each curve, with AVX-512's flags. Files in kernels/ itself, and the plans of CUDA kernels (*_cuda.c), are
# compiled once.
curves := bn254 bls12381
x86 := $(filter x86_64%,$(shell $(CC) -dumpmachine))
forms := portable $(if $(x86),adx)
form_flags_adx := -mbmi2 -madx
form_flags_ifma := $(form_flags_adx) -mavx512f -mavx512vl -mavx512dq -mavx512bw -mavx512ifma -mprefer-vector-width=512
kernel_templates := $(filter-out %_ifma.c %_cuda.c,$(wildcard kernels/*/*.c))
ifma_templates := $(if $(x86),$(wildcard kernels/*/*_ifma.c))
kernel_objects := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard kernels/*.c kernels/*/*_cuda.c)) $(foreach c,$(curves),\
    $(foreach f,$(forms),$(patsubst %.c,$(BUILD)/obj/%.$(c).$(f).o,$(kernel_templates))) \
    $(patsubst %.c,$(BUILD)/obj/%.$(c).ifma.o,$(ifma_templates)))

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(1)/*.c))
# a daemon's library is all of its folder but main.c, so that tests can link it
library_objects = $(filter-out %/main.o,$(call objects,$(1)))

$(BUILD)/lib/kernels.a: $(kernel_objects)
$(BUILD)/lib/shm.a: $(call objects,shm)
$(BUILD)/lib/synth-worker.a: $(call library_objects,synth-worker)
$(BUILD)/lib/gpu-worker.a: $(call library_objects,gpu-worker)
$(BUILD)/lib/coordinator.a: $(call library_objects,coordinator)
$(BUILD)/lib/client.a: $(call library_objects,coordinator/client)
$(BUILD)/lib/testkey.a: $(filter-out %_test.o,$(call library_objects,tests/testkey))
$(BUILD)/lib/softcuda.a: $(filter-out %_test.o,$(call objects,tests/softcuda))
$(BUILD)/lib/%.a:
	@mkdir -p $(@D)
	@rm -f $@
	ar rcs $@ $^

# ---------------------------------------------------------------- programs
bin := $(BUILD)/bin
programs: $(bin)/coordinator $(bin)/synth-worker $(bin)/gpu-worker $(bin)/pawl $(bin)/testkey $(bin)/supervise
	$(if $(cuda_embedded),,@echo 'built without CUDA kernels')

lib = $(addprefix $(BUILD)/lib/,$(addsuffix .a,$(1)))
$(bin)/coordinator: $(BUILD)/obj/coordinator/main.o $(call lib,coordinator shm)
$(bin)/coordinator: LDLIBS += -levent -linih -ljansson -lsqlite3 -lcrypto
$(bin)/synth-worker: $(BUILD)/obj/synth-worker/main.o $(call lib,synth-worker shm kernels)
$(bin)/synth-worker: LDLIBS += -linih -lcrypto -lseccomp
$(bin)/gpu-worker: $(BUILD)/obj/gpu-worker/main.o $(call lib,gpu-worker shm kernels)
$(bin)/gpu-worker: LDLIBS += -linih -lcrypto
$(bin)/pawl: $(BUILD)/obj/coordinator/client/main.o $(call lib,client shm kernels)
$(bin)/pawl: LDLIBS += -lcurl -ljansson -linih -lcrypto
$(bin)/testkey: $(BUILD)/obj/tests/testkey/main.o $(call lib,testkey kernels)
$(bin)/supervise: conf/supervise # beside the programs, where tests look for it
	@install -D -m 0755 $< $@
link_libs = $(if $(STATIC),-Wl$(comma)-Bstatic) $(LDLIBS) $(if $(STATIC),-Wl$(comma)-Bdynamic -lm)
$(bin)/%:
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(link_libs)

# The build id: version and a hash of the headers that fix what processes share.
layout_headers := $(addprefix shm/,control.h image.h result.h seat.h slab.h trace.h wire.h)
$(BUILD)/gen/build_id.h: $(layout_headers)
	@mkdir -p $(@D)
	@printf '#define PAWL_BUILD_ID "%s-%.16s"\n' '$(VERSION)' "$$(cat $^ | sha256sum)" >$@
$(BUILD)/obj/shm/program.o: $(BUILD)/gen/build_id.h
$(BUILD)/obj/shm/program.o: CPPFLAGS += -I$(BUILD)/gen

# ---------------------------------------------------------------- compiling
compile = @mkdir -p $(@D); echo "  CC $@"; $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
define kernel_rule # CURVE FORM
$(BUILD)/obj/%.$(1).$(2).o: %.c
	$$(compile)
$(BUILD)/obj/%.$(1).$(2).o: CPPFLAGS += -DPAWL_CURVE=$(1) -DPAWL_FORM=$(2)
$(BUILD)/obj/%.$(1).$(2).o: CFLAGS += $(form_flags_$(2))
endef
$(foreach c,$(curves),$(foreach f,$(forms) ifma,$(eval $(call kernel_rule,$(c),$(f)))))
$(BUILD)/obj/kernels/%.o $(BUILD)/obj/tests/testkey/fixed_base_%.o $(BUILD)/obj/tests/bench/%.o: OPT := -O3
$(BUILD)/obj/%.o: %.c
	$(compile)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# ---------------------------------------------------------------- CUDA
# A *.cu in a folder of kernels/ is a module, compiled once a curve. The programs hold machine code for CUDA_ARCHS and the
# newest PTX that nvcc knows, for GPUs to come. CUDA=0 leaves all of it out, as does a machine without nvcc. Other builds
# (SAN=) take the modules of the build that CUDA_BUILD names.
NVCC ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
CUDA ?= $(if $(NVCC),1,0)
CUDA_BUILD ?= $(BUILD)
CUDA_ARCHS ?= 90
CUDA_ARCHS_ALL := 80 86 89 90 100 120
cuda := $(filter 1,$(CUDA))
cuda_sources := $(wildcard kernels/*/*.cu)
cuda_flags := -std=c++17 -O3 -I. --no-compress -Xcompiler -Wall
cuda_fatbins = $(foreach c,$(curves),$(patsubst %.cu,$(1)/%.$(c).fatbin,$(cuda_sources)))
ifneq ($(cuda),)
# numbers in order of size: those of three digits after those of two
cuda_known := $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch))
cuda_newest := $(shell printf '%s\n' $(cuda_known) | sort -n | tail -n 1)
endif
# one translation to PTX, for the oldest, serves the machine code of all: it takes more time than the rest
cuda_codes = $(foreach a,$(filter $(cuda_known),$(1)),-gencode \
    arch=compute_$(firstword $(filter $(cuda_known),$(1))),code=sm_$(a)) \
    -gencode arch=compute_$(cuda_newest),code=compute_$(cuda_newest)
define cuda_rule # FOLDER CURVE ARCHITECTURES
$(CUDA_BUILD)/$(1)/%.$(2).fatbin: %.cu
	@mkdir -p $$(@D); echo "  NVCC $$@"
	@$$(NVCC) $$(cuda_flags) -DPAWL_CURVE=$(2) -Xptxas -v $$(call cuda_codes,$(3)) -MMD -MF $$@.d -MT $$@ -fatbin -o $$@ $$< 2>$$@.log \
	    || { cat $$@.log; exit 1; }
endef
$(foreach c,$(curves),$(eval $(call cuda_rule,cuda,$(c),$(CUDA_ARCHS)))\
    $(eval $(call cuda_rule,cuda-all,$(c),$(CUDA_ARCHS_ALL))))
.PHONY: cuda-all
cuda-all: $(call cuda_fatbins,$(CUDA_BUILD)/cuda-all)

# gpu-worker carries the modules: a list of them for cuda_modules.c, which embeds the files.
ifneq ($(and $(cuda),$(cuda_sources)),)
cuda_embedded := $(call cuda_fatbins,$(CUDA_BUILD)/cuda)
cuda_list_line = CUDA_MODULE($(basename $(basename $(notdir $(1)))),$(patsubst .%,%,$(suffix $(basename $(1)))),"$(1)")
$(BUILD)/gen/cuda_modules.inc: $(cuda_embedded)
	@mkdir -p $(@D)
	@printf '%s\n' $(foreach f,$^,'$(call cuda_list_line,$(f))') >$@
$(BUILD)/obj/gpu-worker/cuda_modules.o: $(BUILD)/gen/cuda_modules.inc
$(BUILD)/obj/gpu-worker/cuda_modules.o: CPPFLAGS += -I$(BUILD)/gen -DPAWL_CUDA
endif

# The software driver that tests use in place of NVIDIA's; never installed.
$(BUILD)/obj/tests/softcuda/%.o: CFLAGS += -fPIC -fvisibility=hidden
$(BUILD)/obj/tests/softcuda/%.o: OPT := -O3
softcuda := $(BUILD)/softcuda/libcuda.so.1
$(softcuda): $(BUILD)/lib/softcuda.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -shared -Wl,-z,nodelete -o $@ -Wl,--whole-archive $^ -Wl,--no-whole-archive $(LDLIBS)
-include $(shell find $(CUDA_BUILD)/cuda $(CUDA_BUILD)/cuda-all -name '*.d' 2>/dev/null)

# gpu-check does what tests/gpu/run asks for on a machine with a GPU; never installed. STATIC=1 links libraries other than
# the C library's statically, so that the folder can be carried to a machine that lacks them.
gpu_check := $(BUILD)/gpu/gpu-check
$(gpu_check): $(call objects,tests/gpu) $(call lib,gpu-worker synth-worker shm kernels)
$(gpu_check): LDLIBS += -linih -lcrypto -lseccomp
$(gpu_check):
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(link_libs)
gpu-check: $(addprefix $(bin)/,coordinator synth-worker gpu-worker testkey) $(gpu_check)

# ---------------------------------------------------------------- tests
# tests/FOLDER/NAME_test.c is a program of its own, linked with that folder's library and those below it.
# *_cuda_test run kernels on the software driver: they need what nvcc made, and are skipped, visibly, without.
unit_tests := $(patsubst %.c,$(BUILD)/%,$(filter-out $(if $(x86),,%_adx_test.c %_ifma_test.c),$(wildcard tests/*/*_test.c)))
ifeq ($(cuda),)
$(filter %_cuda_test,$(unit_tests)):
	@mkdir -p $(@D)
	@printf '#!/bin/sh\necho "1..0 # SKIP built without CUDA kernels"\n' >$@; chmod 0755 $@
endif
$(BUILD)/obj/tests/kernels/%_adx_test.o: CFLAGS += $(form_flags_adx)
$(BUILD)/obj/tests/kernels/%_ifma_test.o: CFLAGS += $(form_flags_ifma)
unit-tests: $(unit_tests)
link_test = @mkdir -p $(@D); $(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS) -linih -lcmocka
$(BUILD)/tests/kernels/%_cuda_test: $(BUILD)/obj/tests/kernels/%_cuda_test.o $(call lib,softcuda kernels) \
    | $(call cuda_fatbins,$(CUDA_BUILD)/cuda)
	$(link_test)
$(BUILD)/tests/kernels/%_test: $(BUILD)/obj/tests/kernels/%_test.o $(call lib,kernels)
	$(link_test)
$(BUILD)/tests/softcuda/%_test: $(BUILD)/obj/tests/softcuda/%_test.o $(call lib,softcuda kernels)
	$(link_test)
$(BUILD)/tests/testkey/%_test: $(BUILD)/obj/tests/testkey/%_test.o $(call lib,testkey kernels)
	$(link_test)
$(BUILD)/tests/shm/%_test: $(BUILD)/obj/tests/shm/%_test.o $(call lib,shm)
	$(link_test)
$(BUILD)/tests/synth-worker/%_test: $(BUILD)/obj/tests/synth-worker/%_test.o $(call lib,synth-worker shm kernels)
	$(link_test)
$(BUILD)/tests/synth-worker/%_test: LDLIBS += -lcrypto -lseccomp
$(BUILD)/tests/gpu-worker/%_test: $(BUILD)/obj/tests/gpu-worker/%_test.o $(call lib,gpu-worker synth-worker shm kernels)
	$(link_test)
$(BUILD)/tests/gpu-worker/%_test: LDLIBS += -lcrypto -lseccomp
# these load the software driver
$(filter $(BUILD)/tests/gpu-worker/cuda_%,$(unit_tests)): | $(softcuda)
$(addprefix $(BUILD)/tests/gpu-worker/,device_cuda_test shapes_cuda_test worker_cuda_test cuda_pinning_soft_test): | $(softcuda)
$(BUILD)/tests/coordinator/%_test: $(BUILD)/obj/tests/coordinator/%_test.o $(call lib,coordinator shm)
	$(link_test)
$(BUILD)/tests/client/%_test: $(BUILD)/obj/tests/client/%_test.o $(call lib,client shm kernels)
	$(link_test)
$(BUILD)/tests/client/%_test: LDLIBS += -lcurl -ljansson -lcrypto
# these start the real programs
$(addprefix $(BUILD)/tests/coordinator/,daemon_test daemon_death_test daemon_devices_test http_test http_queue_test): | $(bin)/coordinator $(bin)/synth-worker
$(BUILD)/tests/coordinator/%_test: LDLIBS += -levent -linih -ljansson -lsqlite3 -lcrypto

# Scenarios start the real programs; each prints TAP. lib.* are their helpers.
scenarios := $(filter-out tests/scenario/lib.%,$(wildcard tests/scenario/*.sh tests/scenario/*.py))

check:
	@conf/install-deps check
	@$(MAKE) --no-print-directory -j $$(nproc) programs unit-tests $(softcuda) $(gpu_check)
	@BUILD_DIR=$(BUILD) TEST_JOBS=$$(nproc) tests/run $(scenarios) $(unit_tests)

demo:
	@conf/install-deps demo
	@$(MAKE) --no-print-directory -j $$(nproc) programs
	@BUILD_DIR=$(BUILD) conf/demo

# Times of operations and whole proofs: tests/bench/README.md. SIZES, CURVES, THREADS and RUNS bound its length; OTHER is
# another prover's command line: make bench-cpu OTHER='prover {zkey} {wtns} {proof} {public}'
bench_program := $(BUILD)/bench/operations
$(bench_program): $(addprefix $(BUILD)/obj/tests/bench/,operations.o inputs.o floors.o) $(foreach c,$(curves),\
    $(foreach f,$(forms),$(BUILD)/obj/tests/bench/product.$(c).$(f).o) \
    $(if $(x86),$(BUILD)/obj/tests/bench/product_ifma.$(c).ifma.o)) $(call lib,gpu-worker shm kernels)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)
bench-cpu:
	@$(MAKE) --no-print-directory -j $$(nproc) programs $(bench_program)
	@BUILD_DIR=$(BUILD) SIZES='$(SIZES)' CURVES='$(CURVES)' THREADS='$(THREADS)' RUNS='$(RUNS)' \
	    OTHER='$(OTHER)' tests/bench/run

# 100,000 damaged files of each kind and curve, and a hundredth of that of pos10's, under ASan and UBSan, shared out among
# the cores: an hour or more. The log of each part lies beside the program.
fuzz_count ?= 100000
fuzz_program = $(BUILD)/fuzz/tests/synth-worker/fuzz_test
fuzz-long:
	@$(MAKE) --no-print-directory -j $$(nproc) SAN=address BUILD=$(BUILD)/fuzz $(fuzz_program)
	@parts=$$(nproc); for seed in $$(seq $$parts); do \
	    PAWL_FUZZ_SEED=$$seed PAWL_FUZZ_COUNT=$$(($(fuzz_count) / parts)) PAWL_FUZZ_LONG=1 \
	        $(fuzz_program) >$(fuzz_program).$$seed.log 2>&1 & pids="$$pids $$!"; done; \
	failed=0; for pid in $$pids; do wait $$pid || failed=1; done; \
	tail -n 12 $(fuzz_program).*.log; exit $$failed

# ---------------------------------------------------------------- house
sources = $(shell git ls-files '*.c' '*.h' '*.cu')
format:
	@clang-format -i $(sources)
format-check:
	@clang-format --dry-run -Werror $(sources)

PREFIX ?= /usr/local
DESTDIR ?=
install: programs
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/doc/pawl
	install -m 0755 $(bin)/pawl $(DESTDIR)$(PREFIX)/bin/pawl
	for p in coordinator synth-worker gpu-worker; do \
	    install -m 0755 $(bin)/$$p $(DESTDIR)$(PREFIX)/bin/pawl-$$p || exit 1; done
	install -m 0755 conf/supervise $(DESTDIR)$(PREFIX)/bin/pawl-supervise
	install -m 0644 conf/pawl.ini README.md $(DESTDIR)$(PREFIX)/share/doc/pawl/

clean:
	rm -rf $(BUILD)

.PHONY: all programs gpu-check unit-tests check demo bench-cpu fuzz-long format format-check install clean
