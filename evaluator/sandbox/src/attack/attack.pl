# Run in a sandbox: tries to get out in every way that is known, harms nothing
# where it succeeds, and prints for each try `NAME<tab>held|escaped<tab>DETAIL`.
# What can be seen from outside is judged there.
use strict;
use warnings;
use Errno qw(ENOSYS EPERM EACCES);
use Fcntl;
use POSIX ();
use Socket;

$| = 1;
my $outside = $ENV{OUTSIDE};
my $canary  = "$outside/canary";
my $work    = $ENV{WORK};

# Numbers of system calls: x86-64, then the generic table of later machines.
my %CALLS = (
    acct => [163, 89],             add_key => [248, 217],      bpf => [321, 280],
    chroot => [161, 51],           clone => [56, 220],         clone3 => [435, 435],
    delete_module => [176, 106],   fanotify_init => [300, 262], finit_module => [313, 273],
    fsopen => [430, 430],          fspick => [433, 433],       init_module => [175, 105],
    io_uring_setup => [425, 425],  kexec_load => [246, 104],   keyctl => [250, 219],
    mknodat => [259, 33],          mount_x32 => [0x400000a5, 0],
    mount => [165, 40],            mount_setattr => [442, 442], move_mount => [429, 429],
    open_by_handle_at => [304, 265], open_tree => [428, 428],  perf_event_open => [298, 241],
    pidfd_getfd => [438, 438],     pidfd_open => [434, 434],   pivot_root => [155, 41],
    prlimit64 => [302, 261],       process_vm_readv => [310, 270],
    process_vm_writev => [311, 271], ptrace => [101, 117],     quotactl => [179, 60],
    request_key => [249, 218],     sched_setaffinity => [203, 122], sethostname => [170, 161],
    setns => [308, 268],           setpriority => [141, 140],  settimeofday => [164, 170],
    setxattr => [188, 5],          shmget => [29, 194],        swapon => [167, 224],
    syslog => [103, 116],          umount2 => [166, 39],       unshare => [272, 97],
    userfaultfd => [323, 282],
);
my (undef, undef, undef, undef, $machine) = POSIX::uname();
my $column = $machine eq 'x86_64' ? 0 : 1;

sub call {
    my ($name, @arguments) = @_;
    $! = 0;
    return syscall($CALLS{$name}[$column], @arguments);
}

sub say_it {
    my ($name, $escaped, $detail) = @_;
    $detail = '' unless defined $detail;
    $detail =~ s/\s+/ /g;
    print "$name\t", ($escaped ? 'escaped' : 'held'), "\t$detail\n";
}

# Held when the call is refused for what it is, not for its arguments.
sub closed {
    my ($name, @arguments) = @_;
    my $result = call($name, @arguments);
    my $refused = $result == -1 && ($! == ENOSYS || $! == EPERM || $! == EACCES);
    say_it("the system call $name", !$refused, $result == -1 ? "$!" : "it returned $result");
}

sub slurp {
    my ($path) = @_;
    open(my $file, '<', $path) or return '';
    local $/;
    my $text = <$file>;
    return defined $text ? $text : '';
}

# In a process of its own, because success would change the tries that follow.
sub apart {
    my ($name, $try) = @_;
    my $pid = fork;
    POSIX::_exit($try->() == -1 ? 0 : 1) unless $pid;
    waitpid($pid, 0);
    say_it($name, $? >> 8);
}

sub refused { my ($name, $done) = @_; say_it($name, $done, $done ? 'it was done' : "$!"); }

# Files.
say_it('reads a file outside', slurp($canary) =~ /\Q$ENV{CANARY}\E/);
refused('writes a file outside', scalar open(my $w, '>>', $canary));
refused('makes a file outside', scalar open(my $c, '>', "$outside/made"));
refused('changes the mode of a file outside', scalar chmod(0640, $canary));
refused('changes the owner of a file outside', scalar chown($<, $(, $canary));
refused('changes the times of a file outside', scalar utime(1, 1, $canary));
my $set = call('setxattr', "$canary\0", "user.patchwright\0", 'x', 1, 0);
refused('sets an attribute of a file outside', $set != -1);
refused('links to a file outside', scalar link($canary, "$work/linked"));
refused('moves a file outside', scalar rename($canary, "$outside/moved"));
say_it('reads the shadow file', slurp('/etc/shadow') ne '');
refused('makes a device', call('mknodat', -100, "$work/device\0", 0060644, 0x800) == 0);

# What belongs to the kernel's root.
my $lease = slurp('/proc/sys/fs/lease-break-time');
if (open(my $file, '>', '/proc/sys/fs/lease-break-time')) {
    syswrite($file, $lease);
    say_it('sets /proc/sys/fs/lease-break-time', 1, 'it was written as it was');
} else {
    say_it('sets /proc/sys/fs/lease-break-time', 0, "$!");
}
for my $path (qw(/proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sysrq-trigger
    /sys/kernel/uevent_helper /proc/sys/vm/drop_caches)) {
    refused("opens $path to write", scalar sysopen(my $file, $path, O_WRONLY));
}
my $status = slurp('/proc/self/status');
for my $set (qw(CapInh CapPrm CapEff CapAmb)) {
    my ($value) = $status =~ /^$set:\s*(\S+)/m;
    say_it("holds a capability ($set)", $value !~ /^0+$/, $value);
}
say_it('gains privileges by a program', $status !~ /^NoNewPrivs:\s*1/m);
say_it('is free of a filter', $status !~ /^Seccomp:\s*2/m);
# A limit of 1 byte is the only one at which the kernel calls no program of the host.
my $cores = call('prlimit64', 0, 4, pack('Q2', 0, 0), 0);
my ($limit_of_cores) = slurp('/proc/self/limits') =~ /^Max core file size\s+(\S+)/m;
say_it('hands a core dump to the host', $limit_of_cores ne '1', $limit_of_cores);
say_it('is the owner of the system', (stat '/usr')[4] == $>, "user $>");

# Other processes.
my $victim = $ENV{VICTIM} + 0;
my $found = grep { slurp($_) =~ /PATCHWRIGHT_VICTIM=secret/ } glob('/proc/[0-9]*/environ');
say_it('reads the environment of another process', $found);
refused('signals another process', scalar kill(0, $victim));
say_it('traces another process', call('ptrace', 16, $victim, 0, 0) != -1, "$!");
refused('opens the memory of another process', scalar sysopen(my $m, "/proc/$victim/mem", O_RDONLY));
refused('opens the folder of another process', scalar opendir(my $cwd, "/proc/$victim/cwd/"));
my $limit = pack('Q2', 7, 7);
say_it('limits another process', call('prlimit64', $victim, 7, $limit, 0) != -1, "$!");
say_it('slows another process', call('setpriority', 0, $victim, 19) != -1, "$!");
my $cpus = pack('Q', 1);
say_it('binds another process to a processor', call('sched_setaffinity', $victim, 8, $cpus) != -1, "$!");
my $buffer = "\0" x 8;
my $here = pack('pQ', $buffer, 8);
my $there = pack('QQ', 4096, 8);
call('process_vm_readv', $victim, $here, 1, $there, 1, 0);
say_it('reads the memory of another process', $! == POSIX::EFAULT(), "$!");
my $handle = call('pidfd_open', $victim, 0);
my $taken = $handle == -1 ? -1 : call('pidfd_getfd', $handle, 0, 0);
say_it('takes an open file of another process', $taken != -1, "$!");

# Keys.
my $key = $ENV{KEY} + 0;
my $secret = "\0" x 64;
my $read = call('keyctl', 11, $key, $secret, 64);
say_it("reads the caller's key", $read > 0 && $secret =~ /\Q$ENV{CANARY}\E/, "$!");
say_it('finds the key', call('request_key', "user\0", "$ENV{KEYNAME}\0", 0, 0) != -1, "$!");
say_it('lists the keys', slurp('/proc/keys') =~ /\Q$ENV{KEYNAME}\E/);
closed('add_key', "user\0", "patchwright-x\0", "x\0", 1, -3);

# Sockets.
sub connects {
    my ($family, $kind, $address) = @_;
    socket(my $socket, $family, $kind, 0) or return 0;
    return $kind == SOCK_DGRAM ? send($socket, 'x', 0, $address) : connect($socket, $address);
}
my $loopback = inet_aton('127.0.0.1');
refused('reaches TCP of the host', connects(PF_INET, SOCK_STREAM, pack_sockaddr_in($ENV{TCP}, $loopback)));
connects(PF_INET, SOCK_DGRAM, pack_sockaddr_in($ENV{UDP}, $loopback));
refused('reaches a socket with a path', connects(PF_UNIX, SOCK_STREAM, pack_sockaddr_un("$outside/socket")));
refused('reaches a socket with a name',
    connects(PF_UNIX, SOCK_STREAM, pack('S a*', PF_UNIX, "\0$ENV{ABSTRACT}")));
if (socketpair(my $one, my $other, PF_UNIX, SOCK_DGRAM, 0)) {
    refused('reaches a socket from a pair',
        scalar send($one, 'x', 0, pack_sockaddr_un("$outside/datagrams")));
}
my %FAMILIES = (vsock => [40, 1, 0], packet => [17, 2, 768], raw => [2, 3, 255], alg => [38, 5, 0],
    'netlink uevent' => [16, 3, 15], 'netlink audit' => [16, 3, 9], 'netlink netfilter' => [16, 3, 12],
    'netlink xfrm' => [16, 3, 6], bluetooth => [31, 3, 1], sctp => [2, 1, 132]);
for my $name (sort keys %FAMILIES) {
    my ($family, $kind, $protocol) = @{$FAMILIES{$name}};
    refused("a socket of the kind $name", scalar socket(my $socket, $family, $kind, $protocol));
}

# Namespaces and mounts.
my %NEW = (user => 0x10000000, mount => 0x20000, pid => 0x20000000, network => 0x40000000,
    ipc => 0x08000000, uts => 0x04000000, cgroup => 0x02000000);
for my $name (sort keys %NEW) {
    apart("leaves for a $name namespace", sub { call('unshare', $NEW{$name}) });
}
my $child = call('clone', 0x10000000 | 17, 0, 0, 0, 0);
POSIX::_exit(0) if $child == 0;
say_it('starts a child in a user namespace', $child != -1, "$!");
my $arguments = pack('Q11', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0);
$child = call('clone3', $arguments, 88);
POSIX::_exit(0) if $child == 0;
say_it('starts a child in a user namespace by clone3', $child != -1, "$!");
if (opendir(my $spaces, '/proc/1/ns') && sysopen(my $net, '/proc/1/ns/net', O_RDONLY)) {
    say_it('enters a namespace', call('setns', fileno($net), 0) != -1, "$!");
}
closed('mount', "none\0", "$work\0", "tmpfs\0", 0, 0);
call('umount2', "$work\0", 0);
if ($column == 0) {
    say_it('mounts by the x32 number', call('mount_x32', "none\0", "$work\0", "tmpfs\0", 0, 0) != -1, "$!");
}
closed('fsopen', "tmpfs\0", 0);
closed('fspick', -100, "/\0", 0);
closed('open_tree', -100, "/\0", 1);
closed('move_mount', -1, "\0", -100, "$work\0", 0);
closed('mount_setattr', -100, "/\0", 0, pack('Q4', 0, 0, 0, 0), 32);
closed('pivot_root', "$work\0", "$work\0");
apart('changes its root', sub { call('chroot', "$work\0") });

# The kernel's other doors.
closed('bpf', 0, 0, 0);
closed('perf_event_open', 0, 0, -1, -1, 0);
closed('userfaultfd', 0);
closed('io_uring_setup', 1, 0);
closed('kexec_load', 0, 0, 0, 0xffff);
closed('init_module', 0, 0, 0);
closed('finit_module', -1, 0, 0);
closed('delete_module', "\0", 0);
closed('syslog', 3, 0, 0);
closed('swapon', "$work/none\0", 0);
closed('quotactl', 0, 0, 0, 0);
closed('acct', "$work/none\0");
closed('settimeofday', 0, 0);
closed('sethostname', '', -1);
closed('fanotify_init', 0x80, 0);
closed('open_by_handle_at', -1, 0, 0);
closed('process_vm_writev', $$, 0, 0, 0, 0, 0);

# The caller's terminal.
if (sysopen(my $terminal, '/dev/tty', O_RDWR)) {
    my $typed = "\0";
    refused("types at the caller's terminal", scalar ioctl($terminal, 0x5412, $typed));
} else {
    say_it("types at the caller's terminal", 0, "$!");
}

# What would stay behind.
call('shmget', $ENV{SHMKEY} + 0, 4096, 01600);
unless (fork) {
    POSIX::setsid();
    open(STDOUT, '>', '/dev/null');
    open(STDERR, '>', '/dev/null');
    exec('sleep', $ENV{MARK});
}
print "end\treached\t\n";
