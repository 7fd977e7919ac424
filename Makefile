# SPDX-License-Identifier: GPL-3.0-or-later
# `make help` lists the targets. Knobs: DEVELOPER=1 (warnings are errors), SAN=address,undefined
# or SAN=thread (a build folder of its own), SIMD=sse2, fma, avx2 or avx512f (loops for those
# instructions only), CROSS=aarch64-linux-gnu- (`serve` for another processor, on an older Debian), V=1
# (show commands), B=folder (where objects go).

.DEFAULT_GOAL := all
comma := ,
empty :=
space := $(empty) $(empty)
TRIPLET := $(CROSS:-=)
ifdef CROSS # a folder of its own, whatever is said
override B := build-$(TRIPLET)
endif
B ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(SIMD),-$(SIMD))
Q := $(if $(V),,@)
CC ?= cc
# This processor's, for packages: they run on older Debians too.
NATIVE := $(shell uname -m)-linux-gnu-
ifdef CROSS # with the C library and the libraries of an older Debian: tools/cross.sh
ifneq ($(filter-out serve clean help $(if $(filter $(NATIVE),$(CROSS)),all stage install),$(or $(MAKECMDGOALS),all)),)
$(error CROSS=$(CROSS) is for `make serve`)
endif
ROOT := vendor/cross/$(TRIPLET)
CC := $(ROOT)/cc
AR := $(CROSS)ar
endif
CFLAGS ?= -O2 -g
SHARED ?= ../shared
JOBS ?= $(shell nproc)
TIER ?= check

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wconversion \
        -Wsign-conversion -Wfloat-conversion -Wformat=2 -Wundef -Wpointer-arith -Walloca \
        -Wold-style-definition -Wnested-externs -Wredundant-decls -Wdate-time \
        -Wno-unused-parameter -Wno-missing-field-initializers -Wduplicated-cond -Wlogical-op
ifneq ($(findstring clang,$(CC)),) # which fuzzes, and means other things by conversions
WARN := $(filter-out -Wconversion -Wsign-conversion -Wfloat-conversion -Wduplicated-cond \
                     -Wlogical-op,$(WARN)) -Wno-format-nonliteral -Wno-format-zero-length
endif
ifdef DEVELOPER
WARN += -Werror
endif
ifdef SAN
ifneq ($(filter-out address undefined thread,$(subst $(comma),$(space),$(SAN))),)
$(error SAN=$(SAN): use address, undefined or thread, separated by commas)
endif
# gcc's "undefined" leaves numbers out that an integer cannot hold; clang's has them.
UNDEFINED := undefined,float-cast-overflow
SANFLAGS := -fsanitize=$(subst undefined,$(UNDEFINED),$(SAN)) -fno-omit-frame-pointer \
            $(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=$(UNDEFINED))
endif

# A mistake in reading a file ends the program: the file must not take control of it. The
# sanitizers look closer than FORTIFY_SOURCE, which gets in their way.
X86 := $(filter x86_64%,$(or $(TRIPLET),$(shell $(CC) -dumpmachine)))
HARDEN := -fPIE -fstack-protector-strong -fstack-clash-protection \
          $(if $(X86),-fcf-protection) \
          $(if $(SAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARDEN_LINK := -pie -Wl,-z,relro,-z,now
# What is small is cleared and copied by plain moves: string instructions take longer to begin.
MOVES := unrolled_loop:512:noalign$(comma)libcall:-1:noalign
STRINGS := $(if $(X86),$(if $(findstring clang,$(CC)),,$\
           -mmemset-strategy=$(MOVES) -mmemcpy-strategy=$(MOVES)))
# The same source gives the same bytes wherever it is built.
SAME := -ffile-prefix-map=$(CURDIR)=.

# The child program links the MIT part only.
PKGS_MIT := libprotobuf-c libmd libzip jansson libpcre2-8
PKGS_GPL := sqlite3 ncursesw readline xlsxwriter
PKGS_TESTS := openblas
LIBS_CROSS_MIT := $(addprefix -l:lib,protobuf-c.a md.a zip.a jansson.a pcre2-8.a z.a)
LIBS_CROSS_GPL := $(addprefix -l:lib,sqlite3.a ncursesw.a readline.a tinfo.a xlsxwriter.a)
VERSION := 0.1.0
RELEASED := November 22, 2026
SIMD_BYTES_sse2 := 16
SIMD_BYTES_fma := 16
SIMD_BYTES_avx2 := 32
SIMD_BYTES_avx512f := 64
SIMD_PRODUCT_sse2 := PLAIN
SIMD_PRODUCT_fma := FMA
SIMD_PRODUCT_avx2 := AVX2
SIMD_PRODUCT_avx512f := AVX512
ifdef SIMD
ifeq ($(SIMD_BYTES_$(SIMD)),)
$(error SIMD=$(SIMD): use sse2, fma, avx2 or avx512f)
endif
endif
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DODB_VERSION='"$(VERSION)"' -DODB_DATE='"$(RELEASED)"' \
            -I. -Isrc -Iinclude -I$(B) \
            $(if $(CROSS),,$(shell pkg-config --cflags $(PKGS_MIT) $(PKGS_GPL) 2>/dev/null)) \
            $(if $(SIMD),-DODB_SIMD_ONLY='"$(SIMD:avx2=avx2,fma)"' \
                -DODB_SIMD_ONLY_BYTES=$(SIMD_BYTES_$(SIMD)) -DODB_SIMD_ONLY_WIDTH=v$(SIMD_BYTES_$(SIMD)) \
                -DODB_SIMD_ONLY_PRODUCT=ODB_PRODUCT_$(SIMD_PRODUCT_$(SIMD)))
ALL_CFLAGS = -std=gnu11 $(CFLAGS) $(WARN) $(HARDEN) $(SAME) $(SANFLAGS) -ffp-contract=off -fno-math-errno \
             -fno-trapping-math $(STRINGS) -pthread -MMD -MP
LDFLAGS += $(HARDEN_LINK) $(SANFLAGS) -pthread
SO_LDFLAGS = $(filter-out -pie,$(LDFLAGS))
LIBS_MIT := $(if $(CROSS),$(LIBS_CROSS_MIT),$(shell pkg-config --libs $(PKGS_MIT) 2>/dev/null)) -ldl -lm
LIBS_GPL := $(if $(CROSS),$(LIBS_CROSS_GPL),$(shell pkg-config --libs $(PKGS_GPL) 2>/dev/null))
# What was linked in, for the list of parts.
LINK_MAP = $(if $(CROSS),-Wl$(comma)-Map=$@.map)

# What is missing is said once, before a compiler says it a hundred times.
ifneq ($(filter-out setup demo realbugs check check-quick check-all clean help,$(or $(MAKECMDGOALS),all)),)
MISSING := $(shell for p in $(if $(CROSS),,$(PKGS_MIT) $(if $(filter serve,$(MAKECMDGOALS)),,$(PKGS_GPL))) \
                    $(if $(filter unit check-built check-unit,$(MAKECMDGOALS)),$(PKGS_TESTS)); do \
                pkg-config --exists $$p 2>/dev/null || printf '%s ' $$p; done; \
            for p in $(or $(CROSS:%-=%-gcc),$(CC)) protoc-c; do command -v $$p >/dev/null || printf '%s ' $$p; done)
ifneq ($(strip $(MISSING)),)
$(error not installed: $(strip $(MISSING)); run `make setup`)
endif
endif

# The rooms of the house and their licences: one archive of each licence.
rooms_of = $(shell awk '$$2 == "$(1)" {print $$1}' tools/rooms.tsv)
MIT_SRC := $(wildcard $(addsuffix /*.c,$(call rooms_of,MIT)))
GPL_SRC := $(wildcard $(addsuffix /*.c,$(call rooms_of,GPL)))
PB_C := $(B)/onnx.pb-c.c $(B)/executor.pb-c.c
MIT_OBJ := $(MIT_SRC:%.c=$(B)/%.o) $(PB_C:.c=.o)
GPL_OBJ := $(GPL_SRC:%.c=$(B)/%.o)
ARCHIVES := $(B)/libonnxdbg.a $(B)/libonnxdbg-mit.a
PROGRAM := $(if $(filter build,$(B)),onnxdbg,$(B)/onnxdbg)
SERVE := $(if $(filter build,$(B)),onnxdbg-serve,$(B)/onnxdbg-serve)

## all: the program ./onnxdbg and its child ./onnxdbg-serve
all: $(PROGRAM) $(SERVE)

## serve: the child alone, for another processor too (CROSS=aarch64-linux-gnu- and the like)
serve: $(SERVE)

## setup: install what building and testing need (apt packages, ONNX Runtime from npm)
setup:
	$(Q)tools/setup.sh

## realbugs: fetch the runtimes that published bugs are replayed on (npm; 400 MB in vendor/runtimes)
realbugs: $(B)/older-cpu.so
	$(Q)tools/runtimes.sh

# --- building -------------------------------------------------------------------------------------

$(B)/%.pb-c.c $(B)/%.pb-c.h: proto/%.proto
	@mkdir -p $(B)
	$(Q)protoc-c --proto_path=proto --c_out=$(B) $<

# Texts as strings in the program, line by line: the key file, the pages that reports and fleets are
# put into, the words of the node's pane.
embed = $(Q)mkdir -p $(B) && { echo 'static const char $(1)[] ='; \
            sed 's/["\\]/\\&/g; s/^/"/; s/$$/\\n"/' $^; echo ';'; } > $@
TEXT_HEADERS := $(addprefix $(B)/,onnxdbgrc.h report_page.h fleet_page.h words.h topic_rows.h)

$(B)/onnxdbgrc.h: share/onnxdbgrc
	$(call embed,keymap_builtin)
$(B)/report_page.h: share/report.html
	$(call embed,publish_page)
$(B)/fleet_page.h: share/fleet.html
	$(call embed,html_page)
$(B)/words.h: $(sort $(wildcard share/words/*))
	$(call embed,meaning_words)
# A row for each page about no command: its name behind "onnxdbg-", and its line.
$(B)/topic_rows.h: $(sort $(wildcard man/onnxdbg-*.7))
	$(Q)mkdir -p $(B) && sed -n -e '/^\.Nm onnxdbg-/{s/.Nm onnxdbg-/{"/;s/ *,*$$/", /;h;}' \
	    -e '/^\.Nd /{s/^.Nd //;s/["\\]/\\&/g;s/.*/"&"},/;H;x;s/\n//;p;}' $^ > $@

# Generated headers stand before anything that may include them.
# The demo model is in the program, for its tour; gen-model needs nothing that needs it.
$(B)/demo_model.h: $(B)/demo.onnx
	@mkdir -p $(@D)
	$(Q)(echo 'static const unsigned char tour_model[] = {'; \
	     od -An -v -tu1 $< | sed 's/ *\([0-9][0-9]*\)/\1,/g'; echo '};') >$@

$(B)/src/command/shell/verb_tour.o: | $(B)/demo_model.h
ifdef CROSS
$(MIT_OBJ) $(GPL_OBJ) $(B)/src/main.o $(B)/src/serve.o: | $(ROOT)/complete
$(ROOT)/complete: tools/cross.sh
	$(Q)tools/cross.sh $(TRIPLET)
endif
$(MIT_OBJ) $(GPL_OBJ) $(B)/src/main.o $(B)/src/serve.o: | $(PB_C) $(TEXT_HEADERS)

$(B)/%.pb-c.o: $(B)/%.pb-c.c
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -w -c $< -o $@

# Loops over elements are worth vectorising.
$(B)/kernels/%.o $(B)/src/tensor/%.o $(B)/src/compare/%.o: CFLAGS += -O3

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@

$(B)/libonnxdbg.a: $(GPL_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/libonnxdbg-mit.a: $(MIT_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(PROGRAM): $(B)/src/main.o $(ARCHIVES)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS) $(LINK_MAP) $^ $(LIBS_GPL) $(LIBS_MIT) -o $@

# What the child looks for beside itself lies there, in other build folders by a link.
$(SERVE): $(B)/src/serve.o $(B)/libonnxdbg-mit.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS) $(LINK_MAP) $^ $(LIBS_MIT) -o $@
	$(Q)[ -e $(@D)/share ] || ln -s $(CURDIR)/share $(@D)/share

# Models to test and measure with.
$(B)/gen-model: tools/gen-model.c tools/gen.c tools/gen_decoder.c tools/gen.h tools/gen_int.h \
                $(B)/libonnxdbg-mit.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.c %.a,$^) $(LIBS_MIT) -o $@

$(B)/demo.onnx: $(B)/gen-model
	$(Q)$< demo $@

# --- demo -----------------------------------------------------------------------------------------

## demo: find a planted fault in a small model, from a bare Debian 12; on a terminal, on the screen
demo: setup
	$(Q)$(MAKE) -s --no-print-directory -j$(JOBS) all $(B)/demo.onnx
	$(Q)tools/demo.sh $(abspath $(PROGRAM)) $(B)/demo.onnx

## picture: draw the README's pictures, and its film, from real runs (needs ONNX Runtime)
picture: all $(B)/drive $(B)/demo.onnx
	$(Q)tools/picture.sh $(B) doc

# --- tests ----------------------------------------------------------------------------------------

# A test stands in the folder that its source has; the programs lie in one.
UNIT_SRC := $(shell find tests/unit -name 't_*.c' | LC_ALL=C sort)
UNIT_BIN := $(patsubst %.c,$(B)/tests/unit/%,$(notdir $(UNIT_SRC)))
vpath t_%.c $(sort $(dir $(UNIT_SRC)))
# Where a test stood before, which what was built of it still names.
tests/unit/%.c: ;

# OpenBLAS is a second opinion on products; the programs do without it.
$(B)/tests/unit/t_product: CPPFLAGS += $(shell pkg-config --cflags $(PKGS_TESTS) 2>/dev/null)
$(B)/tests/unit/t_product: LIBS_GPL += $(shell pkg-config --libs $(PKGS_TESTS) 2>/dev/null)

# Tests that compute much are optimised as the program is; the others compile in half the time.
UNIT_CFLAGS = $(if $(filter $(<F),$(notdir $(KERNEL_TESTS)) $(FAST_TESTS)),$(ALL_CFLAGS),$(patsubst \
    -O2,-Og,$(ALL_CFLAGS)))
FAST_TESTS := t_dtype_exhaustive.c t_conformance.c t_search.c t_product.c

.SECONDARY: $(B)/tests/help/filter.o
$(B)/tests/unit/t_%: t_%.c $(B)/tests/help/filter.o $(ARCHIVES)
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(UNIT_CFLAGS) $(LDFLAGS) $< $(B)/tests/help/filter.o $(ARCHIVES) \
	    $(LIBS_GPL) $(LIBS_MIT) -lcmocka -o $@

# Executors in shared libraries: the example, and one that does everything wrong.
$(B)/tests/unit/t_conformance: $(B)/tiny_executor.so
$(B)/tests/unit/t_plugin: $(B)/wrong_executor.so

$(B)/%_executor.so: include/onnxdbg/executor.h include/onnxdbg/types.h
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(ALL_CFLAGS) -Iinclude -fPIC -shared $(filter %.c,$^) $(SO_LDFLAGS) -lm -o $@

$(B)/tiny_executor.so: examples/tiny_executor/tiny_executor.c
$(B)/wrong_executor.so: tests/plugin/wrong_executor.c

$(B)/planted $(B)/race: $(B)/%: tests/planted/%.c $(ARCHIVES)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $< $(ARCHIVES) $(LIBS_GPL) $(LIBS_MIT) -o $@

$(B)/versus: $(wildcard tests/versus/*.c tests/versus/*.h) $(B)/libonnxdbg-mit.a
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.c %.a,$^) $(LIBS_MIT) -o $@

# Makes this processor an older one to what runs under it.
$(B)/older-cpu.so: tests/cpu/older_cpu.c
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(filter-out $(SANFLAGS),$(ALL_CFLAGS)) -fPIC -shared \
	    $(filter-out $(SANFLAGS),$(SO_LDFLAGS)) $< -ldl -o $@

# An ONNX Runtime that is given other models than the program gives it.
$(B)/broken-ort.so: tests/quantised/broken_ort.c
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(filter-out $(SANFLAGS),$(ALL_CFLAGS)) -fPIC -shared \
	    $(filter-out $(SANFLAGS),$(SO_LDFLAGS)) $< -ldl -o $@

$(B)/json-get: tests/json_get.c
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $< $(LIBS_MIT) -o $@

# Drives a full-screen program as a person would.
$(B)/drive: $(wildcard tests/screen/*.c tests/screen/*.h)
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(shell pkg-config --cflags vterm 2>/dev/null) $(LDFLAGS) \
	    $(filter %.c,$^) $(shell pkg-config --libs vterm 2>/dev/null) -o $@

$(B)/screen-models: tests/screen/models/models.c $(B)/libonnxdbg-mit.a
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.c %.a,$^) $(LIBS_MIT) -o $@

# Stands in for onnx-mlir, whose compiler is not packaged: bin/ and lib/ as there.
STAND_INS := $(foreach year,2020 2021 2026,$(B)/mlir/lib/stand-in-$(year).so)

$(B)/mlir/bin/onnx-mlir: tests/mlir/compiler.c tests/mlir/stand_in.h $(B)/libonnxdbg-mit.a $(STAND_INS)
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.c %.a,$^) $(LIBS_MIT) -o $@

$(B)/mlir/lib/stand-in-%.so: tests/mlir/library.c tests/mlir/stand_in.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -DSTAND_IN=$* -shared -fPIC $(SO_LDFLAGS) $< -o $@

$(B)/tests/unit/t_onnx_mlir $(B)/tests/unit/t_conformance: | $(B)/mlir/bin/onnx-mlir

# Harnesses of fuzzing, each with a main() that replays files: tests/fuzz/README.md.
FUZZ_SHARED := tests/fuzz/fuzz.c tests/fuzz/replay.c tests/fuzz/runs.c
FUZZ_NAMES := $(patsubst tests/fuzz/%.c,%,$(filter-out $(FUZZ_SHARED),$(wildcard tests/fuzz/*.c)))
FUZZ_BIN := $(FUZZ_NAMES:%=$(B)/fuzz/%)

$(FUZZ_BIN): $(B)/fuzz/%: tests/fuzz/%.c $(FUZZ_SHARED) tests/fuzz/fuzz.h $(ARCHIVES)
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -Itests/fuzz $(LDFLAGS) $(FUZZ_LINK) \
	    $(filter-out $(FUZZ_WITHOUT),$(filter %.c,$^)) $(ARCHIVES) $(LIBS_GPL) $(LIBS_MIT) -o $@

# One harness with a fuzzer of clang's, or of AFL++.
HARNESS ?= onnx
TIME ?= 600
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_MODE := -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION

## fuzz: one harness under libFuzzer (HARNESS=onnx TIME=600, in seconds; needs clang)
fuzz:
	$(Q)$(MAKE) --no-print-directory B=build-fuzz CC="$(FUZZ_CCACHE) clang" \
	    CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link $(FUZZ_SAN) $(FUZZ_MODE)" \
	    LDFLAGS="$(FUZZ_SAN) $(LDFLAGS)" FUZZ_LINK=-fsanitize=fuzzer \
	    FUZZ_WITHOUT=tests/fuzz/replay.c \
	    build-fuzz/fuzz/$(HARNESS)
	$(Q)B=build-fuzz tests/fuzz/run $(HARNESS) $(TIME)

## fuzz-afl: the same under AFL++ (needs afl++)
fuzz-afl:
	$(Q)AFL_USE_ASAN=1 AFL_USE_UBSAN=1 $(MAKE) --no-print-directory B=build-afl \
	    CC=afl-clang-fast CFLAGS="-O1 -g -fno-omit-frame-pointer $(FUZZ_MODE)" \
	    FUZZ_LINK=-fsanitize=fuzzer FUZZ_WITHOUT=tests/fuzz/replay.c build-afl/fuzz/$(HARNESS)
	$(Q)B=build-afl tests/fuzz/run-afl $(HARNESS) $(TIME)

## fuzz-coverage: lines of the sources that a harness's corpus reaches (needs clang, llvm)
fuzz-coverage:
	$(Q)$(MAKE) --no-print-directory B=build-cover CC="$(FUZZ_CCACHE) clang" \
	    CFLAGS="-O1 -g -fprofile-instr-generate -fcoverage-mapping" build-cover/fuzz/$(HARNESS)
	$(Q)B=build-cover tests/fuzz/coverage $(HARNESS)

TESTS_NEED := $(FUZZ_BIN) $(B)/planted $(B)/versus $(B)/json-get $(B)/drive $(B)/screen-models $(B)/gen-model \
              $(B)/demo.onnx

## check: the tests; ends with "N passed, N failed, N skipped" (CASE=NAME: one program or case)
check: setup
## check-quick: lint, unit tests that take less than a second each, and command lines
check-quick: setup
## check-all: every test at its full length
check-all: setup
check check-quick check-all:
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) check-built TIER=$(@:check-%=%)

ifneq ($(filter check-built,$(MAKECMDGOALS)),)
CHECKED := $(shell B=$(B) ONNXDBG_TIER=$(TIER) CASE='$(CASE)' tests/run --list)
endif
check-built: all $(sort $(filter $(B)/%,$(CHECKED))) $(if $(filter tests/%,$(CHECKED)),$(TESTS_NEED))
	$(Q)B=$(B) ONNXDBG_SHARED=$(SHARED) ONNXDBG_TIER=$(TIER) CASE='$(CASE)' tests/run

## unit: build the unit tests
unit: $(UNIT_BIN)

## check-unit: only the unit tests
check-unit: all unit
	$(Q)B=$(B) ONNXDBG_SHARED=$(SHARED) tests/run $(UNIT_BIN)

# What clang's sanitizers know of numbers and pointers beyond gcc's: a pointer moved out of its object,
# or a null pointer moved at all, is found where it is made, and not where it is read.
ARITHMETIC := integer-divide-by-zero,float-cast-overflow,pointer-overflow
ARITHMETIC_SAN := -fsanitize=$(ARITHMETIC) -fno-sanitize-recover=$(ARITHMETIC)
KERNEL_TESTS = $(shell grep -lE 'help/(op_case|op_call|schemas)\.h"|"kernels/' $(UNIT_SRC))

## check-arithmetic: the kernels' tests under clang's sanitizers of numbers and pointers (needs clang)
check-arithmetic:
	$(Q)$(MAKE) --no-print-directory B=build-arithmetic CC="$(FUZZ_CCACHE) clang" \
	    CFLAGS="-O1 -g -fno-omit-frame-pointer $(ARITHMETIC_SAN)" \
	    LDFLAGS="$(ARITHMETIC_SAN) $(LDFLAGS)" check-kernels
check-kernels: all $(patsubst %.c,$(B)/tests/unit/%,$(notdir $(KERNEL_TESTS))) $(FUZZ_BIN)
	$(Q)UBSAN_OPTIONS=print_stacktrace=1 B=$(B) ONNXDBG_SHARED=$(SHARED) \
	    tests/run $(patsubst %.c,$(B)/tests/unit/%,$(notdir $(KERNEL_TESTS))) tests/check-fuzz tests/check-cases

$(B)/speed: tests/bench/speed.c $(ARCHIVES)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $< $(ARCHIVES) $(LIBS_GPL) $(LIBS_MIT) -o $@

## check-widths: the same bits with vectors of any width; builds the child once for each
check-widths: all
	$(Q)B=$(B) ONNXDBG_SHARED=$(SHARED) tests/widths

$(B)/families: tests/bench/families.c $(B)/libonnxdbg-mit.a
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $< $(filter %.a,$^) $(LIBS_MIT) \
	    -lcmocka -o $@

## bench-widths: what wider registers are worth to each family of kernels; builds for each set
bench-widths:
	$(Q)B=$(B) tests/bench-widths

## bench-kernels: one inference by the reference and by ONNX Runtime: time and memory, side by side
bench-kernels: all $(B)/speed $(B)/gen-model $(B)/older-cpu.so
	$(Q)B=$(B) SIMD=$(SIMD) ONNXDBG_SHARED=$(SHARED) tests/bench-kernels

$(B)/bench-compare: tests/bench/compare.c $(ARCHIVES)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $< $(ARCHIVES) $(LIBS_GPL) $(LIBS_MIT) -o $@

## bench-compare: how fast tensors are compared, against memory and NumPy
bench-compare: all $(B)/bench-compare
	$(Q)B=$(B) tests/bench-compare

bench: bench-kernels bench-compare

$(B)/bench-targets: tests/bench/targets.c tests/help/sshd_help.h $(ARCHIVES)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.c %.a,$^) $(LIBS_GPL) \
	    $(LIBS_MIT) -o $@

## bench-targets: what it costs that a target is another process, here or behind ssh
bench-targets: all $(B)/bench-targets $(B)/gen-model
	$(Q)B=$(B) ONNXDBG_SHARED=$(SHARED) tests/bench-targets

## bench-search: planted faults in generated and real models, other ways to search, and what each costs
bench-search: all $(TESTS_NEED) $(B)/race
	$(Q)B=$(B) ONNXDBG_SHARED=$(SHARED) tests/bench-search

## bench-realbugs: published bugs on the runtimes that have them: who is named (CASES="NAME …")
bench-realbugs: all $(B)/older-cpu.so
	$(Q)B=$(B) ONNXDBG_SHARED=$(SHARED) tests/bench-realbugs

## bench-runtimes: real models on real runtimes, and whom each search accuses: known or new
bench-runtimes: all $(B)/older-cpu.so
	$(Q)B=$(B) ONNXDBG_SHARED=$(SHARED) tests/bench-runtimes

## bench-screen: what a start, a key and a screen cost, for large models
bench-screen: all $(B)/drive $(B)/gen-model
	$(Q)B=$(B) ONNXDBG_SHARED=$(SHARED) tests/bench-screen

## versus: random calls of every operator, the reference against ONNX Runtime (VERSUS=OPTIONS)
versus: all $(B)/versus
	$(Q)ONNXDBG_SERVE=$(abspath $(SERVE)) $(B)/versus --cases 2000 $(VERSUS)

HEADERS = $(filter-out %.body.h %.real.h,$(wildcard include/onnxdbg/*.h tools/*.h \
                $(addsuffix /*.h,$(call rooms_of,MIT) $(call rooms_of,GPL))))

## reproducible: build what is committed twice, far apart, and compare the programs
reproducible:
	$(Q)tests/reproducible

## reproducible-deb: the same of the Debian packages (needs debhelper and fakeroot)
reproducible-deb:
	$(Q)tests/reproducible deb

## reproducible-packages: the same of the archive and the wheel, with the libraries in them (needs cmake)
reproducible-packages:
	$(Q)tests/reproducible tar wheel

## check-headers: every header compiles alone
check-headers: $(HEADERS:%=$(B)/%.ok)

$(B)/%.h.ok: %.h | $(PB_C)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -Werror -fsyntax-only -x c -include $< /dev/null
	@touch $@

## lint: the rules of the house that a machine can hold
lint: $(PB_C)
	$(Q)B=$(B) tests/check-lint

# --- analysis -------------------------------------------------------------------------------------

ANALYZED := $(MIT_SRC) $(GPL_SRC) $(wildcard src/*.c tools/*.c)
# Paths through a function are followed where it pays: by gcc not in kernels and views, and by clang,
# which takes ten times as long, where files of others are read. memcpy_s() is no function of
# glibc's; and in one file alone every vector that is empty looks like a null pointer.
ANALYZED_GCC := $(filter-out kernels/% ui/% tools/% src/command/%,$(ANALYZED))
ANALYZED_DEEP := src/base/% src/system/% src/model/% src/executor/programs/command_executor.c src/dump/dump_info.c \
                 src/inputs/input_file.c
TIDY_DEEP := clang-analyzer-*,-clang-analyzer-core.NullDereference,$\
             -clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling
ANALYZE_FLAGS = $(CPPFLAGS) -std=gnu11 \
                $(if $(filter src/base/error.c,$*.c),,-include tools/analyze/failure.h)

## analyze: gcc -fanalyzer, clang-tidy and cppcheck over the sources: nothing, but what is listed
analyze: $(ANALYZED:%=$(B)/analyze/%.gcc) $(ANALYZED:%=$(B)/analyze/%.tidy) $(B)/analyze/cppcheck
	$(Q)awk -v root='$(CURDIR)' -f tools/analyze/findings.awk tools/analyze/exceptions.tsv $^

# What was found in a file is kept until the file, or what it includes, has changed.
$(B)/analyze/%.c.gcc: %.c tools/analyze/failure.h | $(PB_C) $(TEXT_HEADERS) \
                      $(B)/demo_model.h
	@mkdir -p $(@D)
	@echo "  GCC   $<"
	$(Q)LC_ALL=C gcc $(ANALYZE_FLAGS) -O1 $(if $(filter $(ANALYZED_GCC),$<),-fanalyzer) \
	    -fdiagnostics-path-format=none -MMD -MP -MT $@ -MF $(@:.gcc=.d) -c $< -o /dev/null 2>$@.part \
	    || { cat $@.part; false; }
	$(Q)mv $@.part $@

$(B)/analyze/%.c.tidy: $(B)/analyze/%.c.gcc .clang-tidy
	@echo "  TIDY  $*.c"
	$(Q)clang-tidy --quiet $(if $(filter $(ANALYZED_DEEP),$*.c),'--checks=$(TIDY_DEEP)') $*.c \
	    -- $(ANALYZE_FLAGS) >$@.part 2>/dev/null || { cat $@.part; false; }
	$(Q)mv $@.part $@

$(B)/analyze/cppcheck: $(ANALYZED) $(addprefix tools/analyze/,cppcheck.h demo_model.h) \
                       | $(PB_C) $(TEXT_HEADERS)
	@mkdir -p $(@D)
	@echo "  CPPCHECK"
	$(Q)cppcheck --quiet -j $(JOBS) --std=c11 --enable=warning,performance,portability \
	    --include=tools/analyze/cppcheck.h -D__GNUC__=12 -D__x86_64__ -D_GNU_SOURCE -I. -Isrc \
	    -Iinclude -Itools/analyze -I$(B) --suppress='*:$(B)/*' --suppress=missingIncludeSystem \
	    --template='{file}:{line}:{column}: {severity}: {message} [{id}]' $(ANALYZED) 2>$@.part
	$(Q)mv $@.part $@

# Lines and branches that tests run. Nothing is inlined away (gcc refuses that below -O2), loops are
# there for vectors of one width, counts of threads are exact, and what leaves by _exit() writes its
# own down; what is killed does not.
COVERED := src kernels ui
COVER = $(MAKE) --no-print-directory B=build-coverage SIMD=avx2 SAME= \
        CFLAGS="-O2 -g --coverage -fprofile-update=atomic -fno-inline" \
        LDFLAGS="$(LDFLAGS) --coverage -Wl,--wrap=_exit $(CURDIR)/build-coverage/exit.o"
COVER_TESTS ?= $(UNIT_BIN:$(B)/%=build-coverage/%) tests/check-cli tests/check-hostile tests/check-fuzz

## coverage: lines and branches that tests run, and what none runs (COVER_TESTS=PROGRAMS; needs gcovr)
coverage: build-coverage/exit.o
	$(Q)$(COVER) -j$(JOBS) all unit $(TESTS_NEED:$(B)/%=build-coverage/%)
	$(Q)find build-coverage -name '*.gcda' -delete
	$(Q)B=build-coverage ONNXDBG_SHARED=$(SHARED) tests/run $(COVER_TESTS) || true
	$(Q)gcovr --root . --object-directory build-coverage $(COVERED:%=--filter %/) -j$(JOBS) \
	    --exclude-unreachable-branches --json build-coverage/coverage.json build-coverage
	$(Q)python3 tests/coverage/report.py build-coverage/coverage.json

build-coverage/exit.o: tests/coverage/exit.c
	@mkdir -p $(@D)
	$(Q)$(CC) -O1 -fPIC -c $< -o $@

# --- installing -----------------------------------------------------------------------------------

PREFIX ?= /usr/local
ZSH_DIR ?= share/zsh/site-functions# below PREFIX; Debian's zsh looks elsewhere below /usr
PKG_PREFIX = $(PREFIX)
STRIP =# 1: symbols stay here
DUMP_LINKS = dump_full dump_list dump_once dump_range
INSTALL_SHELLS = share/bash-completion/completions/onnxdbg $(ZSH_DIR)/_onnxdbg \
                 share/fish/vendor_completions.d/onnxdbg.fish
# What tools/setup.sh has fetched is where installed programs look for it. RUNTIME=: nothing is.
RUNTIME = $(wildcard vendor/node_modules/onnxruntime-node/bin/napi-v6/linux/$(RUNTIME_ARCH)/*.so.1)
RUNTIME_ARCH = $(if $(filter aarch64,$(shell uname -m)),arm64,x64)
INSTALL_DIRS = $(addprefix $(DESTDIR)$(PREFIX)/,bin include/onnxdbg share/pkgconfig share/man/man1 \
                                                share/man/man7 share/doc/onnxdbg \
                                                share/onnxdbg/python share/onnxdbg/node \
                                                $(dir $(INSTALL_SHELLS)))

define PKG_CONFIG
prefix=$(PKG_PREFIX)
includedir=$${prefix}/include

Name: onnxdbg
Description: headers for executors and kernels that the onnxdbg debugger loads
Version: $(VERSION)
Cflags: -I$${includedir}
endef
export PKG_CONFIG

## install: the programs, the public headers and the manual below PREFIX (/usr/local), or DESTDIR
install: all
	$(Q)install -d $(INSTALL_DIRS)
	$(Q)install $(if $(STRIP),-s) $(PROGRAM) $(SERVE) $(DESTDIR)$(PREFIX)/bin
	$(Q)install -m 644 NEWS $(DESTDIR)$(PREFIX)/share/doc/onnxdbg
	$(Q)install -m 644 include/onnxdbg/*.h $(DESTDIR)$(PREFIX)/include/onnxdbg
	$(Q)install -m 644 man/*.7 $(DESTDIR)$(PREFIX)/share/man/man7
	$(Q)install -m 644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	$(Q)$(abspath $(PROGRAM)) manual --save=$(DESTDIR)$(PREFIX)/share/man
	$(Q)set -- bash zsh fish; for file in $(INSTALL_SHELLS); do \
	    $(abspath $(PROGRAM)) completion $$1 >$(DESTDIR)$(PREFIX)/$$file; shift; done
	$(Q)install -m 644 share/python/*.py $(DESTDIR)$(PREFIX)/share/onnxdbg/python
	$(Q)install -m 644 share/node/*.js $(DESTDIR)$(PREFIX)/share/onnxdbg/node
	$(Q)[ -z "$(RUNTIME)" ] || \
	    install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/onnxdbg $(RUNTIME)
	$(Q)for name in $(DUMP_LINKS); do \
	    ln -sf ../../bin/onnxdbg $(DESTDIR)$(PREFIX)/share/onnxdbg/$$name; done
	$(Q)echo "$$PKG_CONFIG" > $(DESTDIR)$(PREFIX)/share/pkgconfig/onnxdbg.pc

## uninstall: remove what install put below the same PREFIX and DESTDIR
uninstall:
	$(Q)cd $(DESTDIR)$(PREFIX) && rm -f bin/onnxdbg bin/onnxdbg-serve share/pkgconfig/onnxdbg.pc \
	    share/man/man1/onnxdbg.1 share/man/man1/onnxdbg-*.1 share/man/man7/onnxdbg-*.7 \
	    $(INSTALL_SHELLS)
	$(Q)cd $(DESTDIR)$(PREFIX) && rm -rf include/onnxdbg share/onnxdbg share/doc/onnxdbg lib/onnxdbg

# --- packages -------------------------------------------------------------------------------------

DIST = $(B)/onnxdbg-$(VERSION).tar.gz

## dist: the sources of the last commit, as build/onnxdbg-VERSION.tar.gz
dist: $(DIST)

.PHONY: $(DIST)
$(DIST):
	@mkdir -p $(B)
	$(Q)git archive --format=tar --prefix=onnxdbg-$(VERSION)/ HEAD | gzip -n9 >$@.part
	$(Q)mv $@.part $@

## deb: a Debian package of the last commit, in build/deb (needs debhelper and fakeroot)
deb: $(DIST)
	$(Q)rm -rf $(B)/deb && mkdir -p $(B)/deb && tar -C $(B)/deb -xzf $(DIST)
	$(Q)cd $(B)/deb/onnxdbg-$(VERSION) && env -u MAKEFLAGS dpkg-buildpackage -us -uc -b \
	    -j$(JOBS) >../log 2>&1 || { tail -n 40 ../log; exit 1; }
	$(Q)rm -rf $(B)/deb/onnxdbg-$(VERSION) && ls $(B)/deb/*.deb

# What the archive and the wheel have in common: all that is installed, with the libraries inside the
# programs, which need the C library of Debian 11 or a newer one; the licences; the list of the parts.
STAGE = $(B)/stage
RELEASED_SECONDS = $(shell date -u -d '$(RELEASED)' +%s)

.PHONY: stage
stage: all
	$(Q)rm -rf $(STAGE) && umask 022 && $(MAKE) --no-print-directory install DESTDIR=$(STAGE) PREFIX= RUNTIME= \
	    STRIP=1 PKG_PREFIX='$$$${pcfiledir}/../..'
	$(Q)install -d $(STAGE)/share/doc/onnxdbg/licenses
	$(Q)install -m 644 LICENSES/* $(STAGE)/share/doc/onnxdbg/licenses
	$(Q)tools/sbom.py $(ROOT) $(B) $(STAGE) $(VERSION) $(RELEASED_SECONDS)

TAR_NAME = onnxdbg-$(VERSION)-$(NATIVE:%-gnu-=%)

.PHONY: staged
staged:
	$(Q)$(MAKE) --no-print-directory CROSS=$(NATIVE) stage
	$(Q)mkdir -p $(B)

## tar: an archive that runs where it is unpacked, on Debian 11 or what is newer, in build (needs cmake)
tar: staged
	$(Q)tar -C $(NATIVE:%-=build-%)/stage --sort=name --format=ustar --owner=0 --group=0 --numeric-owner \
	    --mode=u+rwX,go+rX,go-w --mtime=@$(RELEASED_SECONDS) --transform='s,^\.,$(TAR_NAME),S' -c . | \
	    gzip -n9 >$(B)/$(TAR_NAME).tar.gz.part
	$(Q)mv $(B)/$(TAR_NAME).tar.gz.part $(B)/$(TAR_NAME).tar.gz && ls $(B)/$(TAR_NAME).tar.gz

## wheel: the package for Python with both programs, in build (needs python3-build, python3-wheel, cmake)
wheel: staged
	$(Q)tools/wheel.sh $(NATIVE:%-=build-%)/stage $(B) $(RELEASED_SECONDS)

## clean: remove what was built (not what setup installed)
clean:
	rm -rf build build-* onnxdbg onnxdbg-serve

## help: this list
help:
	@sed -n 's/^## //p' Makefile

-include $(MIT_OBJ:.o=.d) $(GPL_OBJ:.o=.d) $(UNIT_BIN:=.d) $(B)/src/main.d $(B)/src/serve.d \
         $(B)/tests/help/filter.d $(B)/planted.d $(B)/race.d $(ANALYZED:%=$(B)/analyze/%.d)

.PHONY: all analyze coverage setup demo picture check check-built unit check-unit check-widths check-arithmetic check-kernels bench bench-compare bench-kernels bench-realbugs bench-runtimes bench-search bench-screen bench-targets bench-widths fuzz fuzz-afl fuzz-coverage versus reproducible reproducible-deb reproducible-packages check-headers lint install uninstall \
        dist deb tar wheel clean help check-quick check-all
