import { isSecret, type FindingType } from './finding-types.js';

export const GATEWAY_MODES = ['off', 'monitor', 'enforce'] as const;
export type GatewayMode = (typeof GATEWAY_MODES)[number];

export const REDACTION_MODES = ['mask', 'block', 'off'] as const;
export type RedactionMode = (typeof REDACTION_MODES)[number];

export const REASON_CODES = [
  'GATEWAY_DISABLED',
  'PROVIDER_NOT_ALLOWED',
  'MODEL_NOT_ALLOWED',
  'TOOL_NOT_ALLOWED',
  'SECRET_DETECTED',
  'PII_DETECTED',
  'PROMPT_INJECTION_SUSPECTED',
] as const;
export type ReasonCode = (typeof REASON_CODES)[number];

export const DECISIONS = ['allow', 'redact', 'block'] as const;
export type Decision = (typeof DECISIONS)[number];

export const ACTIONS = ['mask', 'block', 'none'] as const;
export type Action = (typeof ACTIONS)[number];

/** The policy of the installation, which is that of every organisation. */
export interface GatewayPolicy {
  readonly mode: GatewayMode;
  readonly redactionMode: RedactionMode;
  /** Allowed names; an empty list allows none. */
  readonly allowedProviders: readonly string[];
  /** With `*` at the end, all models that begin like it. */
  readonly allowedModels: readonly string[];
  /** An empty list allows all tools. */
  readonly allowedTools: readonly string[];
}

export interface Asked {
  readonly provider: string;
  readonly model: string;
  readonly toolName: string | null;
  readonly types: readonly FindingType[];
  readonly isInjectionSuspected: boolean;
}

export interface Judgement {
  readonly decision: Decision;
  readonly reasons: readonly ReasonCode[];
}

/**
 * The decision, and all reasons that there are. In `monitor` the reasons are those of `enforce`, and the request is
 * allowed.
 */
export function judge(policy: GatewayPolicy, asked: Asked): Judgement {
  if (policy.mode === 'off') return { decision: 'block', reasons: ['GATEWAY_DISABLED'] };
  const hasSecret = asked.types.some(isSecret);
  const hasPersonal = asked.types.some((type) => !isSecret(type));
  const { toolName } = asked;
  const isToolAllowed =
    toolName === null || policy.allowedTools.length === 0 || isListed(policy.allowedTools, toolName);
  const present: Readonly<Record<ReasonCode, boolean>> = {
    GATEWAY_DISABLED: false,
    PROVIDER_NOT_ALLOWED: !isListed(policy.allowedProviders, asked.provider),
    MODEL_NOT_ALLOWED: !isModelListed(policy.allowedModels, asked.model),
    TOOL_NOT_ALLOWED: !isToolAllowed,
    SECRET_DETECTED: hasSecret,
    PII_DETECTED: hasPersonal,
    PROMPT_INJECTION_SUSPECTED: asked.isInjectionSuspected,
  };
  const reasons = REASON_CODES.filter((code) => present[code]);
  if (policy.mode === 'monitor') return { decision: 'allow', reasons };
  const blocks = reasons.some((code) => BLOCKING.has(code)) || (hasPersonal && policy.redactionMode === 'block');
  const masks = hasPersonal && policy.redactionMode === 'mask';
  return { decision: blocks ? 'block' : masks ? 'redact' : 'allow', reasons };
}

const BLOCKING: ReadonlySet<ReasonCode> = new Set([
  'PROVIDER_NOT_ALLOWED',
  'MODEL_NOT_ALLOWED',
  'TOOL_NOT_ALLOWED',
  'SECRET_DETECTED',
]);

/** What the policy does about a finding. */
export function actionOn(type: FindingType, { mode, redactionMode }: GatewayPolicy): Action {
  if (mode === 'off') return 'block';
  if (mode === 'monitor') return 'none';
  if (isSecret(type)) return 'block';
  return redactionMode === 'off' ? 'none' : redactionMode;
}

const isListed = (list: readonly string[], name: string): boolean =>
  list.some((allowed) => allowed.toLowerCase() === name.toLowerCase());

const isModelListed = (list: readonly string[], name: string): boolean =>
  list.some((allowed) =>
    allowed.endsWith('*')
      ? name.toLowerCase().startsWith(allowed.slice(0, -1).toLowerCase())
      : allowed.toLowerCase() === name.toLowerCase(),
  );

/** One sentence per reason, for the person whose request it is. */
export const REASON_MESSAGES: Readonly<Record<ReasonCode, string>> = {
  GATEWAY_DISABLED: 'The AI gateway is switched off (AI_GATEWAY_MODE): no request to a model is allowed.',
  PROVIDER_NOT_ALLOWED: 'The provider is not one of the allowed ones (AI_GATEWAY_ALLOWED_PROVIDERS).',
  MODEL_NOT_ALLOWED: 'The model is not one of the allowed ones (AI_GATEWAY_ALLOWED_MODELS).',
  TOOL_NOT_ALLOWED: 'The tool is not one of the allowed ones (AI_GATEWAY_ALLOWED_TOOLS).',
  SECRET_DETECTED: 'The input contains a secret, such as a key, a token or a URL with a password.',
  PII_DETECTED: 'The input contains personal or confidential data, such as an address or an account number.',
  PROMPT_INJECTION_SUSPECTED: 'The input contains phrases that are used to change the instructions of a model.',
};
