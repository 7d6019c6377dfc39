import { isFailure } from '../../data-plane-agent/base/failures.js';

/** The code and details of the failure that a promise rejects with. Throws for other errors and for success. */
export async function failureOf(work: Promise<unknown>): Promise<{ readonly code: string; readonly details: unknown }> {
  try {
    await work;
  } catch (error) {
    if (!isFailure(error)) throw error;
    return { code: error.code, details: error.details };
  }
  throw new Error('it was not refused');
}

/** The messages of a 400. */
export async function badFields(work: Promise<unknown>): Promise<Record<string, string>> {
  const { code, details } = await failureOf(work);
  if (code !== 'INVALID_INPUT') throw new Error(`it was refused with ${code}`);
  const { issues } = details as { issues: { path: string; problem: string }[] };
  return Object.fromEntries(issues.map(({ path, problem }) => [path, problem]));
}
