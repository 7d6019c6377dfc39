/** `YYYY-MM-DD`, which sorts as text. */
export type Day = string;

const DAY_MS = 86_400_000;

export const addDays = (day: Day, days: number): Day =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

export const daysBetween = (from: Day, to: Day): number => Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
