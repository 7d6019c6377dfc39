/** Why a move does not begin, or stops. It can be continued unless the message says otherwise. */
export type MoveFaultCode =
  | 'DATA_MOVE_DENIED'
  | 'DATA_MOVE_UNSUPPORTED'
  | 'DATA_MOVE_RUNNING'
  | 'DATA_MOVE_OPEN'
  | 'DATA_MOVE_NONE'
  | 'DATA_MOVE_NOT_EMPTY'
  | 'DATA_MOVE_BUSY'
  | 'DATA_MOVE_UNVERIFIED'
  | 'DATA_MOVE_REFUSED'
  | 'DATA_MOVE_SWITCHED';

/** The message is for operators. */
export class MoveFault extends Error {
  override readonly name = 'MoveFault';

  constructor(
    readonly code: MoveFaultCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
