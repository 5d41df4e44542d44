import type { Item } from './catalogue.ts';
import { HubError } from './errors.ts';
import { coreLimits } from './limits.ts';
import { skillScheme } from './access/skills.ts';
import type { OwnItems, OwnPrompt, OwnSkillFile } from './settings/own-items.ts';
import { filledTemplate } from './template.ts';

/**
 * Prompts and resources of the hub itself (CONTRACT §11). They go the way of those of servers, so that policies,
 * approvals and limits hold for them too; this is what their server is called there. No server can have the name.
 */
export const ownServer = '$hub';

/** The URIs of the hub's skills begin so: no server's begin so beside them. */
export const ownSkillsPrefix = `${skillScheme}${ownServer}/`;

/** A file of a skill of the hub. */
export function ownSkillFile(own: OwnItems | undefined, uri: string): OwnSkillFile | undefined {
  if (own?.skills === undefined || !uri.startsWith(ownSkillsPrefix)) return undefined;
  const skill = own.skills.find((one) => uri.startsWith(one.uri.slice(0, -'SKILL.md'.length)));
  return skill?.files.find((file) => file.uri === uri);
}

/** What is in a folder of the hub's skills, as MCP has it; undefined where there is no such folder. */
export function ownSkillFolder(own: OwnItems | undefined, uri: string): object[] | undefined {
  if (!uri.startsWith(ownSkillsPrefix)) return undefined;
  const files = own?.skills?.flatMap((skill) => skill.files) ?? [];
  const within = files.filter((file) => file.uri.startsWith(`${uri}/`));
  if (within.length === 0) return undefined;
  const folders = new Set<string>();
  return within.flatMap((file) => {
    const [first = '', ...rest] = file.uri.slice(uri.length + 1).split('/');
    if (rest.length === 0) return [{ uri: file.uri, name: file.name, mimeType: file.mimeType, size: file.size }];
    if (folders.has(first)) return [];
    folders.add(first);
    return [{ uri: `${uri}/${first}`, name: decodeURIComponent(first), mimeType: 'inode/directory' }];
  });
}

/** What the hub itself lists, as MCP has it. The same lists for the same settings. */
export function ownLists(own: OwnItems): { readonly prompts: readonly Item[]; readonly resources: readonly Item[] } {
  let known = lists.get(own);
  if (!known) {
    known = {
      prompts: own.prompts.map(({ name, title, description, arguments: args }) => ({
        key: name,
        text: JSON.stringify({ name, title, description, arguments: args }),
      })),
      resources: [
        ...own.resources.map(({ uri, name, description, mimeType, content }) => ({
          key: uri,
          text: JSON.stringify({ uri, name, description, mimeType, size: Buffer.byteLength(content) }),
        })),
        ...(own.skills ?? []).map(({ uri, name, description, files }) => {
          const size = files.find((file) => file.uri === uri)?.size;
          return { key: uri, text: JSON.stringify({ uri, name, description, mimeType: 'text/markdown', size }) };
        }),
      ],
    };
    lists.set(own, known);
  }
  return known;
}

const lists = new WeakMap<OwnItems, ReturnType<typeof ownLists>>();

/** Files and folders of the hub's skills, of which only each `SKILL.md` is in a list. No server is asked for others. */
export function ownSkillTarget(own: OwnItems | undefined, uri: string): { server: string; key: string } | undefined {
  const isOwn = ownSkillFile(own, uri) ?? ownSkillFolder(own, uri) ?? own?.resources.find((one) => one.uri === uri);
  return isOwn && { server: ownServer, key: uri };
}

/**
 * The result of `prompts/get`. Arguments that the template does not name are passed over; one that is not given is
 * empty. Throws HubError `invalid_input` for a required one that is not given.
 */
export function promptResult(prompt: OwnPrompt, given: Readonly<Record<string, unknown>>): object {
  const missing = prompt.arguments.filter(({ name, required }) => required && !Object.hasOwn(given, name));
  if (missing.length > 0) {
    const names = missing.map(({ name }) => `"${name}"`).join(', ');
    throw new HubError('invalid_input', `The prompt "${prompt.name}" needs the argument ${names}.`);
  }
  const valueOf = (name: string): string => {
    const value = Object.hasOwn(given, name) ? given[name] : '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  // The same argument may stand in a template many times.
  const places = prompt.template.split('{{').length;
  const longest = Math.max(0, ...Object.values(given).map((value) => String(value).length));
  if (places * longest > coreLimits.ownPromptChars)
    throw new HubError('invalid_input', `The arguments are too long for the prompt "${prompt.name}".`);
  const text = filledTemplate(prompt.template, valueOf);
  return {
    ...(prompt.description !== undefined && { description: prompt.description }),
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}
