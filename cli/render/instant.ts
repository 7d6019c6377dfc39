/** An instant (epoch milliseconds) as it is printed. */
export const instant = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
