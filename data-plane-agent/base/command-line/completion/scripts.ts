import type { CompletedCommand, CompletedOption } from './words.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The script that completes the words of a program in a shell. `name` is the program's name. */
export const completionScript = (shell: Shell, name: string, words: readonly CompletedCommand[]): string =>
  SCRIPTS[shell](name, words);

const SCRIPTS: Readonly<Record<Shell, (name: string, words: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Text as one word of bash, zsh and fish: none of them interprets anything within these quotes but `\` in fish. */
const quoted = (text: string): string => `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`;

const functionOf = (name: string): string => `_${name.replaceAll('-', '_')}`;

/** The command that a word leads to, and the option whose value follows it. For bash and zsh, whose `case` is the same. */
const steps = (words: readonly CompletedCommand[], indent: string): string =>
  words
    .flatMap(({ at, commands, options }) => [
      ...commands.map(({ name }) => `${quoted(`${at}|${name}`)}) at=${quoted(`${at} ${name}`.trim())} ;;`),
      ...valued(options).map(({ name }) => `${quoted(`${at}|${name}`)}) option=${quoted(name)} ;;`),
    ])
    .map((line) => indent + line)
    .join('\n');

const valued = (options: readonly CompletedOption[]): CompletedOption[] =>
  options.filter(({ takesValue }) => takesValue);

const values = (
  words: readonly CompletedCommand[],
  how: { readonly indent: string; readonly choices: (list: readonly string[]) => string; readonly files: string },
): string =>
  words
    .flatMap(({ at, options }) =>
      valued(options).flatMap(({ name, choices, takesFile }) =>
        choices.length > 0
          ? [`${quoted(`${at}|${name}`)}) ${how.choices(choices)} ;;`]
          : takesFile
            ? [`${quoted(`${at}|${name}`)}) ${how.files} ;;`]
            : [],
      ),
    )
    .map((line) => how.indent + line)
    .join('\n');

function bashScript(name: string, words: readonly CompletedCommand[]): string {
  const self = functionOf(name);
  return `# Completes the commands of ${name} in bash: eval "$(${name} completion bash)"
${self}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at='' option='' offered='' files='' i word
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    [[ $word == '=' ]] && continue
    if [[ -n $option ]]; then option=''; continue; fi
    case "$at|$word" in
${steps(words, '      ')}
    esac
  done
  [[ $cur == '=' ]] && cur=''
  COMPREPLY=()
  if [[ -n $option ]]; then
    case "$at|$option" in
${values(words, { indent: '      ', choices: (list) => `offered=${quoted(list.join(' '))}`, files: 'files=yes' })}
    esac
  else
    case "$at" in
${words
  .map(({ at, commands, options, choices, takesFile }) => {
    const all = [...commands.map((one) => one.name), ...choices, ...options.map((one) => one.name)];
    return `      ${quoted(at)}) offered=${quoted(all.join(' '))}${takesFile ? ' files=yes' : ''} ;;`;
  })
  .join('\n')}
    esac
  fi
  # Without -W, no word would be offered where only files fit.
  if [[ -n $offered ]]; then mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$cur"); fi
  if [[ -n $files && $cur != -* ]]; then
    mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
    compopt -o filenames 2> /dev/null
  fi
  return 0
}
complete -F ${self} ${name}
`;
}

function zshScript(name: string, words: readonly CompletedCommand[]): string {
  const self = functionOf(name);
  const described = (list: readonly { readonly name: string; readonly about: string }[]): string =>
    list.map((one) => quoted(`${one.name}:${one.about}`)).join(' ');
  return `#compdef ${name}
# Completes the commands of ${name} in zsh: eval "$(${name} completion zsh)", after compinit
${self}() {
  local at='' option='' word i
  local -a offered
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $option ]]; then option=''; continue; fi
    case "$at|$word" in
${steps(words, '      ')}
    esac
  done
  if [[ -n $option ]]; then
    case "$at|$option" in
${values(words, { indent: '      ', choices: (list) => `compadd -- ${list.map(quoted).join(' ')}`, files: '_files' })}
    esac
    return 0
  fi
  case "$at" in
${words
  .map(({ at, commands, options, choices, takesFile }) => {
    const parts = [
      ...(choices.length > 0 ? [`compadd -- ${choices.map(quoted).join(' ')};`] : []),
      ...(takesFile ? ['_files;'] : []),
      `offered=(${described([...commands, ...options])})`,
    ];
    return `    ${quoted(at)}) ${parts.join(' ')} ;;`;
  })
  .join('\n')}
  esac
  _describe '${name}' offered
}
if [[ \${funcstack[1]} == ${self} ]]; then ${self} "$@"; else compdef ${self} ${name}; fi
`;
}

function fishScript(name: string, words: readonly CompletedCommand[]): string {
  const self = `_${functionOf(name)}`;
  const lines = words.flatMap(({ at, commands, options, choices, takesFile }) => {
    const here = `complete -c ${name} -n ${quoted(`${self}_is "${at}"`)}`;
    return [
      ...commands.map((one) => `${here} -a ${quoted(one.name)} -d ${quoted(one.about)}`),
      ...(choices.length > 0 ? [`${here} -a ${quoted(choices.join(' '))}`] : []),
      ...(takesFile ? [`${here} -F`] : []),
      ...options.map((one) => {
        const value = one.takesFile
          ? ' -r -F'
          : one.choices.length > 0
            ? ` -x -a ${quoted(one.choices.join(' '))}`
            : ' -x';
        return `${here} -l ${one.name.replace(/^--/, '')}${one.takesValue ? value : ''} -d ${quoted(one.about)}`;
      }),
    ];
  });
  return `# Completes the commands of ${name} in fish: ${name} completion fish | source
function ${self}_is
  set -l at ''
  set -l option ''
  for word in (commandline -opc)[2..]
    if test -n "$option"
      set option ''
      continue
    end
    switch "$at|$word"
${words
  .flatMap(({ at, commands, options }) => [
    ...commands.map(
      (one) => `      case ${quoted(`${at}|${one.name}`)}\n        set at ${quoted(`${at} ${one.name}`.trim())}`,
    ),
    ...valued(options).map(
      (one) => `      case ${quoted(`${at}|${one.name}`)}\n        set option ${quoted(one.name)}`,
    ),
  ])
  .join('\n')}
    end
  end
  test "$at" = "$argv[1]"
end
complete -c ${name} -f
${lines.join('\n')}
`;
}
