import { readFileSync } from 'node:fs';
import type { Cli } from '../cli.js';
import { CommandError, EXIT, misuse } from '../errors.js';
import { QUESTIONS, type Answers, type Key, type Question } from './questions.js';

/**
 * The answers to all questions that apply: from the options, the answer file and the environment, in this order; what is
 * missing is asked on a terminal. Throws USAGE with all faults of options and file, and elsewhere ANSWERS_MISSING with all
 * that is missing.
 */
export async function collectAnswers(
  { io, env }: Pick<Cli, 'io' | 'env'>,
  { options, file }: { readonly options: Readonly<Partial<Record<Key, string>>>; readonly file: string | undefined },
): Promise<Answers> {
  const given = { ...answersIn(file), ...refusingSecrets(options) };
  const variables = env();
  const answers: Partial<Record<Key, string>> = {};
  const missing: Question[] = [];
  for (const question of QUESTIONS) {
    if (!question.applies(answers)) continue;
    const { key, setting } = question;
    const known = given[key] ?? (setting === undefined ? undefined : variables[setting] || undefined);
    const answer = known ?? (await asked(io, question, answers));
    if (answer === undefined) missing.push(question);
    else answers[key] = answer.trim();
  }
  if (missing.length > 0)
    throw new CommandError(
      'ANSWERS_MISSING',
      [
        'there is no terminal to ask on; missing:',
        ...missing.map(({ key, flag, secret, setting, ask }) =>
          secret === true && setting !== undefined
            ? `  ${ask} ("${key}" in the file of --answers, or ${setting})`
            : `  ${ask} (${flag}, or "${key}" in the file of --answers)`,
        ),
      ].join('\n'),
      { exitCode: EXIT.misused },
    );
  const faults = QUESTIONS.flatMap(({ key, choices }) => {
    const answer = answers[key];
    return choices && answer !== undefined && !choices.includes(answer)
      ? [`${key} must be one of ${choices.join(', ')}`]
      : [];
  });
  if (faults.length > 0) throw misuse(faults.join('; '));
  return answers;
}

/** The answer of the person at the terminal, or the default; undefined if there is neither. */
async function asked(io: Cli['io'], question: Question, answers: Answers): Promise<string | undefined> {
  const fallback = question.default?.(answers);
  if (!io.interactive) return fallback;
  const shown = fallback === undefined ? '' : ` [${fallback}]`;
  for (;;) {
    const answer = (await io.ask(`${question.ask}${shown}: `, { hidden: question.secret === true })).trim();
    if (answer === '' && fallback !== undefined) return fallback;
    if (answer === '') io.message('This has no default.');
    else if (question.choices && !question.choices.includes(answer))
      io.message(`One of: ${question.choices.join(', ')}`);
    else return answer;
  }
}

/** A command line is shown to all users of the machine. */
function refusingSecrets(options: Readonly<Partial<Record<Key, string>>>): Partial<Record<Key, string>> {
  const faults = QUESTIONS.flatMap(({ key, flag, secret, setting }) =>
    secret === true && hasPassword(options[key] ?? '')
      ? [
          `${flag} must not have a password, because other users of this machine can read it: use "${key}" in the file of --answers, or ${setting ?? ''}`,
        ]
      : [],
  );
  if (faults.length > 0) throw misuse(faults.join('; '));
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

const hasPassword = (text: string): boolean => /^[a-z0-9]+:\/\/[^/]*:[^/]*@/i.test(text);

/** The answers of a JSON file: an object of texts and numbers by key. */
function answersIn(path: string | undefined): Partial<Record<Key, string>> {
  if (path === undefined) return {};
  const value = jsonOf(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw misuse(`--answers ${path} must be a JSON object`);
  const keys = new Map<string, Key>(QUESTIONS.map(({ key }) => [key, key]));
  const faults: string[] = [];
  const answers: Partial<Record<Key, string>> = {};
  for (const [name, answer] of Object.entries(value as Readonly<Record<string, unknown>>)) {
    const key = keys.get(name);
    if (key === undefined) faults.push(`"${name}" is no answer: the answers are ${[...keys.keys()].join(', ')}`);
    else if (typeof answer === 'string' || typeof answer === 'number') answers[key] = String(answer);
    else faults.push(`"${name}" must be a text`);
  }
  if (faults.length > 0) throw misuse(`--answers ${path}: ${faults.join('; ')}`);
  return answers;
}

function jsonOf(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // The message of a syntax error quotes the file, which has passwords.
    const reason =
      error instanceof SyntaxError
        ? 'it is no JSON'
        : error instanceof Error && 'code' in error
          ? String(error.code)
          : '';
    throw misuse(`--answers ${path} cannot be read: ${reason}`);
  }
}
