import { Hono } from 'hono';
import type { ApiEnv } from '../frame/caller.ts';
import { pageHeaders } from '../frame/page-headers.ts';
import { subjects } from './all.ts';
import { describe, type DocumentOptions, openApiDocument } from './document.ts';
import { docsPage, docsPolicy } from './page.ts';

export interface DocsOptions extends Pick<DocumentOptions, 'isOpen' | 'mount' | 'version'> {
  /** All routes of the API, known once they are mounted. */
  readonly mounted: () => DocumentOptions['mounted'];
  /** False with `DISABLE_WEB`: no page. */
  readonly web: boolean;
}

/**
 * `/docs/openapi.json` describes this API and nothing of this hub, so it is open to all; `/docs` shows it. The document
 * of the tools is another one.
 */
export function docsRoutes({ mounted, web, ...options }: DocsOptions): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const all = (): DocumentOptions => ({ ...options, subjects, mounted: mounted() });
  routes.get('/docs/openapi.json', (c) => c.json(openApiDocument(all())));
  if (web) {
    routes.get('/docs', (c) => {
      pageHeaders(c, { policy: docsPolicy });
      return c.html(docsPage(describe(all()), options));
    });
  }
  return routes;
}
