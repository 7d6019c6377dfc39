export { openPlane } from '../data-plane-agent/host/open-plane.js';
export { compose } from '../server/compose.js';
export { serve } from '../server/serve.js';
