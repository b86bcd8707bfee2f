#!/bin/sh
# A Slurm cluster of one node on this machine, to try what is to run on a real one:
#   sh workflow/cluster.sh start | stop | kill-node | start-node | reason [FOLDER]
# FOLDER, by default build/cluster, holds all that the cluster writes, and `bin`: with that first on
# PATH, sbatch, squeue and their like speak to this cluster and to no other on the machine.
# Everything runs as the user who starts it. Needs Debian's packages slurm-wlm, slurm-client and munge;
# neither root, nor systemd, nor cgroups. `reason` prints why none can be started here, if so.
set -eu

usage="usage: sh workflow/cluster.sh start | stop | kill-node | start-node | reason [FOLDER]"
command=${1:-}
folder=${2:-build/cluster}

fail() {
  printf 'error: %s\n' "$1" >&2
  exit 1
}

# Print why a cluster cannot be started here, if it cannot.
reason() {
  for one in slurmctld slurmd munged sbatch; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$one" >/dev/null 2>&1 || {
      echo "$one is not installed (Debian: apt install slurm-wlm slurm-client munge)"
      return
    }
  done
  getent hosts "$(hostname -s)" >/dev/null || echo "$(hostname -s) is no name in /etc/hosts"
}

# A port that nothing listens at.
free_port() {
  python3 -c 'import socket
with socket.socket() as one:
    one.bind(("127.0.0.1", 0))
    print(one.getsockname()[1])'
}

settings() {
  host=$(hostname -s)
  memory=$(awk '/^MemTotal/ { print int($2 / 1024 * 0.9) }' /proc/meminfo)
  cat <<EOF
ClusterName=local
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/munge.sock
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
ReturnToService=2
# a node that does not answer is given up soon, and its jobs are put in line again or end
SlurmdTimeout=20
KillWait=5
# finished jobs stay visible to squeue: there is no accounting to ask
MinJobAge=3600
DefMemPerCPU=1000
NodeName=$host NodeAddr=127.0.0.1 NodeHostname=$host CPUs=$(nproc) RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
}

# The commands of Slurm, speaking to this cluster: jobs and Snakemake take SLURM_CONF away.
wrappers() {
  mkdir -p "$folder/bin"
  for one in sbatch srun squeue sinfo scontrol scancel sacct sacctmgr sshare; do
    real=$(command -v "$one") || continue
    cat >"$folder/bin/$one" <<EOF
#!/bin/sh
SLURM_CONF=$folder/slurm.conf exec $real "\$@"
EOF
    chmod +x "$folder/bin/$one"
  done
}

gone() { # wait until a file is away, as when its process has ended
  for _ in $(seq 100); do
    [ -e "$1" ] || return 0
    sleep 0.1
  done
  fail "the process of $1 does not end"
}

start() {
  why=$(reason)
  [ -z "$why" ] || fail "no cluster can be started here: $why"
  [ ! -e "$folder/slurm.conf" ] || fail "there is a cluster in $folder; stop it first"
  mkdir -p "$folder/state" "$folder/spool" "$folder/log" "$folder/munge"
  dd if=/dev/urandom of="$folder/munge/munge.key" bs=1024 count=1 2>/dev/null
  chmod 600 "$folder/munge/munge.key"
  # its own user is usual, and it says that this one is not
  munged --force --key-file="$folder/munge/munge.key" --socket="$folder/munge/munge.sock" \
    --pid-file="$folder/munge/munged.pid" --log-file="$folder/munge/munged.log" \
    --seed-file="$folder/munge/munged.seed" >/dev/null 2>&1 ||
    fail "munged did not start; see $folder/munge/munged.log"
  settings >"$folder/slurm.conf"
  wrappers
  slurmctld -f "$folder/slurm.conf"
  start_node
  for _ in $(seq 150); do
    if "$folder/bin/sinfo" -h -o %T 2>/dev/null | grep -q idle; then
      echo "A cluster of one node runs. To speak to it: PATH=$folder/bin:\$PATH"
      return
    fi
    sleep 0.2
  done
  stop
  fail "the node did not become idle within 30 s; see $folder/log"
}

start_node() { slurmd -f "$folder/slurm.conf"; }

# As when a machine is cut off: it is given up, while its jobs go on and write what they have to.
kill_node() {
  kill -KILL "$(cat "$folder/slurmd.pid")"
  rm -f "$folder/slurmd.pid"
}

stop() {
  [ -e "$folder/slurm.conf" ] || fail "there is no cluster in $folder"
  "$folder/bin/scancel" --full --signal=KILL --user="$(id -un)" 2>/dev/null || :
  "$folder/bin/scontrol" shutdown 2>/dev/null || :
  gone "$folder/slurmd.pid"
  gone "$folder/slurmctld.pid"
  if [ -e "$folder/munge/munged.pid" ]; then kill "$(cat "$folder/munge/munged.pid")"; fi
  gone "$folder/munge/munged.pid"
  rm -f "$folder/slurm.conf"
}

PATH=$PATH:/usr/sbin:/sbin
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
case $command in
start) start ;;
stop) stop ;;
kill-node) kill_node ;;
start-node) start_node ;;
reason) reason ;;
*) fail "$usage" ;;
esac
