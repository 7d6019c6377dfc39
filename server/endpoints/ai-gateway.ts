import { actorOf } from '../access/actor.js';
import { view } from '../access/permissions.js';
import { endpoint } from '../http/endpoint.js';
import { AiInspection, AiRequest } from '../integrations/ai-gateway/ai-gateway.schemas.js';

const inspectAiRequest = endpoint('POST /ai-gateway/inspect', {
  summary: 'Inspect a request to an AI model',
  description:
    'Checks a request to an AI model before it is sent; nothing is sent to a model. The answer is 200 whatever the decision. `block`: send neither text. `redact`: send `redactedInput` instead of the input. `allow`: send the input. ' +
    'The policy is that of the installation. With `AI_GATEWAY_MODE` `enforce`, a provider, model or tool that is not allowed and every secret (`API_KEY`, `PRIVATE_KEY`, `JWT`, `URL_CREDENTIALS`) block; other findings are masked, block, or are only reported, by `AI_GATEWAY_REDACTION_MODE`. ' +
    'With `monitor` the reasons are the same and nothing blocks; with `off` everything blocks. `PROMPT_INJECTION_SUSPECTED` is a hint and does not block. ' +
    "Findings are searched for in a normalised form of the input (Unicode NFKC, digits of all scripts, without invisible characters; digits may be separated), and their positions are those of the input as it was sent. They include the tax numbers and payee accounts of the organisation's subject companies, whatever the caller's scope. Overlapping matches are one finding, of the type that comes first: a secret, then the longest match. " +
    'Every inspection is recorded in the audit with its decision, the number of findings by type and a keyed hash of the input; the input is not stored. An `Idempotency-Key` is ignored, because an inspection changes nothing.',
  needs: view('contract_view'),
  feature: 'aiGateway',
  body: AiRequest,
  returns: AiInspection,
  idempotencyKey: 'none',
  fails: [],
  run: ({ body, principal, request, services }) =>
    services.aiGateway.inspect({ tenantId: principal.tenant.id, request: body }, actorOf(principal.user, request)),
});

export const aiGatewayEndpoints = { inspectAiRequest };
