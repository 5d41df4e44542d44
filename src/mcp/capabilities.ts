import type { ServerAbout } from '../core/catalogue.ts';
import { statelessRevision } from '../core/protocol/stateless.ts';
import { skillsExtension } from '../core/access/skills.ts';
import type { View } from '../core/access/view.ts';
import { skillsCapability } from './skills.ts';

/** The capabilities of every endpoint. What is listed here works. */
const always = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

const extensionPrefix = 'extensions.';
const skillsPrefix = `${extensionPrefix}${skillsExtension}`;

type Era = 'session' | 'stateless';
type About = (server: string) => ServerAbout | undefined;

/** Kept per view: when servers change what they say of themselves, there is a new view. */
const kept: Readonly<Record<Era, WeakMap<View, string>>> = { session: new WeakMap(), stateless: new WeakMap() };

/**
 * What an endpoint can do, as JSON text: the hub's own part, and what only servers bring. Tasks and extensions are
 * passed on and not translated, so the clients of an era are told of those that a server of the same era has; but for
 * skills, which are the same in both.
 */
export function capabilitiesText(view: View, about: About, era: Era): string {
  let text = kept[era].get(view);
  if (text === undefined) {
    text = textOf(view, about, era);
    kept[era].set(view, text);
  }
  return text;
}

function textOf(view: View, about: About, era: Era): string {
  const servers = view.servers.flatMap((name) => about(name) ?? []);
  const names = servers
    .filter(({ protocolVersion }) => protocolVersion >= statelessRevision === (era === 'stateless'))
    .flatMap(({ capabilities }) => capabilities);
  const extensions = names
    .filter((name) => name.startsWith(extensionPrefix) && !name.startsWith(skillsPrefix))
    .map((name): [string, object] => [name.slice(extensionPrefix.length), {}]);
  const skills = skillsCapability(view, about);
  if (skills) extensions.push([skillsExtension, skills]);
  return JSON.stringify({
    ...always,
    ...(era === 'session' && names.includes('tasks.requests') && { tasks: tasks(names) }),
    ...(extensions.length > 0 && { extensions: Object.fromEntries(extensions) }),
  });
}

/** 2025-11-25, Tasks. Listing them is not offered: a server's list would show the tasks of all users. */
function tasks(names: readonly string[]): Record<string, unknown> {
  return { ...(names.includes('tasks.cancel') && { cancel: {} }), requests: { tools: { call: {} } } };
}
