import {
  DynamicFields,
  FieldCommandInput,
  FieldCommandResult,
  type FieldSurroundings,
} from '../../data-plane-agent/plane/contract/records/fields.js';
import { edit, view } from '../access/permissions.js';
import type { Principal } from '../access/principal.js';
import { judgeFieldCommand } from '../data-planes/judged-bodies.js';
import { endpoint } from '../http/endpoint.js';
import type { Services } from '../services/services.js';
import { peopleOf } from './people.js';

const listDynamicFields = endpoint('GET /dynamic-fields', {
  summary: 'List custom fields',
  description:
    "Those that the caller's role sees, by section (none first) and place in it. Callers with `admin (edit)` are listed all definitions, also those whose values their role does not see, and archived ones (`archived: true`), so that they can be brought back. " +
    'On a plan without `customFields`, definitions from before stay, and so do values: both are read, and values written, as ever.',
  needs: view('custom_fields'),
  returns: DynamicFields,
  calls: ['listFields'],
  fails: [],
  run: ({ plane }) => plane.listFields({}),
});

const runFieldCommand = endpoint('POST /dynamic-fields/commands', {
  summary: 'Change custom fields by a command',
  description:
    "Each `type` takes its own payload and nothing else; all of it happens or nothing. `result` counts contracts, deleted ones among them. A caller whose role does not see a field's values is told no counts of them, and nothing that he asks for may lose one (`FIELD_NOT_EDITABLE`).\n\n" +
    "- `CreateField` { name, type, code?, description?, required?, options?: [{ label, color? }], defaultValue?, settings?, typeCodes?, visibleRoles?, editableRoles?, section?, order? }. Without a `code` one is made from the Latin letters of the name (`field`, `field_2`, … for a name without any); codes are never used again. A default of a choice names labels. An amount without `settings.currencyCode` gets the tenant's currency. `settings`: precision, min, max of numbers, amounts and percentages, `unit` of numbers, `maxLength` of texts.\n" +
    '- `RenameField` { fieldId, name }. The code stays.\n' +
    '- `UpdateFieldType` { fieldId, type, options?, settings?, onInvalid?: reject | clear, dryRun? }. Values that would lose something are refused as a whole (`FIELD_CONVERSION_LOSSY`, with up to 20 samples from contracts that the caller sees) or cleared; a dry run counts and changes nothing, and is for callers who see the values. Into a choice, labels beyond `options` are made options, up to 100 in all: of more, none is made; a caller whose role does not see the values must give `options` that have them all (`FIELD_NOT_EDITABLE`). The values from before are kept 30 days: when the type is changed back, those that nobody has touched return exactly. The versions of contracts do not move.\n' +
    '- `UpdateFieldOptions` { fieldId, options: [{ id?, label, color? }], onRemoved?: archive | clear }. The list is what the field offers from now on, in this order; an option without an id is the known one with that label, or a new one. Values keep removed options and their labels, or lose them (`clear`).\n' +
    '- `DuplicateField` { fieldId, name?, includeValues? }. Contracts whose custom values would pass 256 KB get no copy of the value and are counted as unchanged.\n' +
    '- `MoveField` { fieldId, order? | beforeFieldId? | afterFieldId?, section? }. Places count from 1 within the section, without gaps; `section: null` is no section. A neighbour of another section moves the field there, unless `section` names a third one (400).\n' +
    '- `ArchiveField` { fieldId, archived? }. Values stay, unseen, and come back with the field.',
  needs: edit('admin'),
  feature: 'customFields',
  body: FieldCommandInput,
  judge: judgeFieldCommand,
  returns: FieldCommandResult,
  calls: ['runFieldCommand'],
  fails: [],
  run: async ({ body, plane, principal, services }) =>
    plane.runFieldCommand({ ...body, known: await surroundingsOf(body, { principal, services }) }),
});

/** What the command needs of what only the control plane knows. */
async function surroundingsOf(
  { type, payload }: { readonly type: string; readonly payload: Readonly<Record<string, unknown>> },
  { principal, services }: { readonly principal: Principal; readonly services: Services },
): Promise<FieldSurroundings> {
  const { id } = principal.tenant;
  const namesRoles = 'visibleRoles' in payload || 'editableRoles' in payload;
  const converts = type === 'UpdateFieldType';
  return {
    ...(converts || payload['type'] === 'user' ? { members: (await peopleOf(principal, services)).members } : {}),
    ...(converts ? { dateFormat: (await services.tenants.settings(id)).dateFormat } : {}),
    ...(namesRoles ? { roleCodes: (await services.tenants.roles.list(id)).map(({ code }) => code) } : {}),
  };
}

export const dynamicFieldEndpoints = { listDynamicFields, runFieldCommand };
