import { openApi, type Routes } from './open-routes.ts';

/**
 * Routes below `/api` whose body may be as long as the settings allow (`routing.jsonBodyLimit`, otherwise
 * `httpLimits.apiBodyBytes`): what carries a list, a document or arguments of a tool. Every other body is a form that a
 * person fills in, such as a login, and may have `httpLimits.smallBodyBytes`.
 */
export const largeBodies: Routes = [
  ...openApi,
  [['POST'], /^\/tools\/call\/[^/]+$/],
  [['POST'], /^\/mcp\/[^/]+\/prompts\/[^/]+$/],
  [['POST'], /^\/resources\/read$/],
  // A document of a REST API can be part of a server.
  [['POST'], /^\/servers(?:\/batch|\/import)?$/],
  [['PUT'], /^\/servers\/[^/]+$/],
  // Names up to `coreLimits.listItems` tools.
  [['POST'], /^\/servers\/[^/]+\/(?:tools|prompts|resources)\/toggle$/],
  [['PUT'], /^\/servers\/[^/]+\/(?:tools|prompts|resources)\/[^/]+\/description$/],
  [['PUT'], /^\/system-config$/],
  [['POST'], /^\/mcp-settings\/import$/],
  // Texts of policies, and names of all that a server offers.
  [['POST'], /^\/policies\/simulate$/],
  [['POST'], /^\/pins\/[^/]+\/(?:approve|reject)$/],
  // Each names up to `coreLimits.listedNames` servers.
  [['POST', 'PUT'], /^\/(?:groups|users|auth\/keys)(?:\/|$)/],
];
