import type { OfferedCommand } from './offers.js';
import { placesOf, type Entry, type Place } from './place.js';

// oxlint-disable-next-line eslint/max-lines-per-function -- one script, read from top to bottom
export function zshScript(program: string, commands: readonly OfferedCommand[]): string {
  return `#compdef ${program}
# Completion of ${program} for zsh.
__${program}_at() {
  case $1 in
${placesOf(commands).map(arm).join('\n')}
  (*) return 1 ;;
  esac
}

__${program}_offer() {
  local offer=\${1#+}
  local -a found
  case $offer in
  (files) _files ;;
  (folders) _files -/ ;;
  (@*)
    found=("\${(@f)$($program \${(s:/:)\${offer#@}} </dev/null 2>/dev/null)}")
    found=("\${(@)\${(@)found/:/ }/$'\\t'/:}")
    found=(\${found:#})
    _describe -V '${program}' found
    ;;
  (=*)
    found=(\${(s:,:)\${offer#=}})
    _describe -V '${program}' found
    ;;
  esac
}

_${program}() {
  local place='' takes='' offer='' word program=\${(Q)\${words[1]/#\\~\\//$HOME/}}
  local -a verbs flags positionals
  integer given=0 index
  __${program}_at ''
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    case $word in
    (--) return 1 ;;
    (-*)
      offer=''
      [[ $takes == *" $word:"* ]] && offer=\${\${takes#*" $word:"}%% *}
      ;;
    (*)
      if [[ -z $offer ]]; then
        if ((given == 0)) && __${program}_at "\${place:+$place }$word"; then
          place="\${place:+$place }$word"
        else
          given=$((given + 1))
        fi
      elif [[ $offer != +* ]]; then
        offer=''
      fi
      ;;
    esac
  done
  if [[ $PREFIX == --*=* && $takes == *" \${PREFIX%%=*}:"* ]]; then
    offer=\${\${takes#*" \${PREFIX%%=*}:"}%% *}
    compset -P 1 '*='
    __${program}_offer "$offer"
  elif [[ $PREFIX == -* && ( -z $offer || $offer == +* ) ]]; then
    _describe -o -V 'flag' flags
  elif [[ -n $offer ]]; then
    __${program}_offer "$offer"
  else
    ((given == 0 && $#verbs)) && _describe -V 'command' verbs
    if ((given < $#positionals)); then
      __${program}_offer "\${positionals[given + 1]}"
    elif [[ \${positionals[-1]-} == +* ]]; then
      __${program}_offer "\${positionals[-1]}"
    fi
  fi
}

if [[ \${funcstack[1]-} == _${program} ]]; then
  _${program} "$@"
else
  compdef _${program} ${program}
fi
`;
}

function arm({ words, verbs, flags, takes, positionals }: Place): string {
  return `  ('${words}')
    verbs=(${entries(verbs)})
    flags=(${entries(flags)})
    takes=' ${takes.map((one) => `${one} `).join('')}' positionals=(${positionals.map(quoted).join(' ')})
    ;;`;
}

const entries = (all: readonly Entry[]): string =>
  all.map(({ name, summary }) => quoted(summary === '' ? name : `${name}:${summary}`)).join(' ');

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
