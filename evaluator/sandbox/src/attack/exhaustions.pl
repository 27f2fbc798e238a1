# Ways to use more of the machine than a command may, each with its name above it. Each script takes
# several times its limit of what a look at the processes alone would not show, and keeps it for a
# while; it says `refused` where the system did not let it.

### fills memory in files without a name (memfd)
use POSIX ();
my (undef, undef, undef, undef, $machine) = POSIX::uname();
my $block = "x" x (1 << 20);
my @open;
for my $number (1 .. 12) {
    my $name = "x\0";
    my $made = syscall($machine eq "x86_64" ? 319 : 279, $name, 0);
    if ($made < 0) { print "refused: $!\n"; exit 0 }
    open(my $file, ">&=", $made) or die "$!";
    push @open, $file;
    for (1 .. 64) { syswrite($file, $block) or do { print "refused: $!\n"; exit 0 } }
}
sleep 8;

### fills memory in /tmp
my $block = "x" x (1 << 20);
open(my $file, ">", "/tmp/patchwright-fill-$$") or do { print "refused: $!\n"; exit 0 };
for (1 .. 768) { syswrite($file, $block) or do { print "refused: $!\n"; unlink "/tmp/patchwright-fill-$$"; exit 0 } }
sleep 8;
unlink "/tmp/patchwright-fill-$$";

### fills memory in /dev/shm
my $block = "x" x (1 << 20);
open(my $file, ">", "/dev/shm/patchwright-fill-$$") or do { print "refused: $!\n"; exit 0 };
for (1 .. 768) { syswrite($file, $block) or do { print "refused: $!\n"; unlink "/dev/shm/patchwright-fill-$$"; exit 0 } }
sleep 8;
unlink "/dev/shm/patchwright-fill-$$";

### fills memory in shared segments
my $block = "x" x (64 << 20);
my @made;
for (1 .. 12) {
    my $segment = shmget(0, 64 << 20, 01600);
    unless (defined $segment) { print "refused: $!\n"; exit 0 }
    push @made, $segment;
    shmwrite($segment, $block, 0, 64 << 20) or die "$!";
}
sleep 8;
shmctl($_, 0, 0) for @made;

### fills the disk with a file without a name
my $block = "x" x (1 << 20);
open(my $file, ">", "$ENV{WORK}/unlinked") or die "$!";
unlink "$ENV{WORK}/unlinked";
for (1 .. 300) { syswrite($file, $block) or do { print "refused: $!\n"; exit 0 } }
sleep 8;

### fills the disk with empty files
mkdir "$ENV{WORK}/$_" for 1 .. 50;
for my $folder (1 .. 50) {
    for my $number (1 .. 1000) {
        open(my $file, ">", "$ENV{WORK}/$folder/$number") or do { print "refused: $!\n"; exit 0 };
    }
}
sleep 8;
