import type { OfferedCommand } from './offers.js';
import { placesOf, type Entry, type Place } from './place.js';

/** For bash 3.2 and newer. What was asked for is read line by line: nothing in it is expanded. */
// oxlint-disable-next-line eslint/max-lines-per-function -- one script, read from top to bottom
export function bashScript(program: string, commands: readonly OfferedCommand[]): string {
  return `# Completion of ${program} for bash.
__${program}_at() {
  case $1 in
${placesOf(commands).map(arm).join('\n')}
  *) return 1 ;;
  esac
}

__${program}_offer() {
  local offer=\${1#+} one
  case $offer in
  files | folders)
    compopt -o filenames 2>/dev/null
    local kind=-f
    [ "$offer" = folders ] && kind=-d
    while IFS= read -r one; do COMPREPLY+=("$one"); done < <(compgen "$kind" -- "$cur")
    ;;
  @*)
    local asked=\${offer#@}
    while IFS=$'\\t' read -r one _; do
      case $one in "$cur"*) COMPREPLY+=("$one") ;; esac
    done < <("\${COMP_WORDS[0]/#\\~\\//$HOME/}" \${asked//\\// } </dev/null 2>/dev/null)
    ;;
  =*)
    local words=\${offer#=}
    COMPREPLY+=($(compgen -W "\${words//,/ }" -- "$cur"))
    ;;
  esac
}

_${program}() {
  local IFS=$' \\t\\n' cur=\${COMP_WORDS[COMP_CWORD]}
  local place='' verbs flags takes positionals offer='' given=0 index word
  COMPREPLY=()
  __${program}_at ''
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case $word in
    # bash takes --flag=value and host:port apart.
    = | :) [ -n "$offer" ] || offer=. ;;
    --) return ;;
    -*)
      offer=''
      case $takes in *" $word:"*) offer=\${takes#*" $word:"} offer=\${offer%% *} ;; esac
      ;;
    *)
      case $offer in
      +*) ;;
      '')
        if [ $given -eq 0 ] && __${program}_at "\${place:+$place }$word"; then
          place="\${place:+$place }$word"
        else
          given=$((given + 1))
        fi
        ;;
      *) offer='' ;;
      esac
      ;;
    esac
  done
  case $cur in = | :) cur='' ;; esac
  case "$offer/$cur" in
  /-* | +*/-*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
  /*)
    [ $given -gt 0 ] || COMPREPLY=($(compgen -W "$verbs" -- "$cur"))
    local all=($positionals)
    local last=$((\${#all[@]} - 1))
    if [ $given -le $last ]; then
      __${program}_offer "\${all[$given]}"
    elif [ $last -ge 0 ]; then
      case \${all[$last]} in +*) __${program}_offer "\${all[$last]}" ;; esac
    fi
    ;;
  *) __${program}_offer "$offer" ;;
  esac
}
complete -F _${program} ${program}
`;
}

function arm({ words, verbs, flags, takes, positionals }: Place): string {
  return `  '${words}')
    verbs='${names(verbs)}' flags='${names(flags)}'
    takes=' ${takes.map((one) => `${one} `).join('')}' positionals='${positionals.join(' ')}'
    ;;`;
}

const names = (entries: readonly Entry[]): string => entries.map(({ name }) => name).join(' ');
