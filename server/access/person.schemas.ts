import { s, type Static } from '../../data-plane-agent/base/schema.js';

/**
 * A person's name; one character, such as `李`, is enough. The API document requires two for `adminName` at
 * registration.
 */
export const personName = () => s.name({ max: 100 });

/** Part 2.5 of the API document. */
export const NameProfile = s.object(
  {
    givenName: s.optional(s.name({ max: 100 })),
    familyName: s.optional(s.name({ max: 100 })),
    nameOrder: s.optional(s.enum(['given_first', 'family_first'])),
    phoneticGivenName: s.optional(s.name({ max: 100 })),
    phoneticFamilyName: s.optional(s.name({ max: 100 })),
    preferredDisplayName: s.optional(s.name({ max: 100 })),
    nameLocaleRegion: s.optional(s.name({ max: 35 })),
  },
  { title: 'NameProfile' },
);
export type NameProfile = Static<typeof NameProfile>;
