import { aContract } from '../support/samples.js';
import { announcement, uploadsOf } from '../support/uploads.js';
import type { Organisation } from './organisations.js';
import type { Sample } from './requests.js';

/** Requests for files, each with an upload created for it. */
export const FILE_REQUESTS: Readonly<Record<string, (org: Organisation) => Sample | Promise<Sample>>> = {
  'POST /files/presign': (org) => ({ body: { ...named(org), subjectId: org.subjectId } }),
  'POST /files/confirm': async (org) => {
    const uploads = uploadsOf(org.client);
    const { bucket, objectKey, uploadToken, ...presigned } = await uploads.announce(name(org));
    await uploads.put(presigned);
    return { body: { ...named(org), bucket, objectKey, uploadToken } };
  },
  'GET /files/:id': async (org) => ({ params: { id: (await uploadsOf(org.client).upload(name(org))).id } }),
  'GET /contracts/:id/files': async (org) => ({ params: { id: await contractWithFile(org) } }),
  'GET /files/:id/download': async (org) => ({ params: { id: (await uploadsOf(org.client).upload(name(org))).id } }),
};

const name = ({ marker }: Organisation) => ({ fileName: `${marker}.pdf` });
const named = (org: Organisation) => announcement(name(org));

async function contractWithFile(org: Organisation): Promise<string> {
  const { status, body, text } = await org.client.post<{ id: string }>(
    '/contracts',
    aContract({ subjectId: org.subjectId, ownerId: org.owner.id, projectName: org.marker }),
  );
  if (status !== 201) throw new Error(`creating a contract answered ${status}: ${text}`);
  await uploadsOf(org.client).upload({ ...name(org), contractId: body.id });
  return body.id;
}
