/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which build of the child runs on another machine, as its file tells: the processor, and the
 * versions of the C library that its symbols name.
 */
#include "deploy/deploy.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/sha256.h"
#include "executor/transport/target.h"
#include "system/file.h"

/* What uname says, and what that makes of a program. A processor of 64 bits may have a system of
 * 32: the loader tells. */
static const struct deploy_machine {
    const char *name, *triplet, *loader;
    Elf64_Half elf; /* at the same place in files of 32 bits */
} deploy_machines[] = {
    {"x86_64", "x86_64-linux-gnu", "/ld-linux-x86-64.so.2", EM_X86_64},
    {"aarch64", "aarch64-linux-gnu", "/ld-linux-aarch64.so.1", EM_AARCH64},
    {"arm64", "aarch64-linux-gnu", "/ld-linux-aarch64.so.1", EM_AARCH64},
    {"riscv64", "riscv64-linux-gnu", "/ld-linux-riscv64-lp64d.so.1", EM_RISCV},
    {"armv7l", "arm-linux-gnueabihf", "/ld-linux-armhf.so.3", EM_ARM},
    {"armv8l", "arm-linux-gnueabihf", "/ld-linux-armhf.so.3", EM_ARM},
    {"aarch64", "arm-linux-gnueabihf", "/ld-linux-armhf.so.3", EM_ARM},
};

static const struct deploy_machine *deploy_machine(const char *name, const char *loaders)
{
    const struct deploy_machine *found = NULL;
    for (size_t i = 0; i < ODB_COUNT(deploy_machines); i++) {
        const struct deploy_machine *machine = &deploy_machines[i];
        if (strcmp(machine->name, name) != 0)
            continue;
        if (strstr(loaders, machine->loader))
            return machine;
        found = found ? found : machine;
    }
    return found;
}

void odb_deploy_build_dispose(struct odb_deploy_build *build)
{
    free(build->path);
    free(build->data);
    *build = (struct odb_deploy_build){0};
}

/* --- a file ----------------------------------------------------------------------------------- */

static bool deploy_read_all(struct odb_deploy_build *build)
{
    FILE *f = fopen(build->path, "rb");
    bool read = f && fseek(f, 0, SEEK_END) == 0 && ftell(f) > (long)sizeof(Elf64_Ehdr);
    if (read) {
        build->size = (size_t)ftell(f);
        build->data = odb_xcalloc(build->size, 1);
        rewind(f);
        read = fread(build->data, 1, build->size, f) == build->size;
    }
    if (f)
        fclose(f);
    return read;
}

/* The newest glibc that its symbols name. */
static int deploy_needs(const struct odb_deploy_build *build)
{
    static const char mark[] = "GLIBC_2.";
    const char *at = build->data, *end = at + build->size;
    int newest = 0;
    while ((at = memmem(at, (size_t)(end - at), mark, strlen(mark)))) {
        int minor = 0;
        for (at += strlen(mark); at < end && *at >= '0' && *at <= '9' && minor < 1000; at++)
            minor = minor * 10 + (*at - '0');
        newest = ODB_MAX(newest, minor);
    }
    return newest;
}

/* Takes the path over; false, and nothing in out: there is no such build. */
static bool deploy_look(struct odb_deploy_build *out, char *path,
                        const struct deploy_machine *machine)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX sha;
    *out = (struct odb_deploy_build){.path = path};
    const Elf64_Ehdr *head = odb_file_is_regular(path) && deploy_read_all(out) ? out->data : NULL;
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_machine != machine->elf) {
        odb_deploy_build_dispose(out);
        return false;
    }
    SHA256Init(&sha);
    odb_sha256_update(&sha, out->data, out->size);
    SHA256Final(digest, &sha);
    odb_hex(digest, sizeof digest, out->sum);
    out->libc = deploy_needs(out);
    return true;
}

/* --- which ------------------------------------------------------------------------------------ */

static bool deploy_search(struct odb_deploy_build *out, const struct deploy_machine *machine)
{
    static const char *const places[] = {"build-%s/onnxdbg-serve", "../build-%s/onnxdbg-serve",
                                         "onnxdbg-serve-%s", "../libexec/onnxdbg-serve-%s"};
    struct utsname here;
    char *self = odb_file_self(), *slash = self ? strrchr(self, '/') : NULL;
    bool found = false;
    for (size_t i = 0; slash && i < ODB_COUNT(places) && !found; i++) {
        const char *mark = strstr(places[i], "%s");
        found = deploy_look(out,
                            odb_xasprintf("%.*s/%.*s%s%s", (int)(slash - self), self,
                                          (int)(mark - places[i]), places[i], machine->triplet,
                                          mark + 2),
                            machine);
    }
    free(self);
    if (found || uname(&here) < 0 || strcmp(here.machine, machine->name) != 0)
        return found;
    char *own = odb_target_program();
    char *path = strchr(own, '/') ? odb_xstrdup(own) : odb_file_in_path(own);
    free(own);
    return path && deploy_look(out, path, machine);
}

static enum odb_status deploy_no_machine(const struct odb_deploy_facts *facts, const char *name,
                                         struct odb_error *err)
{
    bool arm = !strncmp(name, "arm", 3); /* armv6l and older */
    odb_fail(err, ODB_E_EXECUTOR, "no onnxdbg-serve can be made for its processor, %s",
             name[0] ? name : "which it does not name");
    return odb_error_remedy(err, "%s",
                            arm ? "of ARM there are aarch64 and armv7l, with Debian's armhf"
                                : "there are x86_64, aarch64, armv7l and riscv64");
}

static enum odb_status deploy_no_libc(const struct odb_deploy_facts *facts,
                                      const struct deploy_machine *machine, struct odb_error *err)
{
    odb_fail(err, ODB_E_EXECUTOR, "it has no glibc for %s (%s): there %s %s", machine->name,
             machine->loader + 1, odb_deploy_fact(facts, "loader")[0] ? "is" : "is no",
             odb_deploy_fact(facts, "loader")[0] ? odb_deploy_fact(facts, "loader")
                                                 : "other C library");
    return odb_error_remedy(err, "onnxdbg-serve runs there in a container that has one, behind "
                                 "via:COMMAND");
}

/* Whether its C library is new enough; what it does not say is left for the start to find out. */
static enum odb_status deploy_judge(const struct odb_deploy_build *build,
                                    const struct odb_deploy_facts *facts,
                                    const struct deploy_machine *machine, struct odb_error *err)
{
    int libc = odb_deploy_libc(odb_deploy_fact(facts, "libc"));
    if (!libc || libc >= build->libc)
        return ODB_OK;
    odb_fail(err, ODB_E_EXECUTOR, "it has glibc 2.%d, and %s needs 2.%d", libc, build->path,
             build->libc);
    if (strstr(build->path, machine->triplet))
        return odb_error_remedy(err, "run it there in a container with a newer system, behind "
                                     "via:COMMAND");
    return odb_error_remedy(err, "make one that needs less: make serve CROSS=%s-",
                            machine->triplet);
}

enum odb_status odb_deploy_find(struct odb_deploy_build *out, const struct odb_link *link,
                                const struct odb_deploy_facts *facts, struct odb_error *err)
{
    const char *name = odb_deploy_fact(facts, "machine");
    const char *system = odb_deploy_fact(facts, "system");
    const struct deploy_machine *machine = deploy_machine(name, odb_deploy_fact(facts, "loader"));
    enum odb_status status = ODB_OK;
    *out = (struct odb_deploy_build){0};
    if (strcmp(system, "Linux") != 0)
        status = odb_fail(err, ODB_E_EXECUTOR, "it runs %s, and onnxdbg-serve needs Linux",
                          system[0] ? system : "a system that does not name itself");
    else if (!machine)
        status = deploy_no_machine(facts, name, err);
    else if (!strstr(odb_deploy_fact(facts, "loader"), machine->loader))
        status = deploy_no_libc(facts, machine, err);
    else if (!deploy_search(out, machine)) {
        status = odb_fail(err, ODB_E_EXECUTOR, "no onnxdbg-serve for %s is here", machine->name);
        odb_error_remedy(err, "make one in onnxdbg's source: make serve CROSS=%s-",
                         machine->triplet);
    } else
        status = deploy_judge(out, facts, machine, err);
    if (status == ODB_OK) {
        out->triplet = machine->triplet;
        return ODB_OK;
    }
    odb_error_at(err, "%s", link->where);
    odb_deploy_build_dispose(out);
    return status;
}
