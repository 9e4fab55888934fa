#compdef bitzel
# bitzel.zsh - completion of bitzel in zsh, which `bitzel complete` does.

_bitzel() {
    local line word help
    local -a ends open

    for line in "${(@f)$(${~words[1]} complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        word=${${line%%$'\t'*}//:/\\:}
        help=${line#*$'\t'}
        case $line in
        '') ;;
        :files | :dirs)
            compset -P '--*='
            if [[ $line == :files ]]; then
                _files
            else
                _files -/
            fi
            return
            ;;
        *[:=]$'\t'*) open+=("$word${help:+:$help}") ;;
        *) ends+=("$word${help:+:$help}") ;;
        esac
    done
    _describe -V 'bitzel' ends -- open -S ''
}

if [[ $funcstack[1] == _bitzel ]]; then
    _bitzel "$@"
else
    compdef _bitzel bitzel
fi
