import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import type { FieldCommandType } from '../../data-plane-agent/plane/contract/records/fields.js';
import { failureOf } from '../support/failures.js';
import { aField, fieldCommand } from '../support/fields.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

describe('custom field commands', () => {
  forEachPlane((name, makePlane) => {
    /** Bypasses the types, as a client may send anything. */
    const raw = (
      { plane }: Pick<TestPlane, 'plane'>,
      type: FieldCommandType,
      payload: Readonly<Record<string, unknown>>,
    ) => plane.runFieldCommand({ type, payload });
    const issuesOf = async (promise: Promise<unknown>): Promise<string[]> => {
      const failure = await failureOf(promise);
      expect(failure).to.have.property('code', 'INVALID_INPUT');
      return (failure.details as { issues: { path: string; problem: string }[] }).issues.map(
        ({ path, problem }) => `${path} ${problem}`,
      );
    };
    const names = async ({ plane }: Pick<TestPlane, 'plane'>) =>
      (await plane.listFields({}))
        .filter(({ archived }) => !archived)
        .map(({ section, order, name }) => `${section ?? '-'} ${order} ${name}`);

    it('create a field with all properties of a definition', async () => {
      const t = makePlane();
      const payload = {
        name: 'Crane colour',
        type: 'select',
        description: 'As delivered',
        required: true,
        options: [{ label: 'Red', color: '#f00' }, { label: 'Blue' }],
        defaultValue: 'blue',
        typeCodes: ['sale'],
        visibleRoles: ['sales', 'legal'],
        editableRoles: ['sales'],
        section: 'Technical',
        order: 7,
      } as const;
      const { field, type, commandId, result } = await fieldCommand(t, 'CreateField', {
        ...payload,
        options: [...payload.options],
        typeCodes: [...payload.typeCodes],
        visibleRoles: [...payload.visibleRoles],
        editableRoles: [...payload.editableRoles],
      });
      const [red, blue] = field.options;
      expect([type, result, commandId.length]).to.deep.equal(['CreateField', undefined, 36]);
      expect(field).to.deep.equal({
        id: field.id,
        code: 'crane_colour',
        name: 'Crane colour',
        description: 'As delivered',
        type: 'select',
        required: true,
        options: [
          { id: red?.id, label: 'Red', color: '#f00', order: 1, archived: false },
          { id: blue?.id, label: 'Blue', color: null, order: 2, archived: false },
        ],
        defaultValue: blue?.id,
        settings: { precision: null, currencyCode: null, min: null, max: null, maxLength: null, unit: null },
        typeCodes: ['sale'],
        visibleRoles: ['sales', 'legal'],
        editableRoles: ['sales'],
        order: 1,
        section: 'Technical',
        archived: false,
        version: 1,
        createdAt: field.createdAt,
        updatedAt: field.createdAt,
      });
      expect(await t.plane.listFields({})).to.deep.equal([field]);
    });

    it('derive codes from names, made unique by numbers and never reused', async () => {
      const t = makePlane();
      const codeOf = async (name: string) => (await aField(t, { name })).code;
      expect(await codeOf('Gate No. 4')).to.equal('gate_no_4');
      expect(await codeOf('Größe (m²)')).to.equal('gro_e_m2');
      expect(await codeOf('合同备注')).to.equal('field');
      expect(await codeOf('验收人')).to.equal('field_2');
      expect(await codeOf('3rd party')).to.equal('field_3rd_party');
      expect(await codeOf('x')).to.equal('field_x');
      const removed = await aField(t, { name: 'Once', code: 'once' });
      await fieldCommand(t, 'ArchiveField', { fieldId: removed.id });
      expect(await failureOf(aField(t, { name: 'Another', code: 'once' }))).to.deep.equal({
        code: 'DUPLICATE_CODE',
        details: { field: 'code', value: 'once' },
      });
      expect(await codeOf('Once')).to.equal('once_2');
    });

    it('report each field of a contradictory definition once, with a 400', async () => {
      const t = makePlane();
      const create = (more: Readonly<Record<string, unknown>>) =>
        raw(t, 'CreateField', { name: 'F', type: 'text', ...more });
      expect(await issuesOf(raw(t, 'CreateField', {}))).to.deep.equal([
        'payload.name is required',
        'payload.type is required',
      ]);
      expect(await issuesOf(create({ fieldId: newId(), dryRun: true }))).to.deep.equal([
        'payload.fieldId is not a known field',
        'payload.dryRun is not a known field',
      ]);
      expect(await issuesOf(create({ code: 'Bad Code' }))).to.deep.equal([
        'payload.code must match ^[a-z][a-z0-9_]{1,63}$',
      ]);
      expect(await issuesOf(create({ type: 'colour' }))).to.have.length(1);
      expect(
        await issuesOf(
          create({
            options: [{ label: 'A' }],
            settings: { precision: 2, maxLength: 501 },
            defaultValue: 5,
            visibleRoles: ['sales'],
            editableRoles: ['legal'],
          }),
        ),
      ).to.deep.equal([
        'payload.settings.precision must be left out for a field of the type text',
        'payload.settings.maxLength must be <= 500 for the type text',
        'payload.options must be left out for a field of the type text',
        'payload.editableRoles must be among visibleRoles',
        'payload.defaultValue must be a string',
      ]);
      expect(await issuesOf(create({ type: 'select', options: [{ label: 'A' }, { label: ' a ' }] }))).to.deep.equal([
        'payload.options[1].label must differ from the other labels, in more than case',
      ]);
      expect(await issuesOf(create({ type: 'select', options: [{ label: 'A' }], defaultValue: 'B' }))).to.deep.equal([
        "payload.defaultValue must be the id of one of the field's options",
      ]);
      expect(await issuesOf(create({ type: 'number', settings: { min: 2, max: 1 } }))).to.deep.equal([
        'payload.settings.max must not be below min',
      ]);
      expect(
        await issuesOf(create({ type: 'currency', settings: { currencyCode: 'JPY', precision: 2 } })),
      ).to.deep.equal(['payload.settings.precision must be <= 0 in JPY']);
      expect(await issuesOf(raw(t, 'MoveField', { fieldId: newId(), colour: 1 }))).to.deep.equal([
        'payload.colour is not a known field',
      ]);
      expect(await t.plane.listFields({})).to.deep.equal([]);
    });

    it('report a missing record with its field', async () => {
      const t = makePlane();
      const missingId = newId();
      const unknown = (field: string, value: string) => ({ code: 'REFERENCE_INVALID', details: { field, value } });
      expect(await failureOf(fieldCommand(t, 'RenameField', { fieldId: missingId, name: 'N' }))).to.deep.equal(
        unknown('payload.fieldId', missingId),
      );
      const others = await aField(makePlane(), { name: 'Of another tenant' });
      expect(await failureOf(fieldCommand(t, 'ArchiveField', { fieldId: others.id }))).to.deep.equal(
        unknown('payload.fieldId', others.id),
      );
      expect(await failureOf(aField(t, { typeCodes: ['sale', 'barter'] }))).to.deep.equal(
        unknown('payload.typeCodes', 'barter'),
      );
      expect(await failureOf(aField(t, { visibleRoles: ['sales', 'pirate'] }, { roleCodes: ['sales'] }))).to.deep.equal(
        unknown('payload.visibleRoles', 'pirate'),
      );
      expect(await failureOf(aField(t, { type: 'user', defaultValue: missingId }, { members: [] }))).to.deep.equal(
        unknown('payload.defaultValue', missingId),
      );
      expect(await failureOf(aField(t, { type: 'file', defaultValue: missingId }))).to.deep.equal({
        code: 'FILE_REFERENCE_INVALID',
        details: { field: 'payload.defaultValue', value: missingId },
      });
      const choice = await aField(t, { type: 'select' });
      expect(
        await failureOf(
          fieldCommand(t, 'UpdateFieldOptions', { fieldId: choice.id, options: [{ id: missingId, label: 'A' }] }),
        ),
      ).to.deep.equal(unknown('payload.options[0].id', missingId));
    });

    it('refuse a name that another live field has in any case, also when a field is restored', async () => {
      const t = makePlane();
      const taken = { code: 'DUPLICATE_CODE', details: { field: 'name', value: 'GATE' } };
      const gate = await aField(t, { name: 'Gate' });
      const other = await aField(t, { name: 'Other' });
      expect(await failureOf(aField(t, { name: 'GATE' }))).to.deep.equal(taken);
      expect(await failureOf(fieldCommand(t, 'RenameField', { fieldId: other.id, name: 'GATE' }))).to.deep.equal(taken);
      const upper = (await fieldCommand(t, 'RenameField', { fieldId: gate.id, name: 'GATE' })).field;
      expect([upper.name, upper.code, upper.version]).to.deep.equal(['GATE', 'gate', 2]);
      expect((await fieldCommand(t, 'RenameField', { fieldId: gate.id, name: 'GATE' })).field).to.deep.equal(upper);
      await fieldCommand(t, 'ArchiveField', { fieldId: gate.id });
      await fieldCommand(t, 'RenameField', { fieldId: other.id, name: 'gate' });
      expect(await failureOf(fieldCommand(t, 'ArchiveField', { fieldId: gate.id, archived: false }))).to.deep.equal(
        taken,
      );
    });

    it('accept one of several concurrent requests for the same name', async () => {
      const t = makePlane();
      const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => aField(t, { name: 'Wanted' })));
      expect(outcomes.map(({ status }) => status).toSorted()).to.deep.equal([
        'fulfilled',
        'rejected',
        'rejected',
        'rejected',
      ]);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).to.have.property('code', 'DUPLICATE_CODE');
    });

    it('number positions from one in each section, after every move', async () => {
      const t = makePlane();
      const [a, b, c] = [
        await aField(t, { name: 'a' }),
        await aField(t, { name: 'b' }),
        await aField(t, { name: 'c' }),
      ];
      await aField(t, { name: 'x', section: 'S' });
      await aField(t, { name: 'first', order: 1 });
      expect(await names(t)).to.deep.equal(['- 1 first', '- 2 a', '- 3 b', '- 4 c', 'S 1 x']);
      await fieldCommand(t, 'MoveField', { fieldId: c.id, beforeFieldId: a.id });
      expect(await names(t)).to.deep.equal(['- 1 first', '- 2 c', '- 3 a', '- 4 b', 'S 1 x']);
      await fieldCommand(t, 'MoveField', { fieldId: c.id, afterFieldId: a.id });
      expect(await names(t)).to.deep.equal(['- 1 first', '- 2 a', '- 3 c', '- 4 b', 'S 1 x']);
      await fieldCommand(t, 'MoveField', { fieldId: a.id, order: 900 });
      expect(await names(t)).to.deep.equal(['- 1 first', '- 2 c', '- 3 b', '- 4 a', 'S 1 x']);
      await fieldCommand(t, 'MoveField', { fieldId: b.id, order: 1, section: 'S' });
      expect(await names(t)).to.deep.equal(['- 1 first', '- 2 c', '- 3 a', 'S 1 b', 'S 2 x']);
      await fieldCommand(t, 'MoveField', { fieldId: b.id, section: null });
      expect(await names(t)).to.deep.equal(['- 1 first', '- 2 c', '- 3 a', '- 4 b', 'S 1 x']);
      await fieldCommand(t, 'ArchiveField', { fieldId: c.id });
      expect(await names(t)).to.deep.equal(['- 1 first', '- 2 a', '- 3 b', 'S 1 x']);
      await fieldCommand(t, 'ArchiveField', { fieldId: c.id, archived: false });
      expect(await names(t)).to.deep.equal(['- 1 first', '- 2 a', '- 3 b', '- 4 c', 'S 1 x']);
      const before = await t.plane.listFields({});
      await fieldCommand(t, 'MoveField', { fieldId: c.id, order: 4 });
      expect(await t.plane.listFields({})).to.deep.equal(before);
      expect(await issuesOf(fieldCommand(t, 'MoveField', { fieldId: c.id }))).to.deep.equal([
        'payload must contain order, beforeFieldId, afterFieldId or section',
      ]);
      expect(
        await issuesOf(fieldCommand(t, 'MoveField', { fieldId: c.id, order: 1, afterFieldId: a.id })),
      ).to.deep.equal(['payload.afterFieldId cannot be combined with order']);
      expect(
        await issuesOf(fieldCommand(t, 'MoveField', { fieldId: c.id, afterFieldId: a.id, section: 'S' })),
      ).to.deep.equal(['payload.section must be the section of afterFieldId, or be left out']);
    });

    it('move a field to the section of its new neighbour, unless the request names a third section', async () => {
      const t = makePlane();
      const [a, b, x] = [
        await aField(t, { name: 'a' }),
        await aField(t, { name: 'b' }),
        await aField(t, { name: 'x', section: 'S' }),
      ];
      await aField(t, { name: 'y', section: 'T' });
      await fieldCommand(t, 'MoveField', { fieldId: a.id, beforeFieldId: x.id });
      expect(await names(t)).to.deep.equal(['- 1 b', 'S 1 a', 'S 2 x', 'T 1 y']);
      await fieldCommand(t, 'MoveField', { fieldId: b.id, afterFieldId: a.id, section: 'S' });
      expect(await names(t)).to.deep.equal(['S 1 a', 'S 2 b', 'S 3 x', 'T 1 y']);
      const y = (await t.plane.listFields({})).find(({ name }) => name === 'y');
      // The current section of the field is not a third one.
      await fieldCommand(t, 'MoveField', { fieldId: b.id, afterFieldId: y?.id ?? '', section: 'S' });
      expect(await names(t)).to.deep.equal(['S 1 a', 'S 2 x', 'T 1 y', 'T 2 b']);
      for (const section of ['R', null])
        for (const where of [{ beforeFieldId: x.id }, { afterFieldId: x.id }]) {
          expect(await issuesOf(fieldCommand(t, 'MoveField', { fieldId: b.id, ...where, section }))).to.deep.equal([
            `payload.section must be the section of ${Object.keys(where).join('')}, or be left out`,
          ]);
        }
      expect(await names(t)).to.deep.equal(['S 1 a', 'S 2 x', 'T 1 y', 'T 2 b']);
    });

    it('place a copy after its original, with the values on request', async () => {
      const t = makePlane();
      const gate = await aField(t, { name: 'Gate', type: 'number', settings: { precision: 1 }, required: true });
      await aField(t, { name: 'Last' });
      const made = await t.plane.createContract(aContract({ dynamicFields: { [gate.id]: 4.5 } }));
      const empty = await fieldCommand(t, 'DuplicateField', { fieldId: gate.id });
      const full = await fieldCommand(t, 'DuplicateField', { fieldId: gate.id, name: 'Door', includeValues: true });
      expect([
        empty.field.name,
        empty.field.code,
        empty.field.settings.precision,
        empty.field.required,
        empty.result,
      ]).to.deep.equal(['Gate 2', 'gate_2', 1, true, undefined]);
      expect([full.field.code, full.result]).to.deep.equal([
        'gate_3',
        { dryRun: false, total: 1, converted: 1, cleared: 0, unchanged: 0, samples: [] },
      ]);
      expect(await names(t)).to.deep.equal(['- 1 Gate', '- 2 Door', '- 3 Gate 2', '- 4 Last']);
      const read = await t.plane.getContract({ contractId: made.id });
      expect([read.dynamicFields, read.version]).to.deep.equal([{ [gate.id]: 4.5, [full.field.id]: 4.5 }, 1]);
    });

    it('replace the options, of which known ones keep their id and removed ones their label', async () => {
      const t = makePlane();
      const field = await aField(t, {
        type: 'multi_select',
        options: [{ label: 'A', color: 'red' }, { label: 'B' }, { label: 'C' }],
      });
      const [a = '', b = '', c = ''] = field.options.map(({ id }) => id);
      const made = await t.plane.createContract(aContract({ dynamicFields: { [field.id]: [a, b] } }));
      const update = (options: { id?: string; label: string }[], onRemoved?: 'archive' | 'clear') =>
        fieldCommand(t, 'UpdateFieldOptions', { fieldId: field.id, options, ...(onRemoved ? { onRemoved } : {}) });
      const archived = (await update([{ id: c, label: 'See' }, { label: 'b' }, { label: 'D' }])).field;
      expect(
        archived.options.map(({ id, label, order, archived: removed }) => [id, label, order, removed]),
      ).to.deep.equal([
        [c, 'See', 1, false],
        [b, 'b', 2, false],
        [archived.options[2]?.id, 'D', 3, false],
        [a, 'A', 4, true],
      ]);
      expect((await t.plane.getContract({ contractId: made.id })).dynamicFields).to.deep.equal({ [field.id]: [a, b] });
      // A stored value may remain, but a removed option cannot be set.
      expect(
        (await t.plane.updateContract({ contractId: made.id, changes: { dynamicFields: { [field.id]: [a, b, c] } } }))
          .dynamicFields,
      ).to.deep.equal({ [field.id]: [a, b, c] });
      expect(
        await failureOf(t.plane.createContract(aContract({ dynamicFields: { [field.id]: [a] } }))),
      ).to.have.property('code', 'INVALID_INPUT');
      const back = (await update([{ label: 'a' }, { id: c, label: 'See' }])).field;
      expect(back.options.find(({ id }) => id === a)).to.deep.equal({
        id: a,
        label: 'a',
        color: 'red',
        order: 1,
        archived: false,
      });
      const cleared = await update([{ id: c, label: 'See' }], 'clear');
      expect(cleared.result).to.deep.equal({
        dryRun: false,
        total: 1,
        converted: 1,
        cleared: 0,
        unchanged: 0,
        samples: [],
      });
      expect((await t.plane.getContract({ contractId: made.id })).dynamicFields).to.deep.equal({ [field.id]: [b, c] });
      expect((await update([], 'clear')).result).to.include({ converted: 1, cleared: 0 });
      expect(
        await issuesOf(fieldCommand(t, 'UpdateFieldOptions', { fieldId: (await aField(t)).id, options: [] })),
      ).to.deep.equal(['payload.fieldId must be a field with options; this one is of the type text']);
    });

    // This test sends hundreds of commands, so one database is enough.
    if (name === 'sqlite')
      it('allow at most two hundred fields in use', async () => {
        const t = makePlane();
        for (let i = 0; i < 200; i++) await aField(t);
        const limit = { code: 'LIMIT_REACHED', details: { limit: 200 } };
        expect(await failureOf(aField(t))).to.deep.equal(limit);
        const [first] = await t.plane.listFields({});
        expect(await failureOf(fieldCommand(t, 'DuplicateField', { fieldId: first?.id ?? '' }))).to.deep.equal(limit);
        await fieldCommand(t, 'ArchiveField', { fieldId: first?.id ?? '' });
        await aField(t);
        expect(
          await failureOf(fieldCommand(t, 'ArchiveField', { fieldId: first?.id ?? '', archived: false })),
        ).to.deep.equal(limit);
      });

    it('add one audit row each, and none for a command that changes nothing or only reads', async () => {
      const t = makePlane();
      const field = await aField(t, { name: 'Told' });
      await fieldCommand(t, 'RenameField', { fieldId: field.id, name: 'Told' });
      await fieldCommand(t, 'UpdateFieldType', { fieldId: field.id, type: 'number', dryRun: true });
      await fieldCommand(t, 'UpdateFieldType', { fieldId: field.id, type: 'number' });
      const rows = await t.database.read(t.call, (tx) =>
        tx.all('SELECT action, record_kind, changes FROM audit_log WHERE tenant_id = ? AND record_id = ? ORDER BY id', [
          t.call.tenantId,
          field.id,
        ]),
      );
      expect(rows.map((row) => [row['action'], row['record_kind']])).to.deep.equal([
        ['runFieldCommand', 'dynamic_field'],
        ['runFieldCommand', 'dynamic_field'],
      ]);
      expect(JSON.parse(String(rows[1]?.['changes']))).to.deep.equal([
        {
          record: 'dynamic_field',
          id: field.id,
          fields: { type: ['text', 'number'], values: [null, { converted: 0, cleared: 0, unchanged: 0 }] },
        },
      ]);
    });
  });
});
