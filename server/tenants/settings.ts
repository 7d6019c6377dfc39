import { isTimeZone } from '../../data-plane-agent/base/day.js';
import { fail } from '../../data-plane-agent/base/failures.js';
import { partial, s, type Static } from '../../data-plane-agent/base/schema.js';
import { checker, type Issue } from '../../data-plane-agent/base/validation.js';

const languageTag = () => s.text({ max: 35 });

/** The tenant's settings with their bounds. */
export const Settings = s.object(
  {
    /** BCP 47. */
    defaultLanguage: languageTag(),
    supportedLanguages: s.list(languageTag(), 100),
    localeRegion: s.optional(languageTag()),
    /** IANA. */
    timezone: s.text({ max: 64 }),
    defaultCurrency: s.currency(),
    displayCurrency: s.currency(),
    currencyDisplayMode: s.enum(['original', 'converted', 'both']),
    /** As CLDR names calendars, `gregory` for the Gregorian. */
    calendarSystem: s.text({ max: 40 }),
    measurementSystem: s.enum(['metric', 'imperial', 'us', 'uk']),
    temperatureUnit: s.enum(['celsius', 'fahrenheit', 'kelvin']),
    dateFormat: s.text({ max: 40 }),
    numberFormat: s.text({ max: 40 }),
    /** 0 is Sunday. */
    firstDayOfWeek: s.integer({ max: 6 }),
    /** Days before the due date. */
    reminderLeadDays: s.integer({ max: 90 }),
    /** Hour of the day in the tenant's time zone. */
    reminderHour: s.integer({ max: 23 }),
    /** Days overdue; 0 is no escalation. */
    reminderEscalationDays: s.integer({ max: 90 }),
    ownerScopeEnabled: s.flag(),
  },
  { title: 'TenantSettings' },
);
export type Settings = Omit<Static<typeof Settings>, 'localeRegion'> & { localeRegion: string | null };

export const SettingsPatch = partial(Settings, { title: 'TenantSettingsPatch' });

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

/** The settings in effect: what the tenant has set, over the defaults. */
export const settingsOf = (stored: Partial<Settings>): Settings => ({ ...DEFAULT_SETTINGS, ...stored });

/** Checks a change of settings. Throws INVALID_INPUT, which names each bad field. */
export function checkSettings(patch: unknown): Partial<Settings> {
  const checked = checker(SettingsPatch)(patch);
  if (!checked.ok) throw fail('INVALID_INPUT', { issues: [...checked.issues] });
  const issues = unknownNames(checked.value as Partial<Settings>);
  if (issues.length > 0) throw fail('INVALID_INPUT', { issues });
  return checked.value as Partial<Settings>;
}

/** Names of time zones, languages and calendars are for the runtime to know, which no schema can ask. */
function unknownNames(patch: Partial<Settings>): Issue[] {
  const issues: Issue[] = [];
  const check = (path: string, value: string | null | undefined, known: (name: string) => boolean, problem: string) => {
    if (typeof value === 'string' && !known(value)) issues.push({ path, problem });
  };
  check('timezone', patch.timezone, isTimeZone, 'must be an IANA time zone like Europe/Berlin');
  check('defaultLanguage', patch.defaultLanguage, isLanguageTag, LANGUAGE_PROBLEM);
  check('localeRegion', patch.localeRegion, isLanguageTagOrRegion, 'must be a BCP 47 locale or a region like CN');
  check('calendarSystem', patch.calendarSystem, (name) => Intl.supportedValuesOf('calendar').includes(name), 'must be a calendar like gregory');
  patch.supportedLanguages?.forEach((tag, index) => check(`supportedLanguages[${index}]`, tag, isLanguageTag, LANGUAGE_PROBLEM));
  return issues;
}

const LANGUAGE_PROBLEM = 'must be a BCP 47 language tag like zh-CN';

/** BCP 47. */
export function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const isLanguageTagOrRegion = (text: string): boolean => /^([A-Z]{2}|\d{3})$/.test(text) || isLanguageTag(text);
