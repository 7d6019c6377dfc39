import type { Kind } from '../../data-plane-agent/base/config.js';
import { contractLink, safeLink } from './notices/notice.js';

/** A URL with `{contractId}` that every format of messages can contain as a link. */
export function contractLinkTemplate(): Kind<string> {
  return {
    parse: (given) => {
      const written = given.trim();
      const id = '00000000-0000-0000-0000-000000000000';
      const link = safeLink(contractLink(written, id));
      if (link === null || !URL.canParse(link) || !new URL(link).href.slice(new URL(link).origin.length).includes(id))
        return {
          ok: false,
          problem:
            'must be an http or https URL with {contractId}, without spaces, brackets, quotes, backslashes, | and *',
        };
      const { username, password } = new URL(link);
      return username === '' && password === ''
        ? { ok: true, value: written }
        : { ok: false, problem: 'must not contain a user name or a password: everyone who is notified can read it' };
    },
    show: (value) => value,
  };
}
