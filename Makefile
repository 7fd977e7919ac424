# SPDX-License-Identifier: GPL-3.0-or-later
# `make help` lists the targets. Knobs: DEVELOPER=1 (warnings are errors), SAN=address,undefined
# or thread, V=1 (show commands), B=build (build folder; a sanitizer gets its own).

B ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
comma := ,
Q := $(if $(V),,@)
CC ?= cc
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-unused-parameter
ifdef DEVELOPER
WARN += -Werror
endif
ifdef SAN
ifneq ($(filter-out address undefined thread,$(subst $(comma), ,$(SAN))),)
$(error SAN=$(SAN): use address, undefined or thread, separated by commas)
endif
SANFLAGS := -fsanitize=$(SAN) -fno-omit-frame-pointer
endif

PKGS_MIT := libprotobuf-c openblas libmd
PKGS_GPL := sqlite3 jansson libzip ncursesw readline
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS_MIT) $(PKGS_GPL) 2>/dev/null)

VERSION := 0.1.0
CPPFLAGS += -D_GNU_SOURCE -DODB_VERSION='"$(VERSION)"' -I. -Isrc -I$(B) $(PKG_CFLAGS)
ALL_CFLAGS := -std=gnu11 $(CFLAGS) $(WARN) $(SANFLAGS) -ffp-contract=off -fno-math-errno -pthread -MMD -MP
LDFLAGS += $(SANFLAGS) -pthread
LIBS_MIT := $(shell pkg-config --libs $(PKGS_MIT) 2>/dev/null) -ldl -lm
LIBS_GPL := $(shell pkg-config --libs $(PKGS_GPL) 2>/dev/null)

MIT_SRC := $(wildcard src/base/*.c src/tensor/*.c src/model/*.c src/executor/*.c kernels/*.c)
GPL_SRC := $(wildcard src/compare/*.c src/engine/*.c src/session/*.c src/command/*.c ui/*.c)
PB_C := $(B)/onnx.pb-c.c $(B)/executor.pb-c.c
MIT_OBJ := $(MIT_SRC:%.c=$(B)/%.o) $(PB_C:.c=.o)
GPL_OBJ := $(GPL_SRC:%.c=$(B)/%.o)

# build: everything that the checkout makes by default
all: onnxdbg onnxdbg-serve

# --- building -------------------------------------------------------------------------------------

$(B)/%.pb-c.c: proto/%.proto
	@mkdir -p $(B)
	$(Q)protoc-c --proto_path=proto --c_out=$(B) $<

# Generated headers stand before anything that may include them.
$(MIT_OBJ) $(GPL_OBJ): | $(PB_C)

$(B)/%.pb-c.o: $(B)/%.pb-c.c
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -w -c $< -o $@

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@

$(B)/libonnxdbg.a: $(GPL_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/libonnxdbg-mit.a: $(MIT_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

ARCHIVES := $(B)/libonnxdbg.a $(B)/libonnxdbg-mit.a
PROGRAM := $(if $(SAN),$(B)/onnxdbg,onnxdbg)
SERVE := $(if $(SAN),$(B)/onnxdbg-serve,onnxdbg-serve)

$(PROGRAM): $(B)/src/main.o $(ARCHIVES)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS) $^ $(LIBS_GPL) $(LIBS_MIT) -o $@

$(SERVE): $(B)/src/serve.o $(B)/libonnxdbg-mit.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS) $^ -lzip $(LIBS_MIT) -o $@

# Models to test and measure with.
$(B)/gen-model: tools/gen-model.c tools/gen.c tools/gen.h $(B)/libonnxdbg-mit.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.c %.a,$^) $(LIBS_MIT) -o $@

# --- tests ----------------------------------------------------------------------------------------

UNIT_SRC := $(wildcard tests/unit/t_*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(B)/%)

$(B)/tests/unit/%: tests/unit/%.c $(ARCHIVES)
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -Itests $(LDFLAGS) $< $(ARCHIVES) $(LIBS_GPL) $(LIBS_MIT) -lcmocka -o $@

unit: $(UNIT_BIN)

-include $(MIT_OBJ:.o=.d) $(GPL_OBJ:.o=.d) $(UNIT_BIN:=.d)

clean:
	rm -rf build build-* onnxdbg onnxdbg-serve

.PHONY: all unit clean
