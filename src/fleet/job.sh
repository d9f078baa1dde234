# What a job does, behind lines that enter its folder, name the command (or the portable folder), its clock, what is to
# be done before, and in "$@" the options of `collect`. Nothing of it is read by foretell but the files that it writes.
node=${SLURMD_NODENAME:-$(uname -n)}
job=${SLURM_ARRAY_JOB_ID:-local}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}

# Who is the first to begin runs it.
printf 'node=%s\njob=%s\npid=%s\nbegan=%s\n' "$node" "$job" $$ "$(date +%s)" >"started.$node.$$"
ln "started.$node.$$" started 2>/dev/null || exit 0
exec </dev/null >log 2>&1

driver="Linux $(uname -r)" serial=$(cat /sys/class/dmi/id/product_serial 2>/dev/null)
if command -v nvidia-smi >/dev/null; then
    driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
    serial=$(nvidia-smi --query-gpu=serial --format=csv,noheader | head -n 1)
fi
setup
if [ "$portable" ]; then
    copy=$(mktemp -d) && trap 'rm -rf "$copy"' EXIT && cp -r "$portable/." "$copy" || exit 1
    foretell=$copy/foretell
fi

version=$("$foretell" --version --verbose) here=$PWD code=0
measured() {
    "$foretell" "$@" --db "$here/store.db" --note "node=$node" --note "job=$job" --note "driver=$driver" \
        --note "serial=$serial" --note "foretell=$version" --note "clock=$clock" || code=$?
}
measured collect list.ops $lowered "$@"
[ ! -e more.sh ] || . ./more.sh
cd "$here" && printf 'code=%s\nended=%s\n' $code "$(date +%s)" >ended.part && mv ended.part ended
