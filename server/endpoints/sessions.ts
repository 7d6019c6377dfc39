import { OK, Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import { s } from '../../data-plane-agent/base/schema.js';
import { OwnSession } from '../auth/auth.schemas.js';
import { endpoint } from '../http/endpoint.js';

export const sessionEndpoints = {
  listSessions: endpoint('GET /auth/sessions', {
    summary: "List the caller's sessions",
    description: "Lists the caller's active sessions, newest first.",
    needs: 'signed_in',
    returns: s.list(OwnSession, 200, 'A plain array: a member has few sessions; the 200 newest are listed.'),
    fails: [],
    run: ({ principal, services }) => services.sessions.list(principal),
  }),

  endOtherSessions: endpoint('DELETE /auth/sessions', {
    summary: "End the caller's other sessions",
    description: 'The session of this request continues.',
    needs: 'signed_in',
    returns: Ok,
    fails: [],
    run: async ({ principal, request, services }) => {
      await services.sessions.endOthers(principal, request);
      return OK;
    },
  }),

  endSession: endpoint('DELETE /auth/sessions/:id', {
    summary: 'End a session of the caller',
    description: 'Revokes both of its tokens. It may be the session of this request.',
    needs: 'signed_in',
    returns: Ok,
    fails: [],
    run: async ({ principal, params, request, services }) => {
      await services.sessions.end(principal, params, request);
      return OK;
    },
  }),
};
