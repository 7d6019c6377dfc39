/** Why all data of an organisation cannot be exported, verified or imported. */
export type ArchiveFaultCode =
  | 'TENANT_DATA_BUSY'
  | 'TENANT_DATA_INVALID'
  | 'TENANT_DATA_DAMAGED'
  | 'TENANT_DATA_VERSION'
  | 'TENANT_DATA_NOT_EMPTY'
  | 'TENANT_DATA_REFUSED'
  | 'TENANT_DATA_NONE'
  | 'TENANT_DATA_LOST';

/** The message is for operators; it names the file, and the line if there is one. */
export class ArchiveFault extends Error {
  override readonly name = 'ArchiveFault';

  constructor(
    readonly code: ArchiveFaultCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
