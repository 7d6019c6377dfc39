/**
 * The JSON that an output of an operation was parsed from. Whoever sends an output on as it is need not make its JSON
 * again, which takes as long as the rest of sending it.
 */
const received = new WeakMap<object, Uint8Array>();

/** `json` is that of the output, in UTF-8. Neither is changed afterwards. */
export const receivedAs = (output: object, json: Uint8Array): void => void received.set(output, json);

/** Undefined for an output of a data plane in this process. */
export const receivedJson = (output: object): Uint8Array | undefined => received.get(output);
