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

/** Custom fields in use at the same time, and all that there can ever be of a tenant, archived ones among them. */
export const MAX_LIVE_FIELDS = 200;
export const MAX_FIELDS = 1_000;
/** Options that one field offers, and all that it can know, removed ones among them. */
export const MAX_OPTIONS = 500;
export const MAX_KNOWN_OPTIONS = 2_000;
/** Options that a change of type makes out of values. */
export const MAX_MADE_OPTIONS = 100;
export const MAX_LABEL = 100;
/** Digits after the point, where a field's settings do not say fewer. */
export const MAX_PRECISION = 10;
export const MAX_TEXT = 500;
export const MAX_LONG_TEXT = 10_000;
export const MAX_NUMBER = 1e15;
/** What one contract may keep of custom values, in KB of JSON: twenty-five long texts of ASCII, or eight of Chinese. */
export const MAX_VALUES_KB = 256;

const settings = {
  precision: s.integer({
    max: MAX_PRECISION,
    about: 'Digits after the point, of a number, an amount or a percentage.',
  }),
  currencyCode: s.currency(),
  min: s.number(),
  max: s.number(),
  maxLength: s.integer({ min: 1, max: MAX_LONG_TEXT, about: 'Characters, of a text (at most 500) or a long text.' }),
  unit: s.name({ max: 20, about: 'What a number counts, for showing it.' }),
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
 * What one field of one contract holds: texts for texts, days, instants, ids of an option, a member or a file; ids of
 * options for several.
 */
export type FieldValue = string | number | boolean | readonly string[];
const value = s.scalar({
  maxLength: MAX_LONG_TEXT,
  maxItems: MAX_OPTIONS,
  about: 'As the type has it; of an option, its label or its id.',
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
      'Of a choice, in order. Removed ones are archived: values that have them keep their label.',
    ),
    defaultValue: s.nullable(value),
    settings: FieldSettings,
    typeCodes: s.list(s.text({ max: 64 }), 100, 'Contract types that have the field; none means all.'),
    visibleRoles: roles('Who sees the field; none means everyone who sees contracts.'),
    editableRoles: roles('Who of those writes it; none means everyone who writes contracts.'),
    order: s.integer({ max: MAX_FIELDS, about: 'From 1, within the section.' }),
    section: s.nullable(s.text({ max: 100 })),
    archived: s.flag(),
    version: s.integer({ min: 1 }),
    ...stamps,
  },
  { title: 'DynamicField' },
);
export type DynamicField = Static<typeof DynamicField>;
export const DynamicFields = s.list(DynamicField, MAX_FIELDS);

/** The payloads of the seven commands, each strict. */
const fieldId = s.id();
const name = s.name({ max: 100 });
const type = s.enum(FIELD_TYPES);
const options = s.list(FieldOptionInput, MAX_OPTIONS);
const order = s.integer({ min: 1, max: MAX_FIELDS, about: 'From 1, within the section; beyond the end is the end.' });
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

/** Every key that some command takes: what a request is checked against before its command is looked at. */
const anyPayload = partial(
  s.object(Object.assign({}, ...Object.values(PAYLOADS).map(({ properties }) => properties)) as TProperties),
  { title: 'FieldCommandPayload' },
);

export const FieldCommandInput = s.object(
  { type: s.enum(FIELD_COMMANDS), payload: anyPayload },
  { title: 'FieldCommand' },
);

/** What only the control plane knows of the tenant, for a command that needs it. */
export const FieldSurroundings = s.object({
  members: s.omittable(s.list(Member, 20_000)),
  roleCodes: s.omittable(s.list(s.text({ max: 64 }), 1_000)),
  /** As in the tenant's settings: `DD/MM/YYYY`. */
  dateFormat: s.omittable(s.text({ max: 40 })),
});
export type FieldSurroundings = Static<typeof FieldSurroundings>;

const Sample = s.object({ contractId: s.id(), contractNo: s.text({ max: 100 }), value: s.nullable(value) });
export type LossSample = Static<typeof Sample>;

/** What a command did to the values of contracts, in numbers of contracts. */
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
        samples: s.list(Sample, 20, 'Values that do not convert without loss.'),
      }),
    ),
  },
  { title: 'FieldCommandResult' },
);
export type FieldCommandResult = Static<typeof FieldCommandResult>;
