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

/** What says which group an endpoint is: the settings, or what the dashboard knows of them. */
interface GroupRoutes<Group> {
  readonly groups: readonly Group[];
  readonly system: { readonly routing: { readonly enableGroupNameRoute: boolean } };
}

interface NamedGroup {
  readonly id: string;
  readonly name: string;
}

/** By id first, then by name, unless `routing.enableGroupNameRoute` is false. */
export function groupNamed<Group extends NamedGroup>(
  { groups, system }: GroupRoutes<Group>,
  name: string,
): Group | undefined {
  const byId = groups.find((group) => group.id === name);
  return byId ?? (system.routing.enableGroupNameRoute ? groups.find((group) => group.name === name) : undefined);
}

/** The name by which the group's endpoint is reached: its own, or its id where its own leads nowhere or elsewhere. */
export function endpointNameOf<Group extends NamedGroup>(routes: GroupRoutes<Group>, group: Group): string {
  return groupNamed(routes, group.name) === group ? group.name : group.id;
}
