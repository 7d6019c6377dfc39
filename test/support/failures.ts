import { isFailure } from '../../data-plane-agent/base/failures.js';

/** The code and details of the failure that a promise rejects with. Anything else is thrown on, and so is success. */
export async function failureOf(work: Promise<unknown>): Promise<{ readonly code: string; readonly details: unknown }> {
  try {
    await work;
  } catch (error) {
    if (!isFailure(error)) throw error;
    return { code: error.code, details: error.details };
  }
  throw new Error('it was not refused');
}
