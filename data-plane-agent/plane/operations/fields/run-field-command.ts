import { invalid } from '../../../base/failures.js';
import { s } from '../../../base/schema.js';
import type { Call } from '../../contract/call.js';
import {
  FieldCommandInput,
  FieldCommandResult,
  FieldSurroundings,
  type FieldCommandType,
} from '../../contract/records/fields.js';
import { fieldAnswer } from '../../domain/fields/answer.js';
import { readPayload } from '../../domain/fields/payload-issues.js';
import { operation, type OperationContext } from '../../steps/operation-context.js';
import { archiveField } from '../../steps/fields/archive-field.js';
import type { CommandOutcome, FieldCommandContext } from '../../steps/fields/command.js';
import { createField } from '../../steps/fields/create-field.js';
import { duplicateField } from '../../steps/fields/duplicate-field.js';
import { moveField } from '../../steps/fields/move-field.js';
import { renameField } from '../../steps/fields/rename-field.js';
import { updateFieldOptions } from '../../steps/fields/update-field-options.js';
import { updateFieldType } from '../../steps/fields/update-field-type.js';

/** Runs one of the seven commands that change custom fields. Commands are atomic and serialized. */
export const runFieldCommand = operation({
  effect: 'write',
  input: s.object({ ...FieldCommandInput.properties, known: s.omittable(FieldSurroundings) }),
  output: FieldCommandResult,
  fails: [
    'REFERENCE_INVALID',
    'FILE_REFERENCE_INVALID',
    'DUPLICATE_CODE',
    'LIMIT_REACHED',
    'FIELD_CONVERSION_LOSSY',
    'FIELD_NOT_EDITABLE',
  ],
  async run(context, call, { type, payload, known = {} }) {
    const run = COMMANDS[type](payload);
    if (payload['dryRun'] !== true) await context.store.fields.hold();
    const { field, result } = await run({ context, call, known, fields: await context.store.fields.all() });
    return { commandId: context.newId(), type, field: fieldAnswer(field), ...(result ? { result } : {}) };
  },
});

type Rest = Omit<FieldCommandContext<FieldCommandType>, 'payload'>;
/** Validates a command's payload before anything is read, and returns the function that runs it. */
type Command = (
  payload: Readonly<Record<string, unknown>>,
) => (work: Rest & { readonly context: OperationContext; readonly call: Call }) => Promise<CommandOutcome>;

const command =
  <C extends FieldCommandType>(type: C, run: (work: FieldCommandContext<C>) => Promise<CommandOutcome>): Command =>
  (payload) => {
    const read = readPayload(type, payload);
    if (!read.ok) throw invalid(...read.issues);
    return (work) => run({ ...work, payload: read.value });
  };

const COMMANDS: Readonly<Record<FieldCommandType, Command>> = {
  CreateField: command('CreateField', createField),
  RenameField: command('RenameField', renameField),
  UpdateFieldType: command('UpdateFieldType', updateFieldType),
  UpdateFieldOptions: command('UpdateFieldOptions', updateFieldOptions),
  DuplicateField: command('DuplicateField', duplicateField),
  MoveField: command('MoveField', moveField),
  ArchiveField: command('ArchiveField', archiveField),
};
