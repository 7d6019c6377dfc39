import type { Issue } from '../../../base/issue.js';

/** Requires exactly one source: `text` or `fileRef`. */
export function sourceIssues({
  text,
  fileRef,
}: { readonly [K in 'text' | 'fileRef']?: string | null | undefined }): Issue[] {
  const isGiven = text !== undefined && text !== null;
  if (isGiven && fileRef) return [{ path: 'fileRef', problem: 'must be left out when text is given' }];
  if (!isGiven && !fileRef) return [{ path: 'text', problem: 'is required when there is no fileRef' }];
  return isGiven && text.trim() === '' ? [{ path: 'text', problem: 'must not be empty' }] : [];
}
