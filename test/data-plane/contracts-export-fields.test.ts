import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { DynamicField, PayloadOf } from '../../data-plane-agent/plane/contract/records/fields.js';
import { CONTRACT_COLUMNS } from '../../data-plane-agent/plane/domain/sheet/columns.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract, aLine } from '../support/samples.js';
import { exported, NAMES, rowsOf } from '../support/sheet.js';

describe('custom fields in an export', () => {
  forEachPlane((_name, makePlane) => {
    const field = async (t: TestPlane, payload: PayloadOf<'CreateField'>): Promise<DynamicField> =>
      (await t.plane.runFieldCommand({ type: 'CreateField', payload })).field;

    it('are columns between the contract and its lines, in their order and with readable values', async () => {
      const t = makePlane();
      const person = { id: newId(), name: 'Wang Li', email: 'wang@acme.example', active: true };
      const gate = await field(t, { name: 'Gate', code: 'gate', type: 'text' });
      const offset = await field(t, { name: 'Offset', code: 'offset', type: 'number' });
      const color = await field(t, {
        name: 'Colour',
        code: 'colour',
        type: 'select',
        options: [{ label: '-red' }, { label: 'blue' }],
      });
      const keeper = await field(t, { name: 'Keeper', code: 'keeper', type: 'user' });
      const checked = await field(t, { name: 'Checked', code: 'checked', type: 'boolean' });
      const dynamicFields = {
        [gate.id]: '=4',
        [offset.id]: -5,
        [color.id]: color.options[0]?.id,
        [keeper.id]: person.id,
        [checked.id]: false,
      };
      await t.plane.createContract({
        ...aContract({ dynamicFields, payments: [aLine(), aLine({ period: '2' })] }),
        members: [person],
      });
      await t.plane.createContract(aContract());
      const text = await exported(t.plane, {
        profile: 'full',
        filter: { sort: 'createdAt' },
        names: { ...NAMES, memberEmail: (id) => (id === person.id ? person.email : null) },
      });
      const header = text.slice(1, text.indexOf('\r\n')).split(',');
      expect(header.slice(CONTRACT_COLUMNS.length, CONTRACT_COLUMNS.length + 6)).to.deep.equal([
        'cf:gate',
        'cf:offset',
        'cf:colour',
        'cf:keeper',
        'cf:checked',
        'line.period',
      ]);
      const cells = rowsOf(text).map((row) => [
        row['cf:gate'],
        row['cf:offset'],
        row['cf:colour'],
        row['cf:keeper'],
        row['cf:checked'],
        row['line.period'],
      ]);
      expect(cells).to.deep.equal([
        ["'=4", '-5', "'-red", 'wang@acme.example', 'false', '2026-04'],
        ["'=4", '-5', "'-red", 'wang@acme.example', 'false', '2'],
        ['', '', '', '', '', ''],
      ]);
      const unknown = rowsOf(
        await exported(t.plane, { profile: 'full', names: { ...NAMES, memberEmail: () => null } }),
      );
      expect(unknown.at(-1)).to.include({ 'cf:keeper': person.id, ownerEmail: '' });
      expect(await exported(t.plane)).not.to.contain('cf:');
    });

    it('are those that the caller may see, also if that changes during the export', async () => {
      const t = makePlane();
      const open = await field(t, { name: 'Open', code: 'open', type: 'text' });
      const secret = await field(t, { name: 'Secret', code: 'secret', type: 'text', visibleRoles: ['legal'] });
      const old = await field(t, { name: 'Old', code: 'old', type: 'text' });
      const legal = t.as({ actor: { ...t.call.actor, roleCode: 'legal' } });
      const contract = await legal.createContract(
        aContract({ dynamicFields: { [open.id]: 'o', [secret.id]: 'hidden treasure', [old.id]: 'gone' } }),
      );
      await t.plane.runFieldCommand({ type: 'ArchiveField', payload: { fieldId: old.id } });
      const columns = (text: string) => Object.keys(rowsOf(text)[0] ?? {}).filter((name) => name.startsWith('cf:'));
      const seen = await exported(t.plane, { profile: 'full' });
      expect(columns(seen)).to.deep.equal(['cf:open']);
      expect(seen).not.to.contain('hidden treasure');
      expect(columns(await exported(legal, { profile: 'full' }))).to.deep.equal(['cf:open', 'cf:secret']);
      // Requesting a column by its id reveals no additional field.
      const asked = await t.plane.exportContracts({
        profile: 'full',
        filter: {},
        fieldIds: [secret.id, open.id, old.id, newId()],
        ids: [contract.id],
        after: null,
      });
      expect(asked.contracts[0]?.cells.slice(CONTRACT_COLUMNS.length)).to.deep.equal(['', 'o', '', '']);
    });
  });
});
