import { fail } from '../../data-plane-agent/base/failures.js';
import { checker } from '../../data-plane-agent/base/validation.js';
import { SettingsPatch, type Settings } from './settings.schemas.js';

export const DEFAULT_SETTINGS: Readonly<Settings> = {
  defaultLanguage: 'en',
  supportedLanguages: ['en', 'zh-CN'],
  localeRegion: null,
  timezone: 'UTC',
  defaultCurrency: 'CNY',
  displayCurrency: 'CNY',
  currencyDisplayMode: 'original',
  calendarSystem: 'gregory',
  measurementSystem: 'metric',
  temperatureUnit: 'celsius',
  dateFormat: 'YYYY-MM-DD',
  numberFormat: '1,234.56',
  firstDayOfWeek: 1,
  reminderLeadDays: 7,
  reminderHour: 9,
  reminderEscalationDays: 7,
  ownerScopeEnabled: false,
};

/** The settings in effect: the tenant's settings over the defaults. */
export const settingsOf = (stored: Partial<Settings>): Settings => ({ ...DEFAULT_SETTINGS, ...stored });

/** Validates a change of settings. Throws INVALID_INPUT, which names each invalid field. */
export function checkSettings(patch: unknown): Partial<Settings> {
  const checked = checker(SettingsPatch)(patch);
  if (!checked.ok) throw fail('INVALID_INPUT', { issues: [...checked.issues] });
  return checked.value as Partial<Settings>;
}
