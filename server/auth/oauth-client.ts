import { AuthorizationResponseError, ResponseBodyError, type CustomFetch } from 'openid-client';
import { OutboundError, type Outbound } from '../../data-plane-agent/base/outbound.js';

/** The requests of the OAuth library, through the guarded client: redirects are not followed. */
export const fetchThrough =
  (outbound: Outbound): CustomFetch =>
  async (url, { method, headers, body }) => {
    const answer = await outbound.request({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body instanceof URLSearchParams ? { body: body.toString() } : {}),
    });
    return new Response(answer.status === 204 || answer.status === 304 ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: answer.headers,
    });
  };

/** Whether an error of the library means that the provider did not answer, rather than that it refused. */
export const isUnreachable = (error: unknown): boolean =>
  causesOf(error).some((cause) => cause instanceof OutboundError);

/** The provider's error code (`access_denied`), or the library's (`OAUTH_JWT_CLAIM_COMPARISON_FAILED`). */
export function refusalOf(error: unknown): string {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
    return error.error.slice(0, 100);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'protocol_error';
}

function causesOf(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (
    let at = error;
    at !== undefined && at !== null && found.length < 10;
    at = at instanceof Error ? at.cause : undefined
  )
    found.push(at);
  return found;
}
