# shellcheck shell=bash
# bitzel.bash - completion of bitzel in bash, which `bitzel complete` does.

_bitzel() {
    local rest=${COMP_LINE:0:COMP_POINT} blank part line cur
    local -i i
    local -a words=() found=()

    # bash takes "a:b" and "a=b" for three words; what no blank separates is one.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blank=${rest%%[![:space:]]*}
        rest=${rest#"$blank"}
        part=${COMP_WORDS[i]}
        [[ $rest == "$part"* ]] || part=$rest
        rest=${rest#"$part"}
        if ((i == 0)) || [[ $blank ]]; then
            words+=("$part")
        else
            words[-1]+=$part
        fi
    done
    cur=${words[-1]}
    ((${#words[@]} > 1)) || return 0

    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files | :dirs)
            part=-f
            [[ $line == :files ]] || part=-d
            compopt -o filenames 2>/dev/null
            [[ $cur != --*=* ]] || cur=${cur#*=}
            mapfile -t found < <(compgen "$part" -- "$cur")
            COMPREPLY+=("${found[@]}")
            ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${words[0]/#\~\//"$HOME/"}" complete -- "${words[@]:1}" 2>/dev/null)

    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    # Only what follows the last such character is replaced.
    part=$cur
    [[ $COMP_WORDBREAKS != *:* ]] || part=${part##*:}
    [[ $COMP_WORDBREAKS != *=* ]] || part=${part##*=}
    part=${cur%"$part"}
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$part"}
    done
}

complete -F _bitzel bitzel
