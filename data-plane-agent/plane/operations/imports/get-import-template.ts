import { s } from '../../../base/schema.js';
import { TEMPLATE_LANGUAGES } from '../../contract/records/imports.js';
import { MAX_COLUMNS } from '../../contract/records/sheet.js';
import { CONTRACT_TYPES } from '../../contract/vocabulary.js';
import { editableBy } from '../../domain/fields/definition.js';
import { BYTE_ORDER_MARK } from '../../../base/csv/marks.js';
import { csvRow } from '../../domain/sheet/csv-write.js';
import { guarded } from '../../domain/sheet/guard.js';
import { templateOf } from '../../domain/sheet/template.js';
import { operation } from '../../steps/operation-context.js';

/** A CSV with all columns that an import accepts and an example row: field names, or their labels in a language. */
export const getImportTemplate = operation({
  effect: 'read',
  input: s.object({ language: s.optional(s.enum(TEMPLATE_LANGUAGES)) }),
  output: s.object({ csv: s.verbatim({ max: 1_000_000 }) }),
  fails: [],
  async run({ store }, { actor, currencyCode, language: own }, { language }) {
    const fields = (await store.fields.visible()).filter((field) => editableBy(field, actor.roleCode));
    const spoken = language ? (language === 'en' ? 'en' : 'zh') : null;
    const types = (await store.lifecycle.all()).types.filter(({ enabled }) => enabled);
    // A contract without a type code has its type as the code.
    const typeCodes = [...CONTRACT_TYPES, ...types.map(({ code }) => code)];
    const exampleLanguage = spoken ?? (own.toLowerCase().startsWith('zh') ? 'zh' : 'en');
    const { header, example } = templateOf(fields, { language: spoken, exampleLanguage, currencyCode, typeCodes });
    const rows = [header, example].map((cells) => csvRow(cells.slice(0, MAX_COLUMNS).map(guarded)));
    return { csv: BYTE_ORDER_MARK + rows.join('') };
  },
});
