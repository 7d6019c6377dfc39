import { expect } from 'chai';
import type { FileRecord, PresignedUpload } from '../../data-plane-agent/plane/contract/records/files.js';
import type { Answer, Client } from './http.js';

export const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n');

/** The properties of an upload that a client declares. */
export interface ToUpload {
  readonly fileName?: string;
  readonly contentType?: string;
  readonly bytes?: Uint8Array;
  readonly kind?: string;
  readonly subjectId?: string;
  readonly contractId?: string;
  readonly paymentId?: string;
}

/** The three steps of an upload. */
export interface Uploads {
  announce(file?: ToUpload): Promise<PresignedUpload>;
  /** Uploads to the store; `bytes` may differ from the declared ones. */
  put(announced: Pick<PresignedUpload, 'uploadUrl' | 'headers'>, bytes?: Uint8Array): Promise<Response>;
  confirm(announced: PresignedUpload, file?: ToUpload, changes?: object): Promise<Answer<FileRecord>>;
  /** Runs all three steps. */
  upload(file?: ToUpload): Promise<FileRecord>;
}

export const announcement = ({ bytes = PDF, ...file }: ToUpload = {}) => ({
  fileName: 'contract.pdf',
  contentType: 'application/pdf',
  kind: 'contract_original',
  ...file,
  sizeBytes: bytes.length,
});

export function uploadsOf(client: Client): Uploads {
  const uploads: Uploads = {
    async announce(file) {
      const { status, body, text } = await client.post<PresignedUpload>('/files/presign', announcement(file));
      expect(status, text).to.equal(201);
      return body;
    },
    put: ({ uploadUrl, headers }, bytes = PDF) =>
      fetch(reachable(uploadUrl, client), { method: 'PUT', headers: { ...headers }, body: new Uint8Array(bytes) }),
    confirm: ({ bucket, objectKey, uploadToken }, file, changes = {}) =>
      client.post<FileRecord>('/files/confirm', { ...announcement(file), bucket, objectKey, uploadToken, ...changes }),
    async upload(file) {
      const announced = await uploads.announce(file);
      const stored = await uploads.put(announced, file?.bytes);
      expect(stored.status, await stored.text()).to.equal(200);
      const { status, body, text } = await uploads.confirm(announced, file);
      expect(status, text).to.equal(201);
      return body;
    },
  };
  return uploads;
}

/**
 * Links with the PUBLIC_URL must be redirected to the address of the test server; those of S3 servers and separately
 * hosted data planes can be used as they are.
 */
export function reachable(link: string, { origin }: Pick<Client, 'origin'>): string {
  const { hostname, pathname, search, href } = new URL(link);
  return pathname.startsWith('/files/') && hostname !== '127.0.0.1' ? `${origin}${pathname}${search}` : href;
}
