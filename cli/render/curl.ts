import type { Request } from '../demo/try-it.js';

/** A request as a curl command that can be pasted into a shell. */
export function curlLine({ method, url, token, body }: Request): string {
  return [
    'curl -sS',
    ...(method === (body ? 'POST' : 'GET') ? [] : [`-X ${method}`]),
    quoted(url),
    ...(token === undefined ? [] : [`-H ${quoted(`Authorization: Bearer ${token}`)}`]),
    ...(body ? [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`] : []),
  ].join(' ');
}

/** Within single quotes, a shell interprets only the single quote. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
