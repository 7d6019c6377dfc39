import { s } from '../../data-plane-agent/base/schema.js';

/** An endpoint whose body has this is guarded by the bot challenge, where one is configured. */
export const challengeToken = s.optional(
  s.verbatim({ max: 4_096, about: 'Required where the bot challenge is enabled.' }),
);
