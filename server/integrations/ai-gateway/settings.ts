import { list, oneOf, setting, type Kind, type Values } from '../../../data-plane-agent/base/config.js';
import { GATEWAY_MODES, REDACTION_MODES, type GatewayPolicy } from './policy.js';

/** The settings of the policy, which is that of every organisation. */
export const GATEWAY_SETTINGS = {
  aiGatewayMode: setting({
    name: 'AI_GATEWAY_MODE',
    about:
      'Whether requests to AI models are checked by POST /ai-gateway/inspect: enforce, monitor (the reasons are given, nothing blocks) or off (every request is blocked).',
    kind: oneOf(...GATEWAY_MODES),
    default: 'enforce',
  }),
  aiGatewayAllowedProviders: setting({
    name: 'AI_GATEWAY_ALLOWED_PROVIDERS',
    about: 'Providers of AI models that are allowed, comma-separated, in any case; if empty, none is.',
    kind: listOfNames(),
    default: '',
  }),
  aiGatewayAllowedModels: setting({
    name: 'AI_GATEWAY_ALLOWED_MODELS',
    about:
      'AI models that are allowed, comma-separated, in any case; * at the end allows all models that begin like it; if empty, none is.',
    kind: listOfNames({ prefixes: true }),
    default: '',
  }),
  aiGatewayRedactionMode: setting({
    name: 'AI_GATEWAY_REDACTION_MODE',
    about:
      'What to do about personal data in a request to an AI model: mask it, block the request, or off (it is only reported). Secrets always block.',
    kind: oneOf(...REDACTION_MODES),
    default: 'mask',
  }),
  aiGatewayAllowedTools: setting({
    name: 'AI_GATEWAY_ALLOWED_TOOLS',
    about: 'Tools that AI models may call, comma-separated, in any case; if empty, all are allowed.',
    kind: listOfNames(),
    default: '',
  }),
} as const;

export const policyOf = (settings: Values<typeof GATEWAY_SETTINGS>): GatewayPolicy => ({
  mode: settings.aiGatewayMode,
  redactionMode: settings.aiGatewayRedactionMode,
  allowedProviders: settings.aiGatewayAllowedProviders,
  allowedModels: settings.aiGatewayAllowedModels,
  allowedTools: settings.aiGatewayAllowedTools,
});

/** Comma-separated names; with `prefixes`, a name may end with `*`. Elsewhere `*` would match nothing. */
function listOfNames({ prefixes = false }: { readonly prefixes?: boolean } = {}): Kind<readonly string[]> {
  const { parse, show } = list();
  return {
    parse: (given) => {
      const parsed = parse(given);
      const wrong = parsed.ok && parsed.value.find((name) => name.slice(0, prefixes ? -1 : undefined).includes('*'));
      if (wrong === undefined || wrong === false) return parsed;
      return {
        ok: false,
        problem: prefixes ? 'may have * only at the end of a name' : 'must not have *: name each one',
      };
    },
    show,
  };
}
