import { Ok } from '../../data-plane-agent/plane/contract/records/common.js';
import {
  SavedView,
  SavedViewInput,
  SavedViewList,
  SavedViewPatch,
} from '../../data-plane-agent/plane/contract/records/views.js';
import { view } from '../access/permissions.js';
import { judgeView } from '../data-planes/judged-bodies.js';
import { endpoint } from '../http/endpoint.js';

const listSavedViews = endpoint('GET /saved-views/contracts', {
  summary: "List the caller's own views and the team's",
  description:
    'Personal ones first, then those of the team, each by name. Columns that there are not, or that the caller may not see, are left out of each view, with a warning `COLUMNS_LEFT_OUT`; a grouping by one becomes `none`. They stay kept: what comes back is shown again.',
  needs: view('contract_view'),
  returns: SavedViewList,
  calls: ['listSavedViews'],
  fails: [],
  run: ({ plane }) => plane.listSavedViews({}),
});

const createSavedView = endpoint('POST /saved-views/contracts', {
  summary: 'Save a view',
  description:
    "A personal one is the caller's alone: nobody else lists, reads or removes it, administrators neither. One for the team is read by everybody and needs `admin (edit)`. " +
    "`filters` takes the query parameters of `GET /contracts`; what a filter may hold is checked when the list is asked, and a view never shows more than its reader may see. Names are unique, ignoring case, among one's own views and among the team's: `DUPLICATE_CODE`. At most 200 of each.",
  needs: view('contract_view'),
  body: SavedViewInput,
  judge: judgeView,
  status: 201,
  returns: SavedView,
  calls: ['createSavedView'],
  fails: [],
  run: ({ body, plane }) => plane.createSavedView(body),
});

const updateSavedView = endpoint('PATCH /saved-views/:id', {
  summary: 'Change a saved view',
  description:
    "What is not given stays. Views of the team need `admin (edit)`, and so does making one's own view one of the team's; a team view that is made personal becomes the caller's.",
  needs: view('contract_view'),
  body: SavedViewPatch,
  judge: judgeView,
  returns: SavedView,
  calls: ['updateSavedView'],
  fails: [],
  run: ({ params, body, plane }) => plane.updateSavedView({ viewId: params.id, changes: body }),
});

const deleteSavedView = endpoint('DELETE /saved-views/:id', {
  summary: 'Remove a saved view',
  description: "One's own, or with `admin (edit)` one of the team's.",
  needs: view('contract_view'),
  returns: Ok,
  calls: ['deleteSavedView'],
  fails: [],
  run: ({ params, plane }) => plane.deleteSavedView({ viewId: params.id }),
});

export const savedViewEndpoints = { listSavedViews, createSavedView, updateSavedView, deleteSavedView };
