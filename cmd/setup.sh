# shellcheck shell=bash
# setup.sh - what cmd/run, tests/run and .ci/run share. Sourced by its absolute path.
#
# Sets $root, the top of the checkout. Whatever is said here goes to stderr: the stdout
# of cmd/run belongs to bitzel.

root=${BASH_SOURCE[0]%/cmd/setup.sh}

say() {
    printf 'bitzel: %s\n' "$*" >&2
}

# Exit code 4 is bitzel's own for a machine that does not play along.
die() {
    say "$*"
    exit 4
}

# lock, unlock: one script at a time installs, configures or builds. The kernel drops
# the lock with the process, so a killed build blocks nobody.
lock() {
    if ! mkdir -p "$root/build" || ! exec {lock_fd}>>"$root/build/.lock"; then
        die "cannot write to $root/build: is the checkout another user's?"
    fi
    flock --nonblock "$lock_fd" && return
    say "waiting for another build in $root"
    flock "$lock_fd"
}

unlock() {
    exec {lock_fd}>&-
}

# list_packages GROUP...: their packages in cmd/packages.txt, one a line.
list_packages() {
    local group name _
    while read -r group name _; do
        [[ " $* " != *" $group "* ]] || printf '%s\n' "$name"
    done <"$root/cmd/packages.txt"
}

# install_packages GROUP...: makes sure that a Debian system has them. Elsewhere the
# configure step finds out what is missing. BITZEL_NO_INSTALL=1 is for who has the
# tools from somewhere else.
install_packages() {
    local name status
    local -a wanted missing=() become=() apt
    local -A have=()

    [[ -z ${BITZEL_NO_INSTALL:-} ]] && command -v dpkg-query >/dev/null || return 0
    mapfile -t wanted < <(list_packages "$@")
    while read -r status name; do
        [[ $status != installed ]] || have[$name]=1
    done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null)
    for name in "${wanted[@]}"; do
        [[ -n ${have[$name]:-} ]] || missing+=("$name")
    done
    ((${#missing[@]})) || return 0

    apt=(apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600)
    local by_hand="apt-get install -y --no-install-recommends ${missing[*]}"
    command -v apt-get >/dev/null || die "there is no apt-get to install ${missing[*]}"
    if [[ $(id -u) != 0 ]]; then
        command -v sudo >/dev/null || die "packages are missing; as root, run: $by_hand"
        become=(sudo)
    fi
    become+=(env DEBIAN_FRONTEND=noninteractive)

    say "installing ${missing[*]}"
    # A fresh machine has no package lists, an old one lists with dead links.
    local refreshed=
    if ! "${apt[@]}" install --simulate "${missing[@]}" >/dev/null 2>&1; then
        "${become[@]}" "${apt[@]}" update </dev/null >&2 || die "apt-get update failed"
        refreshed=1
    fi
    local install=(install -y --no-install-recommends "${missing[@]}")
    "${become[@]}" "${apt[@]}" "${install[@]}" </dev/null >&2 && return
    [[ -z $refreshed ]] && "${become[@]}" "${apt[@]}" update </dev/null >&2 &&
        "${become[@]}" "${apt[@]}" "${install[@]}" </dev/null >&2 && return
    die "packages could not be installed; as root, run: $by_hand"
}

# quietly WHAT LOG COMMAND...: runs it with its output in LOG, which is shown if it
# fails. If it takes longer than a moment, one line says what is going on.
quietly() {
    local what=$1 log=$2 ran pid line status=0 shown=
    shift 2
    # Nothing is written to the pipe: it closes when the command has ended. A byte that
    # arrives as `read` times out would be lost.
    exec {ran}< <("$@" </dev/null >"$log" 2>&1 {lock_fd}>&-)
    pid=$!
    while :; do
        read -r -t 0.5 -u "$ran" || (($? > 128)) || break
        if [[ -t 2 ]]; then
            line=$(tail -n 1 -- "$log")
            [[ $line == '['*']'* ]] && line=${line%% *} || line=
            printf '\r\033[Kbitzel: %s %s' "$what" "$line" >&2
        elif [[ -z $shown ]]; then
            say "$what"
        fi
        shown=1
    done
    exec {ran}<&-
    wait "$pid" || status=$?
    [[ -z $shown || ! -t 2 ]] || printf '\r\033[K' >&2
    [[ $status != 0 ]] || return 0
    # Without ninja's lines about what went well.
    sed -E '/^\[[0-9]+\/[0-9]+\] |^ninja: Entering/d' "$log" >&2
    say "$what failed"
    return 1
}

# configure PRESET DIR [CMAKE ARGUMENT]...: a directory that was made for a checkout
# elsewhere, and then copied or moved, is made anew.
configure() {
    local preset=$1 dir=$2 fresh=()
    shift 2
    mkdir -p "$dir"
    grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt" || fresh=(--fresh)
    if ! quietly "configuring $preset" "$dir/configure.log" \
        cmake "${fresh[@]}" -S "$root" --preset "$preset" -B "$dir" "$@"; then
        command -v dpkg-query >/dev/null ||
            say "this is no Debian system: look for what Debian calls" \
                "$(list_packages build test | tr '\n' ' ')"
        return 1
    fi
    printf '%s\n' "$root" >"$dir/.configured"
}

# configured DIR: whether DIR is of this checkout and younger than the presets, whose
# changes ninja does not see.
configured() {
    local of
    [[ -e $1/build.ninja && ! $root/CMakePresets.json -nt $1/.configured ]] &&
        read -r of 2>/dev/null <"$1/.configured" && [[ $of == "$root" ]]
}

# build WHAT DIR [TARGET]...
build() {
    local what=$1 dir=$2
    shift 2
    NINJA_STATUS='[%f/%t] ' quietly "building $what" "$dir/build.log" ninja -C "$dir" "$@"
}
