#!/usr/bin/env bash
# Fuzzes the decoders with afl-fuzz: eng/fuzz.sh [SECONDS [TARGET...]]. The seconds (default 120) are those of the whole run: the targets
# (default: all) get equal parts of them, two at a time. Each begins with its corpus in tests/QuickSilver.Fuzz/Corpus. What a run finds
# lies in artifacts/fuzz/findings/TARGET. Exit status: 0 if nothing was found, 1 if an input made a target throw, hang or allocate too
# much, 2 if it could not run.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1

seconds=${1:-120}
shift || true
case "$seconds" in *[!0-9]* | "") echo "fuzz: '$seconds' is not a number of seconds" >&2; exit 2 ;; esac
command -v afl-fuzz >/dev/null 2>&1 || { echo "fuzz: afl-fuzz is not installed (afl++ in Debian)" >&2; exit 2; }

plain=artifacts/bin/QuickSilver.Fuzz/release
bin=artifacts/fuzz/bin
findings=artifacts/fuzz/findings
corpus=tests/QuickSilver.Fuzz/Corpus
jobs=2

# The instrumented assemblies are copies: everything else, and the replay of what is found, uses those of the build.
dotnet build -c Release tests/QuickSilver.Fuzz -v quiet || exit 2
dotnet tool restore >/dev/null || { echo "fuzz: the tool sharpfuzz cannot be restored" >&2; exit 2; }
rm -rf "$bin" "$findings"
mkdir -p "$findings"
cp -r "$plain" "$bin"
for name in QuickSilver QuickSilver.Core QuickSilver.Serialization QuickSilver.Membership QuickSilver.Multicast QuickSilver.Fuzz.Contracts qsm; do
    dotnet sharpfuzz "$bin/$name.dll" || exit 2
done

if [ $# -gt 0 ]; then targets=("$@"); else mapfile -t targets < <(dotnet "$plain/QuickSilver.Fuzz.dll" --list); fi
each=$(( seconds * jobs / ${#targets[@]} ))
[ "${#targets[@]}" -lt "$jobs" ] && each=$seconds
[ "$each" -lt 1 ] && each=1

# The runtime is no program that afl has compiled, it needs more memory than afl allows, and its first run takes long. In a container, the
# pattern of core files cannot be changed, and the processors are shared with others.
export AFL_SKIP_BIN_CHECK=1 AFL_NO_UI=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_FAST_CAL=1
export AFL_FORKSRV_INIT_TMOUT=120000 DOTNET_gcServer=0 DOTNET_EnableDiagnostics=0

fuzz() {
    mkdir -p "$findings/$1"
    timeout -k 5 $(( each + 180 )) afl-fuzz -V "$each" -t 10000 -m none -G 65536 -i "$corpus/$1" -o "$findings/$1" \
        dotnet "$bin/QuickSilver.Fuzz.dll" "$1" >"$findings/$1/log" 2>&1 </dev/null
}

for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    fuzz "$target" &
done
wait

value() { sed -n "s/^$2 *: *//p" "$findings/$1/default/fuzzer_stats" 2>/dev/null; }
status=0
for target in "${targets[@]}"; do
    if [ -z "$(value "$target" execs_done)" ]; then
        echo "fuzz: $target did not run:" >&2
        tail -n 15 "$findings/$target/log" >&2
        status=2
        continue
    fi

    crashes=$(value "$target" saved_crashes)
    hangs=$(value "$target" saved_hangs)
    printf 'fuzz: %-14s %8s runs, %5s inputs of interest, %s crashes, %s hangs\n' \
        "$target" "$(value "$target" execs_done)" "$(value "$target" corpus_count)" "$crashes" "$hangs"
    if [ "$crashes" != 0 ] || [ "$hangs" != 0 ]; then
        [ "$status" = 0 ] && status=1
        for file in "$findings/$target"/default/crashes/id* "$findings/$target"/default/hangs/id*; do
            [ -e "$file" ] && timeout -k 5 60 dotnet "$plain/QuickSilver.Fuzz.dll" --replay "$target" "$file" 2>&1 | head -n 20
        done
    fi
done
exit "$status"
