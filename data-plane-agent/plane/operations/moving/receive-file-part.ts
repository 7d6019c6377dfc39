import { Readable } from 'node:stream';
import { s } from '../../../base/schema.js';
import { FILE_PART_BYTES, MOST_PARTS, moveId } from '../../contract/records/moving.js';
import { joinParts, movedFile, partKey } from '../../steps/moving/file-bytes.js';
import { inMove } from '../../steps/moving/the-move.js';
import { multiStepOperation } from '../../steps/operation-context.js';

/**
 * Stores a part of the bytes of a file. With the last one, all parts become the file's object, at the key that its
 * record has, with the entity tag that the object store here gives it. A file is sent again from its first part on.
 */
export const receiveFilePart = multiStepOperation({
  effect: 'write',
  isUpkeep: true,
  whileMoving: 'always',
  input: s.object({
    moveId: moveId(),
    fileId: s.id(),
    part: s.integer({ max: MOST_PARTS - 1 }),
    isLast: s.flag(),
    base64: s.verbatim({ min: 0, max: Math.ceil(FILE_PART_BYTES / 3) * 4, pattern: '^[A-Za-z0-9+/]*={0,2}$' }),
  }),
  output: s.object({}),
  fails: ['DATA_MOVE_REFUSED', 'OBJECT_STORE_UNAVAILABLE'],
  async perform({ read, upkeep, files: { objects } }, { tenantId }, { moveId: id, fileId, part, isLast, base64 }) {
    await read(({ store }) => inMove(store, id, 'receiving'));
    const row = await movedFile({ read }, fileId);
    const bytes = Buffer.from(base64, 'base64');
    const isWhole = isLast && part === 0;
    const written = await objects.write(
      isWhole ? row.objectKey : partKey(tenantId, fileId, part),
      Readable.from([bytes]),
      {
        sizeBytes: bytes.byteLength,
        contentType: row.contentType,
      },
    );
    if (!isLast) return {};
    const { etag } = isWhole ? written : await joinParts(objects, { tenantId, row, parts: part + 1 });
    await upkeep(async ({ store }) => {
      await inMove(store, id, 'receiving');
      await store.files.setEtag(fileId, etag);
    });
    return {};
  },
});
