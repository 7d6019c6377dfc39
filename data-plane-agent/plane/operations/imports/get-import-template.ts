import { s } from '../../../base/schema.js';
import { TEMPLATE_LANGUAGES } from '../../contract/records/imports.js';
import { MAX_COLUMNS } from '../../contract/records/sheet.js';
import { editableBy } from '../../domain/fields/definition.js';
import { CONTRACT_COLUMNS, CUSTOM_FIELD, LINE_COLUMNS } from '../../domain/sheet/columns.js';
import { BYTE_ORDER_MARK, csvRow } from '../../domain/sheet/csv-write.js';
import { guarded } from '../../domain/sheet/guard.js';
import { operation } from '../../steps/operation-context.js';

/** The CSV header with all columns that an import accepts: field names, or their labels in a language. */
export const getImportTemplate = operation({
  effect: 'read',
  input: s.object({ language: s.optional(s.enum(TEMPLATE_LANGUAGES)) }),
  output: s.object({ csv: s.verbatim({ max: 1_000_000 }) }),
  fails: [],
  async run({ store }, { actor }, { language }) {
    const fields = (await store.fields.visible())
      .filter((field) => editableBy(field, actor.roleCode))
      .map(({ code }) => `${CUSTOM_FIELD}${code}`);
    const label = ({
      name,
      labels,
    }: {
      readonly name: string;
      readonly labels: Readonly<Record<'en' | 'zh', string>>;
    }) => (language ? labels[language] : name);
    const columns = [
      ...CONTRACT_COLUMNS.filter(({ field, insteadOf }) => field !== null || insteadOf !== undefined).map(label),
      ...fields,
      ...LINE_COLUMNS.map(label),
    ];
    return { csv: BYTE_ORDER_MARK + csvRow(columns.slice(0, MAX_COLUMNS).map(guarded)) };
  },
});
