/** In place of an endpoint: a token for any of them will do. */
export const anyEndpoint = '*';

/** In place of an endpoint: the management API; and its tool execution routes, which are as the endpoint of all. */
export const managementApi = '/api';
export const toolExecution = '/mcp';

/** Whether a token for one endpoint is for another one too: that itself, or one below it. Paths without `BASE_PATH`. */
export function covers(path: string, other: string): boolean {
  if (path === '' || path === other || other === anyEndpoint) return true;
  return other.startsWith(path) && other[path.length] === '/';
}
