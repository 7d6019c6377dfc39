import type { Request } from '../demo/try-it.js';

/** A request as a line for a shell, which works by itself wherever it is pasted. */
export function curlLine({ method, url, token, body }: Request): string {
  return [
    'curl -sS',
    ...(method === (body ? 'POST' : 'GET') ? [] : [`-X ${method}`]),
    quoted(url),
    ...(token === undefined ? [] : [`-H ${quoted(`Authorization: Bearer ${token}`)}`]),
    ...(body ? [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`] : []),
  ].join(' ');
}

/** In single quotes a shell takes everything as it is but a single quote. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
