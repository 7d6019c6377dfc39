import { s } from '../../data-plane-agent/base/schema.js';
import { NameProfile, personName } from '../access/person.schemas.js';
import { AuthUserSummary, Preferences, PreferencesPatch } from '../auth/auth.schemas.js';
import { endpoint } from '../http/endpoint.js';

export const profileEndpoints = {
  updatePreferences: endpoint('PATCH /auth/preferences', {
    summary: "Update the caller's preferences",
    description: "Fields that are null fall back to the organisation's setting. Returns the preferences in effect.",
    needs: 'signed_in',
    body: PreferencesPatch,
    returns: Preferences,
    fails: [],
    run: ({ principal, body, request, services }) => services.profile.setPreferences(principal, body, request),
  }),

  updateProfile: endpoint('PATCH /auth/profile', {
    summary: "Update the caller's name",
    description: '`nameProfile` is replaced as a whole; null clears it.',
    needs: 'signed_in',
    body: s.object(
      { name: s.omittable(personName()), nameProfile: s.optional(NameProfile) },
      { title: 'ProfilePatch' },
    ),
    returns: AuthUserSummary,
    fails: [],
    run: ({ principal, body, request, services }) => services.profile.setProfile(principal, body, request),
  }),
};
