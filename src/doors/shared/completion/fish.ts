import type { OfferedCommand } from './offers.js';
import { placesOf, type Entry, type Place } from './place.js';

// oxlint-disable-next-line eslint/max-lines-per-function -- one script, read from top to bottom
export function fishScript(program: string, commands: readonly OfferedCommand[]): string {
  return `# Completion of ${program} for fish.
function __${program}_at --no-scope-shadowing
    switch "$argv[1]"
${placesOf(commands).map(arm).join('\n')}
        case '*'
            return 1
    end
end

function __${program}_offer
    set -l offer (string replace -r '^\\+' '' -- $argv[1])
    switch "$offer"
        case files
            __fish_complete_path $argv[2]
        case folders
            __fish_complete_directories $argv[2] ''
        case '@*'
            set -l asked (string split / -- (string sub -s 2 -- $offer))
            $argv[3] $asked </dev/null 2>/dev/null
        case '=*'
            string split , -- (string sub -s 2 -- $offer)
    end
end

function __${program}_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $tokens[1])
    set -l place ''
    set -l offer ''
    set -l given 0
    set -l verbs
    set -l flags
    set -l takes
    set -l positionals
    __${program}_at ''
    for word in $tokens[2..]
        switch $word
            case --
                return
            case '-*'
                set offer ''
                for one in $takes
                    string match -q -- "$word:*" $one
                    and set offer (string replace -- "$word:" '' $one)
                end
            case '*'
                if test -z "$offer"
                    if test $given -eq 0; and __${program}_at (string trim -- "$place $word")
                        set place (string trim -- "$place $word")
                    else
                        set given (math $given + 1)
                    end
                else if not string match -q -- '+*' $offer
                    set offer ''
                end
        end
    end
    if string match -q -- '-*' $current; and string match -qr -- '^(\\+.*)?$' "$offer"
        printf '%s\\n' $flags
    else if test -n "$offer"
        __${program}_offer $offer "$current" $program
    else
        test $given -eq 0; and test (count $verbs) -gt 0; and printf '%s\\n' $verbs
        set -l next (math $given + 1)
        if test $next -le (count $positionals)
            __${program}_offer $positionals[$next] "$current" $program
        else if string match -q -- '+*' "$positionals[-1]"
            __${program}_offer $positionals[-1] "$current" $program
        end
    end
end

complete -c ${program} -f -a '(__${program}_complete)'
`;
}

function arm({ words, verbs, flags, takes, positionals }: Place): string {
  const set = (name: string, all: readonly string[]) =>
    `            set ${name}${all.map((one) => ` ${quoted(one)}`).join('')}`;
  return [
    `        case ${quoted(words)}`,
    set('verbs', verbs.map(entry)),
    set('flags', flags.map(entry)),
    set('takes', takes),
    set('positionals', positionals),
  ].join('\n');
}

const entry = ({ name, summary }: Entry): string => `${name}\t${summary}`;

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
