// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/system_calls.hpp"

#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

// clang-format off
/// An attacker in a process wants one of these next; no process here does.
constexpr int kTakeOver[] = {
    SCMP_SYS(execve), SCMP_SYS(execveat),
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise), SCMP_SYS(pidfd_getfd), SCMP_SYS(kcmp),
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(move_mount), SCMP_SYS(open_tree),
    SCMP_SYS(mount_setattr), SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount),
    SCMP_SYS(fspick), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(reboot),
    SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(acct), SCMP_SYS(quotactl), SCMP_SYS(syslog),
    SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime), SCMP_SYS(sethostname), SCMP_SYS(setdomainname),
    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key),
    SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(personality),
    SCMP_SYS(modify_ldt), SCMP_SYS(mknod), SCMP_SYS(mknodat)};

/// The same, but for drivers: net_af_xdp loads a program, old devices are read by I/O ports.
constexpr int kTakeOverOrDriver[] = {SCMP_SYS(bpf), SCMP_SYS(iopl), SCMP_SYS(ioperm)};

/// Files in reach: plans, tables, captures, logs, memory of watchers, /proc and /sys.
constexpr int kFiles[] = {
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(close), SCMP_SYS(close_range), SCMP_SYS(read),
    SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(pwrite64),
    SCMP_SYS(preadv), SCMP_SYS(pwritev), SCMP_SYS(lseek), SCMP_SYS(stat), SCMP_SYS(fstat),
    SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(fstatfs),
    SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(getdents64), SCMP_SYS(unlink),
    SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2),
    SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(fadvise64), SCMP_SYS(fsync),
    SCMP_SYS(fdatasync), SCMP_SYS(flock), SCMP_SYS(fcntl), SCMP_SYS(fchmod), SCMP_SYS(fchmodat),
    SCMP_SYS(chmod), SCMP_SYS(umask), SCMP_SYS(mkdir), SCMP_SYS(rmdir), SCMP_SYS(memfd_create),
    SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3)};

/// Memory (mmap and mprotect: below), threads, time, signals to itself.
constexpr int kProcess[] = {
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(msync), SCMP_SYS(mincore),
    SCMP_SYS(brk), SCMP_SYS(mlock), SCMP_SYS(mlock2), SCMP_SYS(munlock), SCMP_SYS(mbind),
    SCMP_SYS(get_mempolicy), SCMP_SYS(set_mempolicy), SCMP_SYS(move_pages), SCMP_SYS(membarrier),
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(get_robust_list), SCMP_SYS(rseq),
    SCMP_SYS(set_tid_address), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(restart_syscall),
    SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
    SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(rt_sigpending),
    SCMP_SYS(sigaltstack), SCMP_SYS(alarm), SCMP_SYS(setitimer), SCMP_SYS(getitimer),
    SCMP_SYS(tgkill), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity), SCMP_SYS(sched_getparam), SCMP_SYS(sched_setparam),
    SCMP_SYS(sched_getscheduler), SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_get_priority_min),
    SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(getcpu), SCMP_SYS(getrandom), SCMP_SYS(uname), SCMP_SYS(sysinfo),
    SCMP_SYS(getrlimit), SCMP_SYS(prlimit64), SCMP_SYS(getrusage), SCMP_SYS(times),
    SCMP_SYS(time), SCMP_SYS(gettimeofday), SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres),
    SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep)};

/// Waiting, and sockets that are open already, packets' included.
constexpr int kWaitingAndSockets[] = {
    SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_pwait2), SCMP_SYS(eventfd2), SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime), SCMP_SYS(timerfd_gettime), SCMP_SYS(connect), SCMP_SYS(bind),
    SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(shutdown),
    SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg), SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg), SCMP_SYS(recvmmsg), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
    SCMP_SYS(setsockopt), SCMP_SYS(getsockopt)};

constexpr int kProcesses[] = {SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_send_signal)};
// clang-format on

constexpr std::uint32_t kBinaryTree = 2;

struct Release {
  void operator()(void* filter) const noexcept { seccomp_release(filter); }
};

/// A filter while it is being written.
class Filter {
 public:
  explicit Filter(std::uint32_t otherwise) : filter_(seccomp_init(otherwise)) {
    if (!filter_) throw Error("filter system calls: no memory");
    check(seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1));
    check(seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_OPTIMIZE, kBinaryTree));
    // Kernels before 4.17 have no such flag, and no such cost.
    seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_SSB, 1);
  }

  void add(std::span<const int> calls, std::uint32_t action) {
    for (const int call : calls) check(seccomp_rule_add(filter_.get(), action, call, 0));
  }
  /// Where an argument is as `what` says; else as for calls on no list.
  void allow(int call, scmp_arg_cmp what) {
    check(seccomp_rule_add_array(filter_.get(), SCMP_ACT_ALLOW, call, 1, &what));
  }
  void load() { check(seccomp_load(filter_.get())); }

 private:
  static void check(int result) {
    if (result >= 0) return;
    throw system_error("filter system calls (the kernel needs CONFIG_SECCOMP_FILTER)", -result);
  }

  std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, Release> filter_;
};

scmp_arg_cmp equal(unsigned argument, scmp_datum_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}
scmp_arg_cmp masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void allow_own(Filter& filter, const SystemCalls& wanted) {
  filter.add(kFiles, SCMP_ACT_ALLOW);
  filter.add(kProcess, SCMP_ACT_ALLOW);
  filter.add(kWaitingAndSockets, SCMP_ACT_ALLOW);
  if (wanted.processes) filter.add(kProcesses, SCMP_ACT_ALLOW);
  // No memory becomes code.
  filter.allow(SCMP_SYS(mmap), masked(2, PROT_EXEC, 0));
  filter.allow(SCMP_SYS(mprotect), masked(2, PROT_EXEC, 0));
  // Threads, not processes. What clone3 is to make stands in memory, where a filter cannot look:
  // glibc takes clone when there is none.
  filter.allow(SCMP_SYS(clone), masked(0, CLONE_THREAD, CLONE_THREAD));
  constexpr int kNewClone[] = {SCMP_SYS(clone3)};
  filter.add(kNewClone, SCMP_ACT_ERRNO(ENOSYS));
  filter.allow(SCMP_SYS(prctl), equal(0, PR_SET_NAME));
  filter.allow(SCMP_SYS(socket), equal(0, AF_UNIX));
  filter.allow(SCMP_SYS(socketpair), equal(0, AF_UNIX));
  if (!wanted.network) return;
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK}) {
    filter.allow(SCMP_SYS(socket), equal(0, static_cast<scmp_datum_t>(family)));
  }
  constexpr int kInterfaces[] = {SCMP_SYS(ioctl)};
  filter.add(kInterfaces, SCMP_ACT_ALLOW);
}

}  // namespace

void filter_system_calls(const SystemCalls& wanted) {
#if defined(MILLRACE_SANITIZE_ADDRESS) || defined(MILLRACE_SANITIZE_THREAD)
  static_cast<void>(wanted);
  return;
#endif
  Filter filter(wanted.driver ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM));
  const std::uint32_t forbidden = wanted.driver ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_KILL_PROCESS;
  filter.add(kTakeOver, forbidden);
  if (!wanted.driver) {
    filter.add(kTakeOverOrDriver, forbidden);
    allow_own(filter, wanted);
  }
  filter.load();
}

}  // namespace millrace
