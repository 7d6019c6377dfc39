import { s } from '../../data-plane-agent/base/schema.js';

/** Endpoints whose body has this field require the bot challenge, if one is configured. */
export const challengeToken = s.optional(
  s.verbatim({ max: 4_096, about: 'Required if the bot challenge is enabled.' }),
);
