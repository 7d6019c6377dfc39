import type { DynamicField } from '../../data-plane-agent/plane/contract/records/fields.js';
import { planeOf, peopleAt, type Desk } from './desk.js';
import { FIELDS, type FieldKey } from './fields.js';

/** Changes the custom fields with each kind of field command, unless it was run already. */
export async function tendFields(desk: Desk): Promise<void> {
  const plane = planeOf(desk, 'novak');
  const present = await plane.listFields({});
  const known = { members: [...peopleAt(desk).members] };
  const run = async (
    type: Parameters<typeof plane.runFieldCommand>[0]['type'],
    payload: Readonly<Record<string, unknown>>,
  ) => void (await plane.runFieldCommand({ type, payload: { ...payload }, known }));
  const field = (key: FieldKey): DynamicField => {
    const found = present.find(({ code }) => code === FIELDS[key].code);
    if (!found) throw new Error(`the custom field ${key} is made before it is changed`);
    return found;
  };

  const [orderNo, leadTime, certificates, invoiceEmail, sitePhone, siteAccess, region] = [
    field('orderNo'),
    field('leadTime'),
    field('certificates'),
    field('invoiceEmail'),
    field('sitePhone'),
    field('siteAccess'),
    field('region'),
  ];
  if (orderNo.name !== ORDER_NO) await run('RenameField', { fieldId: orderNo.id, name: ORDER_NO });
  // Weeks were text at first, and are converted to numbers.
  if (leadTime.type === 'text')
    await run('UpdateFieldType', { fieldId: leadTime.id, type: 'number', settings: { precision: 0, unit: 'weeks' } });
  // Contracts that have it keep its label.
  const offered = certificates.options.filter(({ archived }) => !archived);
  if (offered.some(({ label }) => label === GIVEN_UP)) {
    await run('UpdateFieldOptions', {
      fieldId: certificates.id,
      options: offered
        .filter(({ label }) => label !== GIVEN_UP)
        .map(({ id, label, color }) => ({ id, label, ...(color === null ? {} : { color }) })),
    });
  }
  if (!present.some(({ name }) => name === STATEMENTS))
    await run('DuplicateField', { fieldId: invoiceEmail.id, name: STATEMENTS, includeValues: true });
  if (sitePhone.section === null)
    await run('MoveField', { fieldId: sitePhone.id, section: siteAccess.section, afterFieldId: siteAccess.id });
  if (!region.archived) await run('ArchiveField', { fieldId: region.id });
}

const ORDER_NO = "Customer's order number";
const GIVEN_UP = 'GS';
const STATEMENTS = 'Statements to';
