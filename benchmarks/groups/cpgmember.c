// A member of a group of corosync CPG with agreed (total) order:  cpgmember MEMBERS SIZE SECONDS send|listen
// It begins when all are there, warms up for 3 s, and then counts what it gets, its own messages included, for so many seconds.
#include <corosync/cpg.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

static cpg_handle_t handle;
static size_t members;
static long got;
static char message[1 << 20];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void deliver(cpg_handle_t h, const struct cpg_name *group, uint32_t node, uint32_t pid, void *bytes, size_t length) {
    (void)h, (void)group, (void)node, (void)pid, (void)bytes, (void)length;
    got++;
}

static void change(cpg_handle_t h, const struct cpg_name *group, const struct cpg_address *all, size_t count,
                   const struct cpg_address *left, size_t left_count, const struct cpg_address *joined, size_t joined_count) {
    (void)h, (void)group, (void)all, (void)left, (void)left_count, (void)joined, (void)joined_count;
    members = count;
}

static void turn(int milliseconds) {
    int file;
    cpg_fd_get(handle, &file);
    struct pollfd one = {file, POLLIN, 0};
    if (poll(&one, 1, milliseconds) > 0) cpg_dispatch(handle, CS_DISPATCH_ALL);
}

static void send_one(size_t size) {
    struct iovec part = {message, size};
    cs_error_t error;
    while ((error = cpg_mcast_joined(handle, CPG_TYPE_AGREED, &part, 1)) == CS_ERR_TRY_AGAIN) {
        struct timespec pause = {0, 20000};
        cpg_dispatch(handle, CS_DISPATCH_ALL);
        nanosleep(&pause, 0);
    }
    if (error != CS_OK) printf("mcast %d\n", error), exit(1);
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    size_t all = atol(arguments[1]), size = atol(arguments[2]);
    int sends = !strcmp(arguments[4], "send");
    cpg_callbacks_t callbacks = {deliver, change};
    struct cpg_name group = {.length = 2, .value = "qs"};
    if (cpg_initialize(&handle, &callbacks) != CS_OK || cpg_join(handle, &group) != CS_OK) return puts("no cpg"), 1;
    while (members < all) turn(100);
    double from = now() + 3, until = from + atof(arguments[3]), end = until + 1;
    long before = -1, after = -1;
    for (long i = 0; now() < end; i++) {
        if (sends) send_one(size);
        if (!sends || !(i & 15)) turn(sends ? 0 : 10);
        if (before < 0 && now() >= from) before = got, from = now();
        if (after < 0 && now() >= until) after = got, until = now();
    }
    printf("rate %.0f\n", (after - before) / (until - from));
    return 0;
}
