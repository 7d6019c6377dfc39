import { expect } from 'chai';
import type { Database, Transaction, Value } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Call } from '../../data-plane-agent/plane/contract/call.js';
import type { ContractInput } from '../../data-plane-agent/plane/contract/records/contracts.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { failureOf } from '../support/failures.js';
import { aField, fieldCommand } from '../support/fields.js';
import { forEachPlane, listedContracts, type MakePlane, PLANES } from '../support/plane.js';
import { aContract } from '../support/samples.js';

describe('custom values of contracts', () => {
  forEachPlane(
    (_name, makePlane: MakePlane) => {
      const role = (roleCode: string | null): Partial<Call> => ({
        actor: {
          kind: roleCode === null ? 'cli' : 'user',
          id: roleCode === null ? null : newId(),
          name: 'Somebody',
          roleCode,
          ip: null,
        },
      });
      const withRole = (roleCode: string) => makePlane(role(roleCode));
      const issues = (...given: readonly (readonly [id: string, problem: string])[]) => ({
        code: 'INVALID_INPUT',
        details: { issues: given.map(([id, problem]) => ({ path: `dynamicFields.${id}`, problem })) },
      });

      it('are normalised by their types, and returned by every operation', async () => {
        const t = makePlane();
        const ming = { id: newId(), name: 'Ming Li', email: 'ming@example.test', active: true };
        const [text, date, at, flag, choice, user] = [
          await aField(t),
          await aField(t, { type: 'date' }),
          await aField(t, { type: 'datetime' }),
          await aField(t, { type: 'boolean' }),
          await aField(t, { type: 'multi_select', options: [{ label: 'A' }, { label: 'B' }] }),
          await aField(t, { type: 'user' }),
        ];
        const [a = '', b = ''] = choice.options.map(({ id }) => id);
        const made = await t.plane.createContract({
          ...aContract({
            dynamicFields: {
              [text.id]: '  x ',
              [date.id]: '2026-03-01T23:00:00-11:00',
              [at.id]: '2026-03-01T08:00:00+08:00',
              [flag.id]: false,
              [choice.id]: [b, a],
              [user.id]: ming.id,
            },
          }),
          members: [ming],
        });
        const kept = {
          [text.id]: 'x',
          [date.id]: '2026-03-01',
          [at.id]: '2026-03-01T00:00:00.000Z',
          [flag.id]: false,
          [choice.id]: [b, a],
          [user.id]: ming.id,
        };
        expect(made.dynamicFields).to.deep.equal(kept);
        expect((await t.plane.getContract({ contractId: made.id })).dynamicFields).to.deep.equal(kept);
        expect((await listedContracts(t.plane, {})).items[0]?.dynamicFields).to.deep.equal(kept);
        await t.plane.deleteContract({ contractId: made.id });
        expect((await t.plane.listTrash({})).items[0]?.dynamicFields).to.deep.equal(kept);
        expect((await t.plane.restoreContract({ contractId: made.id })).dynamicFields).to.deep.equal(kept);
      });

      it('are each reported once if invalid, beside other invalid fields', async () => {
        const t = makePlane();
        const [text, number] = [await aField(t), await aField(t, { type: 'number' })];
        const archived = await aField(t);
        await fieldCommand(t, 'ArchiveField', { fieldId: archived.id });
        const foreign = await aField(makePlane());
        const input = aContract({
          endDate: '2025-01-01',
          dynamicFields: { [text.id]: 5, [number.id]: '5', [archived.id]: 'x', [foreign.id]: 'x', toString: 'x' },
        });
        expect(await failureOf(t.plane.createContract(input))).to.deep.equal({
          code: 'INVALID_INPUT',
          details: {
            issues: [
              { path: `dynamicFields.${text.id}`, problem: 'must be a string' },
              { path: `dynamicFields.${number.id}`, problem: 'must be a number' },
              ...[archived.id, foreign.id, 'toString'].map((id) => ({
                path: `dynamicFields.${id}`,
                problem: 'is not a known field',
              })),
              { path: 'endDate', problem: 'must not be before startDate' },
            ],
          },
        });
        expect((await listedContracts(t.plane, {})).total).to.equal(0);
      });

      it('must name existing members and files, except stored values that are sent back', async () => {
        const t = makePlane();
        const [user, file] = [await aField(t, { type: 'user' }), await aField(t, { type: 'file' })];
        const leaver = { id: newId(), name: 'L', email: 'l@example.test', active: true };
        const made = await t.plane.createContract({
          ...aContract({ dynamicFields: { [user.id]: leaver.id } }),
          members: [leaver],
        });
        const formerMembers = [{ ...leaver, active: false }];
        const change = (dynamicFields: Record<string, unknown>) =>
          t.plane.updateContract({ contractId: made.id, changes: { dynamicFields }, members: formerMembers });
        expect((await change({ [user.id]: leaver.id })).version).to.equal(1);
        const other = await t.plane.createContract(aContract());
        expect(
          await failureOf(
            t.plane.updateContract({
              contractId: other.id,
              changes: { dynamicFields: { [user.id]: leaver.id } },
              members: formerMembers,
            }),
          ),
        ).to.deep.equal({
          code: 'REFERENCE_INVALID',
          details: { field: `dynamicFields.${user.id}`, value: leaver.id },
        });
        expect(await failureOf(change({ [user.id]: 'nobody' }))).to.have.property('code', 'REFERENCE_INVALID');
        expect(await failureOf(change({ [file.id]: 'nothing' }))).to.deep.equal({
          code: 'FILE_REFERENCE_INVALID',
          details: { field: `dynamicFields.${file.id}`, value: 'nothing' },
        });
      });

      it('of a field hidden from a role are neither read nor overwritten by it', async () => {
        const t = withRole('finance');
        const open = await aField(t);
        const hidden = await aField(t, { visibleRoles: ['finance'] });
        const sales = t.as({ ...role('sales'), rights: { ...t.call.rights, admin: false } });
        const made = await t.plane.createContract(aContract({ dynamicFields: { [open.id]: 'o', [hidden.id]: 'h' } }));
        expect((await sales.listFields({})).map(({ id }) => id)).to.deep.equal([open.id]);
        expect((await t.plane.listFields({})).map(({ id }) => id)).to.deep.equal([open.id, hidden.id]);
        expect((await sales.getContract({ contractId: made.id })).dynamicFields).to.deep.equal({ [open.id]: 'o' });
        expect((await listedContracts(sales, {})).items[0]?.dynamicFields).to.deep.equal({ [open.id]: 'o' });
        // The field is treated as missing, even if the request repeats its value.
        for (const value of ['h', 'x', null])
          expect(
            await failureOf(
              sales.updateContract({ contractId: made.id, changes: { dynamicFields: { [hidden.id]: value } } }),
            ),
          ).to.deep.equal(issues([hidden.id, 'is not a known field']));
        expect(await failureOf(sales.createContract(aContract({ dynamicFields: { [hidden.id]: 'x' } })))).to.deep.equal(
          issues([hidden.id, 'is not a known field']),
        );
        expect(
          (await sales.updateContract({ contractId: made.id, changes: { dynamicFields: null } })).dynamicFields,
        ).to.deep.equal({});
        expect((await t.plane.getContract({ contractId: made.id })).dynamicFields).to.deep.equal({ [hidden.id]: 'h' });
        // The operator sees everything.
        expect((await t.as(role(null)).getContract({ contractId: made.id })).dynamicFields).to.deep.equal({
          [hidden.id]: 'h',
        });
      });

      it('of a field that a role sees but may not write are refused, unless unchanged', async () => {
        const t = withRole('finance');
        const [free, fixed] = [await aField(t), await aField(t, { editableRoles: ['finance'], defaultValue: 'begin' })];
        const sales = t.as(role('sales'));
        const refused = { code: 'FIELD_NOT_EDITABLE', details: { fields: [fixed.id] } };
        const made = await sales.createContract(aContract({ dynamicFields: { [free.id]: 'a', [fixed.id]: 'begin' } }));
        expect(made.dynamicFields).to.deep.equal({ [free.id]: 'a', [fixed.id]: 'begin' });
        expect(
          await failureOf(sales.createContract(aContract({ dynamicFields: { [fixed.id]: 'other' } }))),
        ).to.deep.equal(refused);
        const change = (dynamicFields: Record<string, unknown> | null) =>
          sales.updateContract({ contractId: made.id, changes: { dynamicFields } });
        for (const value of ['other', null, '', 5])
          expect(await failureOf(change({ [fixed.id]: value })), String(value)).to.deep.equal(refused);
        expect(await failureOf(change({ [fixed.id]: 'other', [free.id]: 5 }))).to.deep.equal(
          issues([free.id, 'must be a string']),
        );
        expect((await change({ [fixed.id]: ' begin ', [free.id]: 'b' })).dynamicFields).to.deep.equal({
          [free.id]: 'b',
          [fixed.id]: 'begin',
        });
        expect((await change(null)).dynamicFields).to.deep.equal({ [fixed.id]: 'begin' });
        expect(
          (await t.plane.updateContract({ contractId: made.id, changes: { dynamicFields: { [fixed.id]: 'end' } } }))
            .dynamicFields,
        ).to.deep.equal({ [fixed.id]: 'end' });
      });

      it('are hidden when their field is archived, and visible again when it is restored', async () => {
        const t = makePlane();
        const field = await aField(t);
        const made = await t.plane.createContract(aContract({ dynamicFields: { [field.id]: 'kept' } }));
        await fieldCommand(t, 'ArchiveField', { fieldId: field.id });
        expect(
          (await t.plane.updateContract({ contractId: made.id, changes: { dynamicFields: null, remark: 'r' } }))
            .dynamicFields,
        ).to.deep.equal({});
        expect((await t.plane.listFields({})).map(({ archived }) => archived)).to.deep.equal([true]);
        expect(await t.as({ rights: { ...t.call.rights, admin: false } }).listFields({})).to.deep.equal([]);
        await fieldCommand(t, 'ArchiveField', { fieldId: field.id, archived: false });
        expect((await t.plane.getContract({ contractId: made.id })).dynamicFields).to.deep.equal({
          [field.id]: 'kept',
        });
      });

      it('are required at creation and cannot be cleared if their field is required; existing contracts are unaffected', async () => {
        const t = makePlane();
        const old = await t.plane.createContract(aContract());
        const field = await aField(t, { required: true });
        const hidden = await aField(t, { required: true, visibleRoles: ['finance'] });
        const locked = await aField(t, { required: true, editableRoles: ['finance'] });
        for (const dynamicFields of [undefined, null, {}, { [field.id]: ' ' }]) {
          expect(
            await failureOf(t.plane.createContract(aContract(dynamicFields === undefined ? {} : { dynamicFields }))),
          ).to.deep.equal(issues([field.id, 'is required']));
        }
        const made = await t.plane.createContract(aContract({ dynamicFields: { [field.id]: 'x' } }));
        for (const dynamicFields of [null, { [field.id]: null }, { [field.id]: '' }])
          expect(
            await failureOf(t.plane.updateContract({ contractId: made.id, changes: { dynamicFields } })),
          ).to.deep.equal(issues([field.id, 'is required']));
        expect((await t.plane.updateContract({ contractId: old.id, changes: { remark: 'still' } })).remark).to.equal(
          'still',
        );
        expect((await t.plane.updateContract({ contractId: old.id, changes: { dynamicFields: {} } })).version).to.equal(
          2,
        );
        expect(await failureOf(t.as(role('finance')).createContract(aContract()))).to.deep.equal(
          issues([field.id, 'is required'], [hidden.id, 'is required'], [locked.id, 'is required']),
        );
      });

      it('have defaults at creation, even if the caller cannot see the field', async () => {
        const t = makePlane();
        const seen = await aField(t, { type: 'number', defaultValue: 7, required: true });
        const hidden = await aField(t, { defaultValue: 'h', visibleRoles: ['finance'] });
        const made = await t.plane.createContract(aContract());
        expect(made.dynamicFields).to.deep.equal({ [seen.id]: 7 });
        expect((await t.as(role('finance')).getContract({ contractId: made.id })).dynamicFields).to.deep.equal({
          [seen.id]: 7,
          [hidden.id]: 'h',
        });
        expect(
          (await t.plane.createContract(aContract({ dynamicFields: { [seen.id]: null } }))).dynamicFields,
        ).to.deep.equal({ [seen.id]: 7 });
        expect(
          (await t.plane.createContract(aContract({ dynamicFields: { [seen.id]: 0 } }))).dynamicFields,
        ).to.deep.equal({ [seen.id]: 0 });
      });

      it('are refused for contract types that their field does not apply to', async () => {
        const t = makePlane();
        const field = await aField(t, { typeCodes: ['lease'], required: true });
        const lease = (changes: Partial<ContractInput> = {}) =>
          aContract({ typeCode: 'lease', dynamicFields: { [field.id]: 'x' }, ...changes });
        const made = await t.plane.createContract(lease());
        expect(await failureOf(t.plane.createContract(lease({ dynamicFields: null })))).to.deep.equal(
          issues([field.id, 'is required']),
        );
        expect((await t.plane.createContract(aContract())).dynamicFields).to.deep.equal({});
        expect(await failureOf(t.plane.createContract(lease({ typeCode: 'sale' })))).to.deep.equal(
          issues([field.id, 'does not apply to contracts of this type']),
        );
        // Without a code the type decides.
        expect((await t.plane.createContract(lease({ typeCode: null, type: 'lease' }))).dynamicFields).to.deep.equal({
          [field.id]: 'x',
        });
        // Values that a contract has when its type changes are kept, and may be cleared.
        const sold = await t.plane.updateContract({
          contractId: made.id,
          changes: { typeCode: 'sale', dynamicFields: { [field.id]: 'x' } },
        });
        expect(sold.dynamicFields).to.deep.equal({ [field.id]: 'x' });
        expect(
          await failureOf(
            t.plane.updateContract({ contractId: made.id, changes: { dynamicFields: { [field.id]: 'y' } } }),
          ),
        ).to.deep.equal(issues([field.id, 'does not apply to contracts of this type']));
        expect(
          (await t.plane.updateContract({ contractId: made.id, changes: { dynamicFields: { [field.id]: null } } }))
            .dynamicFields,
        ).to.deep.equal({});
      });

      it('follow a change of definitions from the next read, in this process and in others', async () => {
        const t = makePlane();
        const field = await aField(t, { name: 'Before' });
        const made = await t.plane.createContract(aContract({ dynamicFields: { [field.id]: 'x' } }));
        for (let round = 0; round < 3; round++) {
          await fieldCommand(t, 'ArchiveField', { fieldId: field.id, archived: true });
          expect((await t.plane.getContract({ contractId: made.id })).dynamicFields).to.deep.equal({});
          await fieldCommand(t, 'ArchiveField', { fieldId: field.id, archived: false });
          expect((await t.plane.getContract({ contractId: made.id })).dynamicFields).to.deep.equal({ [field.id]: 'x' });
        }
      });

      it('are not looked up for contracts without any', async () => {
        const t = makePlane();
        await aField(t);
        await t.plane.createContract(aContract());
        const asked: string[] = [];
        const listening = (tx: Transaction): Transaction => {
          const reported = (read: 'get' | 'all') => (sql: string, values?: readonly Value[]) => {
            asked.push(sql);
            return tx[read](sql, values);
          };
          return Object.assign(Object.create(tx) as Transaction, { get: reported('get'), all: reported('all') });
        };
        const read: Database['read'] = (scope, work) => t.database.read(scope, (tx) => work(listening(tx)));
        const database = Object.assign(Object.create(t.database) as Database, { read });
        const plane = createLocalDataPlane({
          operations: OPERATIONS,
          database,
          clock: t.clock,
          keyRing: parseKeyRing(generateKeyRingText()),
        });
        expect((await plane.invoke('listContracts', { call: t.call }, {})).output.total).to.equal(1);
        expect(asked.length).to.be.greaterThan(1);
        expect(asked.filter((sql) => sql.includes('dynamic_field_sets'))).to.deep.equal([]);
      });
    },
    { only: PLANES },
  );
});
