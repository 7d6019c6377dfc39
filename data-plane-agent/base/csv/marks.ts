/** The separators of cells that are recognised. */
export const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** Makes spreadsheet programs read the file as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';
