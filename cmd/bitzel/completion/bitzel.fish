# bitzel.fish - completion of bitzel in fish, which `bitzel complete` does.

function __bitzel_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l before (string match -r -- '^--[^=]*=' $current)
    set -l program $words[1]

    set -e words[1]
    for line in ($program complete -- $words "$current" 2>/dev/null)
        switch $line
            case :files
                printf "$before%s\n" (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current"))
            case :dirs
                printf "$before%s\n" (__fish_complete_directories (string replace -r -- '^--[^=]*=' '' "$current"))
            case '*'
                echo $line
        end
    end
end

complete -c bitzel -f -k -a '(__bitzel_complete)'
