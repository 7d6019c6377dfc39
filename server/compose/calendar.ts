import { setTimeout as delay } from 'node:timers/promises';
import type { Edition } from '../access/edition.js';
import type { KeyRing } from '../../data-plane-agent/base/secrets.js';
import type { Wait } from '../integrations/calendar/api.js';
import { createCalendar, type Calendar, type CalendarParts } from '../integrations/calendar/calendar.js';
import type { CalendarSettings } from '../integrations/calendar/providers.js';

/** The settings for calendars. */
export interface CalendarOptions extends CalendarSettings {
  readonly keyRing: KeyRing;
  readonly edition: Edition;
  readonly publicUrl: string;
  readonly corsOrigins: readonly string[];
}

export const composeCalendar = (
  { keyRing, edition, publicUrl, corsOrigins, ...settings }: CalendarOptions,
  parts: Pick<CalendarParts, 'database' | 'clock' | 'log' | 'dataPlanes' | 'outbound'>,
): Calendar => createCalendar({ ...parts, keyRing, edition, publicUrl, corsOrigins, settings, wait });

const wait: Wait = async (ms, signal) => {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
