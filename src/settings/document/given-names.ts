import { isObject } from '../../core/protocol/rpc.ts';
import { type Draft, type Entry, listOf, memberName, ownerOf, textOf, textsOf } from './document.ts';

// Names of servers and groups may be given to users, keys and groups before anything of the name is there (CONTRACT §4,
// Users). A user who took such a name would get in front of callers who were given something else.

/** Whether a list of another owner than `username` names this server. */
export function isGivenServer(draft: Draft, username: string, name: string): boolean {
  const isIn = (member: string) => (entry: Entry) => textsOf(entry[member]).includes(name);
  const groups = listOf(draft, 'groups').filter((group) => ownerOf(draft, group) !== username);
  return (
    usersBut(draft, username).some(isIn('servers')) ||
    keysBut(draft, username).some(isIn('allowedServers')) ||
    groups.some(({ servers }) => Array.isArray(servers) && servers.some((element) => memberName(element) === name))
  );
}

/** Whether a list of another owner than `username`, or what claims of people are mapped to, names this group. */
export function isGivenGroup(draft: Draft, username: string, name: string): boolean {
  const isIn = (member: string) => (entry: Entry) => textsOf(entry[member]).includes(name);
  return (
    usersBut(draft, username).some(isIn('groups')) ||
    keysBut(draft, username).some(isIn('allowedGroups')) ||
    mappedGroups(draft).includes(name)
  );
}

function usersBut(draft: Draft, username: string): Entry[] {
  return listOf(draft, 'users').filter((user) => user['username'] !== username);
}

function keysBut(draft: Draft, username: string): Entry[] {
  return listOf(draft, 'bearerKeys').filter((key) => textOf(key['owner']) !== username);
}

/** What `auth.oidc` and `auth.trustedIssuers` map claims to. */
function mappedGroups({ systemConfig }: Draft): string[] {
  const auth = isObject(systemConfig?.['auth']) ? systemConfig['auth'] : {};
  const sources = [auth['oidc'], auth['trustedIssuers']].flatMap((list) => (Array.isArray(list) ? list : []));
  return sources.flatMap((source: unknown) =>
    isObject(source) && isObject(source['groups'])
      ? Object.values(source['groups']).flatMap((names) => textsOf([names].flat()))
      : [],
  );
}
