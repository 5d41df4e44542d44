import type { Catalogue } from '../catalogue.ts';
import { memberText } from '../json/text.ts';
import { isObject } from '../protocol/rpc.ts';
import { type Remark, remark } from '../remarks.ts';
import type { Settings } from '../settings/settings.ts';
import { readPolicy, type Statement } from './read-policy.ts';

/**
 * What a text of policies names that is not there now: servers, tools, groups, users, arguments. A typing error would
 * make a policy that never fits. Each once.
 */
export function policyAdvice(
  text: string,
  { settings, catalogue }: { readonly settings: Settings; readonly catalogue: Catalogue },
): Remark[] {
  const { statements } = readPolicy(text);
  const said = statements.flatMap((statement) => {
    const named = [...entitiesIn(statement.json)];
    return [
      ...named.flatMap(([type, id]) => unknownEntity(type, id, settings, catalogue) ?? []),
      ...unknownArguments(statement, named, catalogue),
      ...approver(statement, settings),
    ];
  });
  return [...new Map(said.map((one) => [one.text, one])).values()];
}

/** The entities that a text of policies names, but for actions, each once, as Cedar writes them: `Server::"db"`. */
export function policyEntities(text: string): string[] {
  const named = readPolicy(text).statements.flatMap(({ json }) => [...entitiesIn(json)]);
  return [...new Set(named.flatMap(([type, id]) => (type === 'Action' ? [] : [entityText(type, id)])))];
}

function entityText(type: string, id: string): string {
  return `${type}::${JSON.stringify(id)}`;
}

/** Every entity that a policy names, as type and id. */
function* entitiesIn(value: unknown): Iterable<readonly [type: string, id: string]> {
  if (Array.isArray(value)) {
    for (const one of value) yield* entitiesIn(one);
  } else if (isObject(value)) {
    const { type, id } = value;
    if (typeof type === 'string' && typeof id === 'string') yield [type, id];
    for (const one of Object.values(value)) yield* entitiesIn(one);
  }
}

const actionNames = ['call', 'readResource', 'getPrompt'];

function unknownEntity(type: string, id: string, settings: Settings, { offers }: Catalogue): Remark | undefined {
  const entity = entityText(type, id);
  const named = { name: id, entity };
  switch (type) {
    case 'Action':
      return actionNames.includes(id)
        ? undefined
        : remark('policy_no_action', { entity, actions: actionNames.join(', ') });
    case 'Server':
      return settings.servers.has(id) ? undefined : remark('policy_no_server', named);
    case 'Group':
      return settings.groups.some(({ name }) => name === id) ? undefined : remark('policy_no_group', named);
    case 'User':
      return settings.users.some(({ username }) => username === id) || id.includes('#')
        ? undefined
        : remark('policy_no_user', named);
    case 'Key':
      return settings.keys.some((key) => key.id === id) ? undefined : remark('policy_no_key', named);
    case 'Tool':
    case 'Resource':
    case 'Prompt':
      return unknownItem(type, id, entity, settings, offers);
    case 'Anonymous':
      return undefined;
    default:
      return remark('policy_no_kind', { entity });
  }
}

const lists = { Tool: 'tools', Resource: 'resources', Prompt: 'prompts' } as const;

function unknownItem(
  type: keyof typeof lists,
  id: string,
  entity: string,
  { servers }: Settings,
  offers: Catalogue['offers'],
): Remark | undefined {
  const at = id.indexOf('/');
  if (at <= 0) return remark('policy_names_no_server', { entity });
  const server = id.slice(0, at);
  if (!servers.has(server)) return remark('policy_no_server', { name: server, entity });
  const offer = offers.get(server);
  if (!offer || type === 'Resource') return undefined;
  return offer[lists[type]].some(({ key }) => key === id.slice(at + 1))
    ? undefined
    : remark('policy_not_offered', { server, entity });
}

/** Arguments that the one tool of a policy does not have. */
function unknownArguments(
  { reads }: Statement,
  named: readonly (readonly [type: string, id: string])[],
  { offers }: Catalogue,
): Remark[] {
  const tools = named.filter(([type]) => type === 'Tool');
  const [only] = tools;
  if (reads.args === 'all' || !only || tools.length > 1) return [];
  const at = only[1].indexOf('/');
  const tool = offers.get(only[1].slice(0, at))?.tools.find(({ key }) => key === only[1].slice(at + 1));
  if (!tool) return [];
  const properties: unknown = JSON.parse(
    memberText(memberText(tool.text, 'inputSchema') ?? '{}', 'properties') ?? 'null',
  );
  if (!isObject(properties)) return [];
  return [...reads.args]
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => remark('policy_no_argument', { tool: only[1], name }));
}

function approver({ approve }: Statement, { groups }: Settings): Remark[] {
  if (approve === undefined || approve === '' || approve === 'caller' || approve === 'admin') return [];
  return groups.some(({ name }) => name === approve) ? [] : [remark('policy_no_approver', { name: approve })];
}
