import { expect } from 'chai';
import { newId } from '../../data-plane-agent/base/ids.js';
import { badFields, failureOf } from '../support/failures.js';
import { forEachPlane, type TestPlane } from '../support/plane.js';
import { aContract } from '../support/samples.js';

const NOT_FOUND = { code: 'NOT_FOUND', details: {} };
const TERM = { kind: 'delivery' as const, title: 'Ex works', note: 'Shanghai' };

describe('notes and terms of a contract', () => {
  forEachPlane((_name, makePlane) => {
    const detail = (t: TestPlane, contractId: string) => t.plane.getContract({ contractId });

    it('are added after the existing ones, and changed and removed one by one', async () => {
      const t = makePlane();
      const { id } = await t.plane.createContract(
        aContract({ extraNotes: [{ label: 'first', value: 'a' }], terms: [{ ...TERM, date: '2026-04-01' }] }),
      );
      const note = await t.plane.addNote({ contractId: id, label: 'second', value: 'b' });
      const term = await t.plane.addTerm({ contractId: id, ...TERM, kind: 'other' });
      expect([note.label, note.contractVersion, term.kind, term.date, term.contractVersion]).to.deep.equal([
        'second',
        2,
        'other',
        null,
        3,
      ]);
      t.clock.advance(1_000);
      const changedNote = await t.plane.updateNote({ contractId: id, noteId: note.id, value: 'bb' });
      const changedTerm = await t.plane.updateTerm({
        contractId: id,
        termId: term.id,
        date: '2026-05-01',
        title: 'FOB',
      });
      expect(changedNote).to.deep.equal({ ...note, value: 'bb', updatedAt: changedNote.updatedAt, contractVersion: 4 });
      expect(changedTerm).to.deep.equal({
        ...term,
        date: '2026-05-01',
        title: 'FOB',
        updatedAt: changedTerm.updatedAt,
        contractVersion: 5,
      });
      expect(changedNote.updatedAt > note.updatedAt).to.equal(true);
      const { contractVersion: _n, ...shownNote } = changedNote;
      const { contractVersion: _t, ...shownTerm } = changedTerm;
      const seen = await detail(t, id);
      expect([seen.notes[1], seen.terms[1], seen.version]).to.deep.equal([shownNote, shownTerm, 5]);
      expect((await t.plane.updateTerm({ contractId: id, termId: term.id, date: null })).date).to.equal(null);
      await t.plane.deleteNote({ contractId: id, noteId: seen.notes[0]?.id ?? '' });
      await t.plane.deleteTerm({ contractId: id, termId: seen.terms[0]?.id ?? '' });
      const after = await detail(t, id);
      expect([
        after.notes.map(({ id: noteId }) => noteId),
        after.terms.map(({ id: termId }) => termId),
        after.version,
      ]).to.deep.equal([[note.id], [term.id], 8]);
      const third = await t.plane.addNote({ contractId: id, label: 'third', value: 'c' });
      expect((await detail(t, id)).notes.map(({ id: noteId }) => noteId)).to.deep.equal([note.id, third.id]);
    });

    it('leave no trace of a request that changes nothing', async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract({ extraNotes: [{ label: 'l', value: 'v' }], terms: [TERM] }));
      t.clock.advance(1_000);
      await t.plane.updateNote({ contractId: made.id, noteId: made.notes[0]?.id ?? '', label: 'l' });
      await t.plane.updateTerm({ contractId: made.id, termId: made.terms[0]?.id ?? '', ...TERM, date: null });
      expect(await detail(t, made.id)).to.deep.equal(made);
      expect((await t.plane.listHistory({ contractId: made.id })).total).to.equal(1);
    });

    it('on a locked contract, existing terms cannot be changed, and nothing else is blocked', async () => {
      const t = makePlane({ controls: { active: 'admin' } });
      const made = await t.plane.createContract(
        aContract({ workflowStage: 'active', extraNotes: [{ label: 'l', value: 'v' }], terms: [TERM] }),
      );
      const [note, term] = [made.notes[0]?.id ?? '', made.terms[0]?.id ?? ''];
      const locked = { code: 'CONTRACT_LOCKED', details: { fields: ['terms'] } };
      expect(await failureOf(t.plane.updateTerm({ contractId: made.id, termId: term, title: 'other' }))).to.deep.equal(
        locked,
      );
      expect(await failureOf(t.plane.deleteTerm({ contractId: made.id, termId: term }))).to.deep.equal(locked);
      expect(
        (await t.plane.updateTerm({ contractId: made.id, termId: term, title: TERM.title })).contractVersion,
      ).to.equal(1);
      await t.plane.addTerm({ contractId: made.id, ...TERM });
      await t.plane.addNote({ contractId: made.id, label: 'x', value: 'y' });
      await t.plane.updateNote({ contractId: made.id, noteId: note, value: 'w' });
      await t.plane.deleteNote({ contractId: made.id, noteId: note });
      const after = await detail(t, made.id);
      expect([after.terms.length, after.notes.length, after.version]).to.deep.equal([2, 1, 5]);
    });

    it('are found only in their own contract, within the scopes', async () => {
      const t = makePlane();
      const mine = await t.plane.createContract(aContract({ extraNotes: [{ label: 'l', value: 'v' }], terms: [TERM] }));
      const other = await t.plane.createContract(aContract());
      const [noteId, termId] = [mine.notes[0]?.id ?? '', mine.terms[0]?.id ?? ''];
      const attempts = (plane: TestPlane['plane'], contractId: string, part: { noteId: string; termId: string }) => [
        () => plane.updateNote({ contractId, noteId: part.noteId, value: 'stolen' }),
        () => plane.deleteNote({ contractId, noteId: part.noteId }),
        () => plane.updateTerm({ contractId, termId: part.termId, note: 'stolen' }),
        () => plane.deleteTerm({ contractId, termId: part.termId }),
      ];
      const added = (plane: TestPlane['plane'], contractId: string) => [
        () => plane.addNote({ contractId, label: 'x', value: 'y' }),
        () => plane.addTerm({ contractId, ...TERM }),
      ];
      const unseen = [makePlane().plane, t.as({ subjectScope: [newId()] }), t.as({ ownerScope: newId() })];
      const refused = [
        ...attempts(t.plane, other.id, { noteId, termId }),
        ...attempts(t.plane, mine.id, { noteId: newId(), termId: 'none' }),
        ...unseen.flatMap((plane) => [...attempts(plane, mine.id, { noteId, termId }), ...added(plane, mine.id)]),
        ...added(t.plane, newId()),
      ];
      for (const attempt of refused) expect(await failureOf(attempt())).to.deep.equal(NOT_FOUND);
      expect(await detail(t, mine.id)).to.deep.equal(mine);
    });

    it("are guarded by the contract's version", async () => {
      const t = makePlane();
      const made = await t.plane.createContract(aContract({ extraNotes: [{ label: 'l', value: 'v' }], terms: [TERM] }));
      await t.plane.addNote({ contractId: made.id, label: 'x', value: 'y' });
      const late = t.as({ ifVersion: 1 });
      const [noteId, termId] = [made.notes[0]?.id ?? '', made.terms[0]?.id ?? ''];
      const contractId = made.id;
      const attempts = [
        () => late.addNote({ contractId, label: 'a', value: 'b' }),
        () => late.updateNote({ contractId, noteId, value: 'x' }),
        () => late.deleteNote({ contractId, noteId }),
        () => late.addTerm({ contractId, ...TERM }),
        () => late.updateTerm({ contractId, termId, note: 'x' }),
        () => late.deleteTerm({ contractId, termId }),
      ];
      for (const attempt of attempts) {
        expect(await failureOf(attempt())).to.deep.equal({ code: 'VERSION_MISMATCH', details: { version: 2 } });
      }
      expect(
        (await t.as({ ifVersion: 2 }).addNote({ contractId: made.id, label: 'a', value: 'b' })).contractVersion,
      ).to.equal(3);
    });

    it('keep all parallel additions, in a stable order', async () => {
      const t = makePlane();
      const { id } = await t.plane.createContract(aContract());
      await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          i % 2
            ? t.plane.addNote({ contractId: id, label: `n${i}`, value: 'v' })
            : t.plane.addTerm({ contractId: id, ...TERM, title: `t${i}` }),
        ),
      );
      const after = await detail(t, id);
      expect([after.notes.length, after.terms.length, after.version]).to.deep.equal([6, 6, 13]);
      expect((await detail(t, id)).notes).to.deep.equal(after.notes);
    });

    it('are limited in number', async () => {
      const t = makePlane();
      const { id } = await t.plane.createContract(
        aContract({
          extraNotes: Array.from({ length: 2_000 }, (_, i) => ({ label: `${i}`, value: 'v' })),
          terms: Array.from({ length: 2_000 }, () => TERM),
        }),
      );
      expect(await badFields(t.plane.addNote({ contractId: id, label: 'x', value: 'y' }))).to.deep.equal({
        notes: 'must have at most 2000 items',
      });
      expect(await badFields(t.plane.addTerm({ contractId: id, ...TERM }))).to.deep.equal({
        terms: 'must have at most 2000 items',
      });
    });
  });
});
