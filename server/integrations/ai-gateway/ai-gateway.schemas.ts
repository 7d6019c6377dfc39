import { s, type Static } from '../../../data-plane-agent/base/schema.js';
import { FINDING_TYPES } from './finding-types.js';
import { ACTIONS, DECISIONS, GATEWAY_MODES, REASON_CODES, REDACTION_MODES } from './policy.js';

/** In characters (code points). */
export const MOST_INPUT = 8_000;

export const AiRequest = s.object(
  {
    provider: s.name({ max: 100, about: 'The provider of the model, such as `openai`.' }),
    model: s.name({ max: 200, about: 'The model, such as `gpt-5-mini`.' }),
    purpose: s.text({ max: 500, about: 'What the request is for. It is returned, and not recorded.' }),
    input: s.document({
      max: MOST_INPUT,
      about: 'The text that would be sent to the model, exactly as it would be sent. It is not stored.',
    }),
    toolName: s.optional(s.name({ max: 200, about: 'The tool that the model would call, if any.' })),
  },
  { title: 'AiRequest', about: 'A request to an AI model, before it is sent.' },
);
export type AiRequest = Static<typeof AiRequest>;

/** There are fewer: a finding has at least six characters. */
const MOST_FINDINGS = MOST_INPUT;
const MOST_LISTED = 10_000;

export const AiFinding = s.object(
  {
    type: s.enum(FINDING_TYPES, 'What was found.'),
    start: s.integer({ about: 'The first position, in UTF-16 units of the input as it was sent.' }),
    end: s.integer({ about: 'The position after the last one.' }),
    action: s.enum(
      ACTIONS,
      'What the policy does about it: `mask` replaces it, `block` refuses the request, `none` only reports it.',
    ),
  },
  { title: 'AiFinding', about: 'Personal or confidential data, or a secret, in the input.' },
);

export const AiReason = s.object(
  {
    code: s.enum(REASON_CODES, 'The reason, for programs.'),
    message: s.text({ about: 'The reason, for people.' }),
  },
  { title: 'AiReason', about: 'A reason for the decision, or a hint.' },
);

export const AiPolicy = s.object(
  {
    mode: s.enum(GATEWAY_MODES, '`AI_GATEWAY_MODE`.'),
    redactionMode: s.enum(REDACTION_MODES, '`AI_GATEWAY_REDACTION_MODE`.'),
    allowedProviders: s.list(s.text({ max: 10_000 }), MOST_LISTED, '`AI_GATEWAY_ALLOWED_PROVIDERS`.'),
    allowedModels: s.list(s.text({ max: 10_000 }), MOST_LISTED, '`AI_GATEWAY_ALLOWED_MODELS`.'),
  },
  { title: 'AiPolicy', about: 'The policy of the installation that was applied.' },
);

export const AiInspection = s.object(
  {
    requestId: s.text({ about: 'The `X-Request-Id` of this inspection, under which it is in the audit.' }),
    decision: s.enum(
      DECISIONS,
      '`allow`: send the input. `redact`: send `redactedInput` instead. `block`: send neither.',
    ),
    allowed: s.flag('Whether the request may be sent; `false` only for `block`.'),
    mode: s.enum(GATEWAY_MODES, 'The mode of the policy.'),
    provider: s.text({ about: 'As in the request.' }),
    model: s.text({ about: 'As in the request.' }),
    purpose: s.text({ about: 'As in the request.' }),
    reasons: s.list(AiReason, REASON_CODES.length, 'All reasons, also those that do not block; none twice.'),
    findings: s.list(AiFinding, MOST_FINDINGS, 'What was found in the input, in its order and without overlaps.'),
    redactedInput: s.document({
      max: 200_000,
      about:
        'The input with a placeholder such as `<EMAIL_1>` in place of every finding, whatever the decision. The same value has the same placeholder.',
    }),
    policy: AiPolicy,
  },
  { title: 'AiInspection', about: 'What the policy says about a request to an AI model.' },
);
export type AiInspection = Static<typeof AiInspection>;
