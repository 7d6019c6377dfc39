import {
  DynamicFields,
  FieldCommandInput,
  FieldCommandResult,
  type FieldSurroundings,
} from '../../data-plane-agent/plane/contract/records/fields.js';
import { edit, view } from '../access/permissions.js';
import type { Principal } from '../access/principal.js';
import { fieldCommandIssues } from '../data-planes/body-issues.js';
import { endpoint } from '../http/endpoint.js';
import type { Services } from '../services/services.js';
import { peopleOf } from './people.js';

const listDynamicFields = endpoint('GET /dynamic-fields', {
  summary: 'List custom fields',
  description:
    "Lists the fields visible to the caller's role, by section (fields without a section first) and position in it. Callers with `admin (edit)` get all definitions, including archived ones (`archived: true`) and those whose values their role does not see, so that they can restore them. " +
    'On a plan without `customFields`, existing definitions and values are kept: both can be read, and values can be written.',
  needs: view('custom_fields'),
  returns: DynamicFields,
  calls: ['listFields'],
  fails: [],
  run: ({ plane }) => plane.listFields({}),
});

const runDynamicFieldCommand = endpoint('POST /dynamic-fields/commands', {
  summary: 'Change custom fields with a command',
  description:
    "Each `type` accepts only its own payload; a command is applied completely or not at all. `result` counts contracts, including deleted ones. A caller whose role does not see a field's values gets no counts of them, and a command that could lose a value is refused (`FIELD_NOT_EDITABLE`).\n\n" +
    "- `CreateField` { name, type, code?, description?, required?, options?: [{ label, color? }], defaultValue?, settings?, typeCodes?, visibleRoles?, editableRoles?, section?, order? }. Without a `code`, one is derived from the Latin letters of the name (`field`, `field_2`, … if the name has none); codes are never reused. The default of a choice field names labels. An amount without `settings.currencyCode` gets the tenant's currency. `settings`: precision, min, max of numbers, amounts and percentages, `unit` of numbers, `maxLength` of texts.\n" +
    '- `RenameField` { fieldId, name }. The code does not change.\n' +
    '- `UpdateFieldType` { fieldId, type, options?, settings?, onInvalid?: reject | clear, dryRun? }. If a conversion would lose data, the command is refused (`FIELD_CONVERSION_LOSSY`, with up to 20 samples from contracts visible to the caller) or the values concerned are cleared; a dry run counts and changes nothing, and requires a role that sees the values. On conversion to a choice field, labels missing in `options` become options, up to 100 in total; above that none is created. A caller whose role does not see the values must send `options` that include all labels (`FIELD_NOT_EDITABLE`). The previous values are kept for 30 days: if the type is changed back, values that were not edited in the meantime are restored exactly. The versions of contracts do not change.\n' +
    '- `UpdateFieldOptions` { fieldId, options: [{ id?, label, color? }], onRemoved?: archive | clear }. The list replaces the options of the field, in this order; an option without an id is the existing one with that label, or a new one. Values keep removed options and their labels, or lose them (`clear`).\n' +
    '- `DuplicateField` { fieldId, name?, includeValues? }. Contracts whose custom values would exceed 256 KB get no copy of the value and are counted as unchanged.\n' +
    '- `MoveField` { fieldId, order? | beforeFieldId? | afterFieldId?, section? }. Positions count from 1 within the section, without gaps; `section: null` means no section. A neighbour in another section moves the field to that section, unless `section` names a third one (400).\n' +
    '- `ArchiveField` { fieldId, archived? }. Values are kept but hidden, and are restored with the field.',
  needs: edit('admin'),
  feature: 'customFields',
  body: FieldCommandInput,
  furtherIssues: fieldCommandIssues,
  returns: FieldCommandResult,
  calls: ['runFieldCommand'],
  fails: [],
  run: async ({ body, plane, principal, services }) =>
    plane.runFieldCommand({ ...body, known: await surroundingsOf(body, { principal, services }) }),
});

/** Reads from the control plane what the command needs to know of members, roles and settings. */
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

export const dynamicFieldEndpoints = { listDynamicFields, runDynamicFieldCommand };
