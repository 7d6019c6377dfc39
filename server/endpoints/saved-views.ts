import { Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import {
  SavedView,
  SavedViewInput,
  SavedViewList,
  SavedViewPatch,
} from '../../data-plane-agent/plane/contract/records/views.js';
import { view } from '../access/permissions.js';
import { viewBodyIssues } from '../data-planes/body-issues.js';
import { endpoint } from '../http/endpoint.js';

const listSavedViews = endpoint('GET /saved-views/contracts', {
  summary: "List the caller's personal views and the team's views",
  description:
    "Personal views first, then the team's, each sorted by name. Columns that do not exist or are not visible to the caller are omitted from each view, with a warning `COLUMNS_LEFT_OUT`; a grouping by such a column becomes `none`. The stored view keeps them, so they are returned again as soon as they are available.",
  needs: view('contract_view'),
  returns: SavedViewList,
  calls: ['listSavedViews'],
  fails: [],
  run: ({ plane }) => plane.listSavedViews({}),
});

const createSavedView = endpoint('POST /saved-views/contracts', {
  summary: 'Create a saved view',
  description:
    'A personal view is visible only to the caller, not even to administrators. A team view is visible to all members and needs `admin (edit)`. ' +
    "`filters` takes the query parameters of `GET /contracts`; their values are validated when the list is requested, and a view never shows more than its reader may see. Names are unique, ignoring case, among the caller's personal views and among the team's (`DUPLICATE_CODE`). At most 200 of each.",
  needs: view('contract_view'),
  body: SavedViewInput,
  furtherIssues: viewBodyIssues,
  status: 201,
  returns: SavedView,
  calls: ['createSavedView'],
  fails: [],
  run: ({ body, plane }) => plane.createSavedView(body),
});

const updateSavedView = endpoint('PATCH /saved-views/:id', {
  summary: 'Update a saved view',
  description:
    "Omitted fields are unchanged. Changing a team view, or making a personal view a team view, needs `admin (edit)`. A team view that is made personal becomes the caller's.",
  needs: view('contract_view'),
  body: SavedViewPatch,
  furtherIssues: viewBodyIssues,
  returns: SavedView,
  calls: ['updateSavedView'],
  fails: [],
  run: ({ params, body, plane }) => plane.updateSavedView({ viewId: params.id, changes: body }),
});

const deleteSavedView = endpoint('DELETE /saved-views/:id', {
  summary: 'Delete a saved view',
  description: 'Callers can delete their personal views and, with `admin (edit)`, team views.',
  needs: view('contract_view'),
  returns: Ok,
  calls: ['deleteSavedView'],
  fails: [],
  run: ({ params, plane }) => plane.deleteSavedView({ viewId: params.id }),
});

export const savedViewEndpoints = { listSavedViews, createSavedView, updateSavedView, deleteSavedView };
