import type Koa from 'koa';
import { isUnavailable } from '../data-plane-agent/base/database/errors.js';
import { createHttpApp, type HttpAppOptions } from '../data-plane-agent/base/http/app.js';
import type { HttpState } from '../data-plane-agent/base/http/exchange.js';
import type { Api } from './http/handler.js';
import { mount, type Endpoints } from './http/mount.js';
import type { Refusal } from './access/refusal.js';
import { recordRefusals } from './http/refusals.js';

export interface AppOptions extends Omit<HttpAppOptions, 'isTransient' | 'watch'> {
  readonly endpoints: Endpoints;
  readonly api: Api;
  /** Records a 403 in the audit. */
  readonly recordRefusal: (refusal: Refusal) => Promise<void>;
}

/** The HTTP application: the pages and other routes, then the endpoints. */
export const createApp = ({ endpoints, api, recordRefusal, routes, ...options }: AppOptions): Koa<HttpState> =>
  createHttpApp({
    ...options,
    isTransient: isUnavailable,
    watch: recordRefusals(recordRefusal),
    routes: [...routes, mount(endpoints, api)],
  });
