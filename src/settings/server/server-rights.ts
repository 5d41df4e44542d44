import { inRanges, isPublicAddress, parseCidr } from '../../core/address.ts';
import { invalid } from '../../core/input.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { saying } from '../../core/sentences.ts';
import { type Draft, type Editor, type Entry, listOf, ownerOf, roleOf, textOf, textsOf } from '../document/document.ts';
import { noHeadersOfPrograms } from './read-transport.ts';
import { addressesOf, placesOf } from './server-places.ts';

// What an edit of a server may do, by who makes it (`server-edits.ts`).

/** True for a configuration that makes the hub start a program on its machine. */
export function startsProcess(config: Readonly<Entry>): boolean {
  const isStdio = (value: unknown) => {
    const word = (textOf(value) ?? '').toLowerCase().replace(/[^a-z]/g, '');
    return word === 'stdio' || word === 'local';
  };
  const names = ['command', 'container'].some((member) => (config[member] ?? undefined) !== undefined);
  return names || isStdio(config['type']) || isStdio(config['transport']);
}

export function checkAdmin(by: Editor, attempt: string): void {
  if (by.isAdmin) return;
  throw saying('forbidden', 'programs_for_admins', { attempt });
}

/** True for a server that an admin owns. */
export function isOfAdmin(draft: Draft, entry: Entry): boolean {
  const owner = ownerOf(draft, entry);
  const user = listOf(draft, 'users').find(({ username }) => username === owner);
  return user ? roleOf(user) === 'admin' : owner === 'admin';
}

/**
 * What only admins may decide: programs, who else but its owner sees a server, who owns it, which headers of other
 * users' requests it gets to see, addresses inside the network.
 */
export function checkRights(
  draft: Draft,
  by: Editor,
  attempt: string,
  { before, after }: { before: Entry; after: Entry },
): void {
  if (by.isAdmin) return;
  if (startsProcess(after)) checkAdmin(by, attempt);
  if (ownerOf(draft, after) !== ownerOf(draft, before)) {
    throw saying('forbidden', 'owner_for_admins', { attempt });
  }
  if (
    (after['visibility'] === 'public' && before['visibility'] !== 'public') ||
    after['publishedBy'] !== before['publishedBy']
  ) {
    throw saying('forbidden', 'public_for_admins', { attempt, things: 'servers' });
  }
  if (after['keepPayloadsUntil'] !== before['keepPayloadsUntil']) {
    throw saying('forbidden', 'payloads_for_admins', { attempt });
  }
  if (JSON.stringify(after['secretsInCalls']) !== JSON.stringify(before['secretsInCalls'])) {
    throw saying('forbidden', 'secrets_for_admins', { attempt });
  }
  if (JSON.stringify(passedHeaders(after)) !== JSON.stringify(passedHeaders(before))) {
    throw saying('forbidden', 'headers_for_admins', { attempt });
  }
  if (JSON.stringify(othersSignIn(after)) !== JSON.stringify(othersSignIn(before))) {
    throw saying('forbidden', 'sign_in_for_admins', { attempt });
  }
  if (JSON.stringify(othersCredentials(after)) !== JSON.stringify(othersCredentials(before))) {
    throw saying('forbidden', 'credentials_for_admins', { attempt });
  }
  if (JSON.stringify(filesIn(after)) !== JSON.stringify(filesIn(before))) {
    throw saying('forbidden', 'files_for_admins', { attempt });
  }
  // Deleting a server deletes the folder it names here.
  if (JSON.stringify(after['bundle']) !== JSON.stringify(before['bundle'])) {
    throw saying('forbidden', 'bundle_folder', { attempt });
  }
  const known = addressesOf(before);
  const address = addressesOf(after)
    .filter((one) => !known.includes(one))
    .map((one) => privateHost(draft, one))
    .find((host) => host !== undefined);
  if (address !== undefined) {
    throw saying('forbidden', 'private_address', { attempt, address });
  }
}

/**
 * A host that plainly is not public and in no range an admin allows. What other names lead to is judged when the server
 * is connected.
 */
function privateHost(draft: Draft, address: string): string | undefined {
  const host = URL.canParse(address) ? new URL(address).hostname.replace(/^\[|\]$/g, '') : '';
  const network = draft.systemConfig?.['network'];
  const allowed = textsOf(isObject(network) ? network['allowedCidrs'] : []).flatMap((text) => parseCidr(text) ?? []);
  if (parseCidr(host)) return isPublicAddress(host) || inRanges(host, allowed) ? undefined : host;
  return /(^|\.)localhost\.?$/.test(host) && allowed.length === 0 ? host : undefined;
}

/** Which headers of other users' requests a server gets and, if any, where they go. */
function passedHeaders(config: Entry): unknown {
  const api = isObject(config['openapi']) ? config['openapi'] : {};
  const names = [...listed(config['passthroughHeaders']), ...listed(api['passthroughHeaders'])];
  return names.length === 0 ? [] : [names, config['url'], config['serverUrl'], config['httpUrl'], placesOf(config)];
}

/** What users are asked for and, if anything, where it goes. */
function othersCredentials(config: Entry): unknown {
  const slots = listed(config['credentialTemplate']);
  if (slots.length === 0) return [];
  return [slots, config['url'], config['serverUrl'], config['httpUrl'], placesOf(config)];
}

function listed(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What a file may have without effect, and a request may not: it asks for what cannot be. */
export function checkMembers(config: Entry, attempt: string): void {
  if (startsProcess(config) && listed(config['passthroughHeaders']).length > 0)
    throw invalid(attempt, [{ path: 'config.passthroughHeaders', message: noHeadersOfPrograms }]);
}

/** Every text that asks for a file of the hub's machine, but for what is only data: an API document, a description. */
function filesIn(value: unknown, key = ''): string[] {
  if (typeof value === 'string') return value.includes('${file:') ? [value] : [];
  if (key === 'schema' || key === 'description' || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => filesIn(member, name));
}

/** All that says where other users are sent to sign in, and where what they get there goes. */
function othersSignIn(config: Entry): unknown {
  const oauth = isObject(config['oauth']) ? config['oauth'] : {};
  if (oauth['perUser'] !== true) return undefined;
  return [oauth, config['url'], config['serverUrl'], config['httpUrl'], config['headers']];
}
