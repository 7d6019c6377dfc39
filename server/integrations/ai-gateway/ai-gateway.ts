import { createHmac } from 'node:crypto';
import type { Clock } from '../../../data-plane-agent/base/clock.js';
import type { Database } from '../../../data-plane-agent/base/database/database.js';
import type { KeyRing } from '../../../data-plane-agent/base/secrets.js';
import type { Actor } from '../../access/actor.js';
import { AuditStore } from '../../store/audit.js';
import type { Directory, TenantDirectory } from '../../tenants/directory.js';
import type { AiInspection, AiRequest } from './ai-gateway.schemas.js';
import { inspectText, type InspectedText } from './inspect-text.js';
import { NO_OWN_NUMBERS, ownNumbersOf, type OwnNumbers } from './own-numbers.js';
import { actionOn, judge, REASON_MESSAGES, type GatewayPolicy } from './policy.js';

/** Checks proposed requests to AI models against the policy of the installation. It sends nothing to a model. */
export interface AiGateway {
  /** Every inspection is recorded in the audit, without the input and what was found in it. */
  inspect(of: { readonly tenantId: string; readonly request: AiRequest }, actor: Actor): Promise<AiInspection>;
}

export function createAiGateway({
  policy,
  database,
  clock,
  keyRing,
  directory,
}: {
  policy: GatewayPolicy;
  database: Database;
  clock: Clock;
  keyRing: KeyRing;
  directory: Directory;
}): AiGateway {
  const key = keyRing.derive('ai-gateway.inputs');
  const ownNumbers = new WeakMap<TenantDirectory, OwnNumbers>();
  const ownNumbersIn = (known: TenantDirectory): OwnNumbers => {
    const own = ownNumbers.get(known) ?? ownNumbersOf(known.subjects());
    ownNumbers.set(known, own);
    return own;
  };

  return {
    inspect: async ({ tenantId, request }, actor) => {
      const { provider, model, purpose, input, toolName = null } = request;
      const inspected = inspectText(input, ownNumbersIn(await directory.of(tenantId)));
      const types = inspected.findings.map(({ type }) => type);
      const { decision, reasons } = judge(policy, { ...inspected, provider, model, toolName, types });
      await database.write({ tenantId: null }, (tx) =>
        new AuditStore(tx).append({
          tenantId,
          at: clock.now(),
          actor,
          action: 'ai_request_inspected',
          recordKind: 'ai_request',
          recordId: null,
          changes: {
            decision,
            mode: policy.mode,
            // Names are written by clients too: whatever is a finding in them is masked.
            provider: inspectText(provider, NO_OWN_NUMBERS).redacted,
            model: inspectText(model, NO_OWN_NUMBERS).redacted,
            reasons,
            findings: countsOf(inspected),
            inputHash: createHmac('sha256', key).update(`${tenantId}\n${input}`).digest('hex'),
          },
        }),
      );
      return {
        requestId: actor.requestId,
        decision,
        allowed: decision !== 'block',
        mode: policy.mode,
        provider,
        model,
        purpose,
        reasons: reasons.map((code) => ({ code, message: REASON_MESSAGES[code] })),
        findings: inspected.findings.map((finding) => ({ ...finding, action: actionOn(finding.type, policy) })),
        redactedInput: inspected.redacted,
        policy: {
          mode: policy.mode,
          redactionMode: policy.redactionMode,
          allowedProviders: [...policy.allowedProviders],
          allowedModels: [...policy.allowedModels],
        },
      };
    },
  };
}

/** How many findings there are of each type. */
function countsOf({ findings }: InspectedText): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of findings) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
