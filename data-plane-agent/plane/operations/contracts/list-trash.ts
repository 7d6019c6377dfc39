import { pageOf } from '../../contract/records/common.js';
import { TrashPage, TrashQuery } from '../../contract/records/trash.js';
import { RESTORABLE_MS, trashedContract } from '../../domain/contracts/trash.js';
import { operation } from '../../steps/operation-context.js';

/** Deleted contracts that can still be restored, latest deletion first. */
export const listTrash = operation({
  effect: 'read',
  input: TrashQuery,
  output: TrashPage,
  fails: [],
  async run({ store, clock }, call, { page, pageSize }) {
    const asked = { page: page ?? 1, pageSize: pageSize ?? 20 };
    const { rows, total } = await store.trash.page(clock.now() - RESTORABLE_MS, asked);
    const shown = await store.fields.shown(rows);
    return pageOf(
      shown.flatMap((row) =>
        row.deletedAt === null ? [] : [trashedContract({ ...row, deletedAt: row.deletedAt }, call)],
      ),
      { ...asked, total },
    );
  },
});
