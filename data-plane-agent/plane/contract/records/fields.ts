import { s, partial, type Static, type TProperties } from '../../../base/schema.js';
import { Member } from './people.js';
import { stamps } from './common.js';

export const FIELD_TYPES = [
  'text',
  'long_text',
  'number',
  'currency',
  'percent',
  'date',
  'datetime',
  'boolean',
  'select',
  'multi_select',
  'user',
  'url',
  'email',
  'phone',
  'file',
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export const FIELD_COMMANDS = [
  'CreateField',
  'RenameField',
  'UpdateFieldType',
  'UpdateFieldOptions',
  'DuplicateField',
  'MoveField',
  'ArchiveField',
] as const;
export type FieldCommandType = (typeof FIELD_COMMANDS)[number];

/** The maximum number of custom fields of a tenant: live ones, and all including archived ones. */
export const MAX_LIVE_FIELDS = 200;
export const MAX_FIELDS = 1_000;
/** The maximum number of options of a field: available ones, and all including removed ones. */
export const MAX_OPTIONS = 500;
export const MAX_KNOWN_OPTIONS = 2_000;
/** The maximum number of options that a change of type creates from values. */
export const MAX_MADE_OPTIONS = 100;
export const MAX_LABEL = 100;
/** The maximum number of decimals; a field's settings may set a lower one. */
export const MAX_PRECISION = 10;
export const MAX_TEXT = 500;
export const MAX_LONG_TEXT = 10_000;
export const MAX_NUMBER = 1e15;
/** The limit for the custom values of one contract, in KB of JSON: 25 long texts of ASCII, or 8 of Chinese. */
export const MAX_VALUES_KB = 256;

const settings = {
  precision: s.integer({
    max: MAX_PRECISION,
    about: 'Decimals of a number, an amount or a percentage.',
  }),
  currencyCode: s.currency(),
  min: s.number(),
  max: s.number(),
  maxLength: s.integer({
    min: 1,
    max: MAX_LONG_TEXT,
    about: 'Maximum number of characters of a text (at most 500) or a long text.',
  }),
  unit: s.name({ max: 20, about: 'The unit of a number, for display.' }),
};
export const FieldSettings = s.object({
  precision: s.nullable(settings.precision),
  currencyCode: s.nullable(settings.currencyCode),
  min: s.nullable(settings.min),
  max: s.nullable(settings.max),
  maxLength: s.nullable(settings.maxLength),
  unit: s.nullable(settings.unit),
});
export type FieldSettings = Static<typeof FieldSettings>;
export const FieldSettingsInput = partial(FieldSettings);

export const FieldOption = s.object(
  {
    id: s.id(),
    label: s.text({ max: MAX_LABEL }),
    color: s.nullable(s.text({ max: 32 })),
    order: s.integer({ max: MAX_KNOWN_OPTIONS }),
    archived: s.flag(),
  },
  { title: 'FieldOption' },
);
export type FieldOption = Static<typeof FieldOption>;

const FieldOptionInput = s.object({
  id: s.optional(s.id()),
  label: s.name({ max: MAX_LABEL }),
  color: s.optional(s.name({ max: 32 })),
});
export type FieldOptionInput = Static<typeof FieldOptionInput>;

/**
 * The value of a custom field: texts, days and instants as strings; an option, a member or a file by its id; several
 * options by a list of ids.
 */
export type FieldValue = string | number | boolean | readonly string[];
const value = s.scalar({
  maxLength: MAX_LONG_TEXT,
  maxItems: MAX_OPTIONS,
  about: 'In the format of the type; for an option, its label or id.',
});
const roles = (about: string) => s.list(s.text({ max: 64 }), 100, about);

export const DynamicField = s.object(
  {
    id: s.id(),
    code: s.text({ max: 64 }),
    name: s.text({ max: 100 }),
    description: s.nullable(s.longText()),
    type: s.enum(FIELD_TYPES),
    required: s.flag(),
    options: s.list(
      FieldOption,
      MAX_KNOWN_OPTIONS,
      'The options of a choice, in order. Removed options are archived, so that existing values keep their label.',
    ),
    defaultValue: s.nullable(value),
    settings: FieldSettings,
    typeCodes: s.list(s.text({ max: 64 }), 100, 'Contract types that have the field; an empty list means all.'),
    visibleRoles: roles('Roles that may read the field; an empty list means all roles that may read contracts.'),
    editableRoles: roles(
      'Roles, among these, that may write the field; an empty list means all roles that may write contracts.',
    ),
    order: s.integer({ max: MAX_FIELDS, about: 'From 1, within the section.' }),
    section: s.nullable(s.text({ max: 100 })),
    archived: s.flag(),
    version: s.integer({ min: 1 }),
    ...stamps,
  },
  { title: 'DynamicField' },
);
export type DynamicField = Static<typeof DynamicField>;
export const DynamicFields = s.list(
  DynamicField,
  MAX_FIELDS,
  'A plain array: an organisation has at most 200 custom fields, 1 000 with archived ones.',
);

/** The payloads of the seven commands; unknown keys are refused. */
const fieldId = s.id();
const name = s.name({ max: 100 });
const type = s.enum(FIELD_TYPES);
const options = s.list(FieldOptionInput, MAX_OPTIONS);
const order = s.integer({
  min: 1,
  max: MAX_FIELDS,
  about: 'From 1, within the section; a larger number means the end.',
});
const section = s.optional(s.name({ max: 100 }));
export const PAYLOADS = {
  CreateField: s.object({
    name,
    type,
    code: s.optional(s.text({ min: 2, max: 64, pattern: '^[a-z][a-z0-9_]{1,63}$' })),
    description: s.optional(s.longText()),
    required: s.optional(s.flag()),
    options: s.optional(options),
    defaultValue: s.optional(value),
    settings: s.optional(FieldSettingsInput),
    typeCodes: s.optional(s.list(s.text({ max: 64 }), 100)),
    visibleRoles: s.optional(s.list(s.text({ max: 64 }), 100)),
    editableRoles: s.optional(s.list(s.text({ max: 64 }), 100)),
    section,
    order: s.optional(order),
  }),
  RenameField: s.object({ fieldId, name }),
  UpdateFieldType: s.object({
    fieldId,
    type,
    options: s.optional(options),
    settings: s.optional(FieldSettingsInput),
    onInvalid: s.optional(s.enum(['reject', 'clear'])),
    dryRun: s.optional(s.flag()),
  }),
  UpdateFieldOptions: s.object({ fieldId, options, onRemoved: s.optional(s.enum(['archive', 'clear'])) }),
  DuplicateField: s.object({ fieldId, name: s.optional(name), includeValues: s.optional(s.flag()) }),
  MoveField: s.object({
    fieldId,
    order: s.optional(order),
    beforeFieldId: s.optional(fieldId),
    afterFieldId: s.optional(fieldId),
    section,
  }),
  ArchiveField: s.object({ fieldId, archived: s.optional(s.flag()) }),
} as const satisfies Record<FieldCommandType, unknown>;
export type PayloadOf<C extends FieldCommandType> = Static<(typeof PAYLOADS)[C]>;

/** All keys of all commands: the first check of a request, before its command is known. */
const anyPayload = partial(
  s.object(Object.assign({}, ...Object.values(PAYLOADS).map(({ properties }) => properties)) as TProperties),
  { title: 'FieldCommandPayload' },
);

export const FieldCommandInput = s.object(
  { type: s.enum(FIELD_COMMANDS), payload: anyPayload },
  { title: 'FieldCommand' },
);

/** Data about the tenant that the control plane passes to commands that need it. */
export const FieldSurroundings = s.object({
  members: s.omittable(s.list(Member, 20_000)),
  roleCodes: s.omittable(s.list(s.text({ max: 64 }), 1_000)),
  /** As in the tenant's settings: `DD/MM/YYYY`. */
  dateFormat: s.omittable(s.text({ max: 40 })),
});
export type FieldSurroundings = Static<typeof FieldSurroundings>;

const Sample = s.object({ contractId: s.id(), contractNo: s.text({ max: 100 }), value: s.nullable(value) });
export type LossSample = Static<typeof Sample>;

/** The effect of a command on the values of contracts; the numbers count contracts. */
export const FieldCommandResult = s.object(
  {
    commandId: s.id(),
    type: s.enum(FIELD_COMMANDS),
    field: DynamicField,
    result: s.omittable(
      s.object({
        dryRun: s.flag(),
        total: s.integer(),
        converted: s.integer(),
        cleared: s.integer(),
        unchanged: s.integer(),
        samples: s.list(Sample, 20, 'Values that cannot be converted without loss.'),
      }),
    ),
  },
  { title: 'FieldCommandResult' },
);
export type FieldCommandResult = Static<typeof FieldCommandResult>;
