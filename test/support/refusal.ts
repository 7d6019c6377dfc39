import { isFailure } from '../../data-plane-agent/base/failures.js';

/** The code and the details of the failure with which a call was refused. Any other end is a failed test. */
export async function refusal(call: Promise<unknown>): Promise<{ readonly code: string; readonly details: unknown }> {
  let answer: unknown;
  try {
    answer = await call;
  } catch (error) {
    if (!isFailure(error)) throw error;
    return { code: error.code, details: error.details };
  }
  throw new Error(`was not refused, but answered ${JSON.stringify(answer)}`);
}

/** What a 400 says of the fields that it names. */
export async function badFields(call: Promise<unknown>): Promise<Record<string, string>> {
  const { code, details } = await refusal(call);
  if (code !== 'INVALID_INPUT') throw new Error(`was refused with ${code}`);
  const { issues } = details as { issues: { path: string; problem: string }[] };
  return Object.fromEntries(issues.map(({ path, problem }) => [path, problem]));
}
