import { type Item, onlyReads } from '../catalogue.ts';
import { HubError, type Problem } from '../errors.ts';
import { editObject, type Edits, elements, members, memberText, skipString } from '../json/text.ts';
import { childPath, jsonPath } from '../json/path.ts';
import { problemTable, problemText } from '../problems.ts';
import { isObject } from '../protocol/rpc.ts';
import { type Remark, remark } from '../remarks.ts';
import { compileSchema } from '../schema/check.ts';
import type { ArgumentOverride, ItemSettings, ToolOverride } from '../settings/server.ts';

/**
 * What clients see and send in place of what the server says of a tool (CONTRACT §11, Overrides). A server's overrides
 * hold everywhere, those of a group's entry on the endpoints of the group.
 */

/** What the hub does to the arguments of a call before the server gets them. */
export interface ArgumentRules {
  readonly rules: readonly (readonly [name: string, rule: ArgumentOverride])[];
  /** Arguments that are hidden, that the tool requires, and for which the settings have no value. */
  readonly missing: readonly string[];
}

/**
 * Both overrides of a tool as one; undefined where there are none. The group's come first, but for what the server's
 * hide or fix, and for defaults in whose place the group's have no value: who edits a group need not be who edits the
 * server. The same object for the same settings.
 */
export function mergedOverride(
  server: ItemSettings | undefined,
  group: ToolOverride | undefined,
): ToolOverride | undefined {
  if (!group) return server && ofServer(server);
  const known = merged.get(group);
  if (known && known.server === server) return known.both;
  const own = server && ofServer(server);
  const both = own ? combine(own, group) : group;
  merged.set(group, { server, both });
  return both;
}

const ofItem = new WeakMap<ItemSettings, ToolOverride | undefined>();
const merged = new WeakMap<ToolOverride, { server: ItemSettings | undefined; both: ToolOverride }>();

function ofServer(item: ItemSettings): ToolOverride | undefined {
  const { description, override } = item;
  if (description === undefined) return override;
  let known = ofItem.get(item);
  if (known === undefined) {
    known = { ...override, description };
    ofItem.set(item, known);
  }
  return known;
}

function combine(server: ToolOverride, group: ToolOverride): ToolOverride {
  const own = server.arguments ?? [];
  const bound = new Set(own.filter(([, rule]) => rule.hidden || rule.value !== undefined).map(([name]) => name));
  const defaults = new Map(own.map(([name, rule]) => [name, rule.default]));
  const given = (group.arguments ?? [])
    .filter(([name]) => !bound.has(name))
    .map(([name, rule]) => {
      const otherwise = putIn(rule) === undefined ? defaults.get(name) : undefined;
      return [name, otherwise === undefined ? rule : { ...rule, default: otherwise }] as const;
    });
  const named = new Set(given.map(([name]) => name));
  return {
    ...server,
    ...group,
    annotations: { ...server.annotations, ...group.annotations },
    arguments: [...own.filter(([name]) => !named.has(name)), ...given],
  };
}

/**
 * The names under which the tools of one server are shown, by their own; only of those that have another. A name that
 * another of its tools has already is not given: both must stay callable.
 */
export function renamed(
  items: readonly Item[],
  overrideOf: (key: string) => ToolOverride | undefined,
): ReadonlyMap<string, string> {
  const wanted = items.flatMap(({ key }) => {
    const name = overrideOf(key)?.name;
    return name === undefined || name === key ? [] : [[key, name] as const];
  });
  if (wanted.length === 0) return none;
  const taken = new Set(items.map(({ key }) => key));
  const names = new Map<string, string>();
  for (const [key, name] of wanted) {
    if (taken.has(name)) continue;
    taken.add(name);
    names.set(key, name);
  }
  return names;
}

const none: ReadonlyMap<string, string> = new Map();

/** The edits of a tool's JSON that an override makes, but for its name. */
export function overrideEdits(text: string, override: ToolOverride): Edits {
  const { title, description, annotations, arguments: rules = [] } = override;
  const schema = rules.length > 0 ? memberText(text, 'inputSchema') : undefined;
  return {
    ...(title !== undefined && { title: JSON.stringify(title) }),
    ...(description !== undefined && { description: JSON.stringify(description) }),
    ...(hasMembers(annotations) && {
      annotations: editObject(objectText(memberText(text, 'annotations')), textsOf(annotations)),
    }),
    ...(schema !== undefined && { inputSchema: shownSchema(schema, rules) }),
  };
}

/** The schema of what clients still give: without what is hidden, and with what is fixed or defaulted said. */
function shownSchema(schema: string, rules: ArgumentRules['rules']): string {
  const properties = memberText(schema, 'properties');
  const edits: Record<string, string | null> = {};
  for (const [name, rule] of rules) {
    const own = properties === undefined ? undefined : memberText(properties, name);
    if (own !== undefined) edits[name] = rule.hidden ? null : shownProperty(own, rule);
  }
  const optional = new Set(rules.filter(([, rule]) => rule.hidden || putIn(rule) !== undefined).map(([name]) => name));
  const required = memberText(schema, 'required');
  const kept = required === undefined ? [] : elements(required).filter((text) => !optional.has(JSON.parse(text)));
  return editObject(schema, {
    ...(properties !== undefined && { properties: editObject(properties, edits) }),
    ...(required !== undefined && { required: kept.length > 0 ? `[${kept.join(',')}]` : null }),
  });
}

/** An item's JSON under the name that is given, and with what the operator says in place of the server. */
export function exposedText(item: Item, name: string | undefined, override: ToolOverride | undefined): string {
  if (override === undefined) return name === undefined ? item.text : renamedText(item, name);
  return editObject(item.text, {
    ...(name !== undefined && { name: JSON.stringify(name) }),
    ...overrideEdits(item.text, override),
  });
}

/**
 * Where the name stands in the text of an item; -1 where it is not there once. After a change each of many callers
 * asks for a list of its own, and a tool is not gone through for each of them.
 */
const namePlaces = new WeakMap<Item, number>();

function renamedText(item: Item, name: string): string {
  const { text } = item;
  let at = namePlaces.get(item);
  if (at === undefined) {
    const [first, second] = members(text).filter(({ key }) => key === 'name');
    at = first && !second && text.charAt(first.start) === '"' ? first.start : -1;
    namePlaces.set(item, at);
  }
  if (at === -1) return editObject(text, { name: JSON.stringify(name) });
  return `${text.slice(0, at)}${JSON.stringify(name)}${text.slice(skipString(text, at))}`;
}

/** A tool as clients of its server alone see it, as JSON text. */
export function overriddenText({ key, text }: Item, override: ToolOverride | undefined): string {
  if (!override) return text;
  const { name = key } = override;
  return editObject(text, { name: JSON.stringify(name), ...overrideEdits(text, override) });
}

/** What of an override cannot be, as the server's tools are now. `items` are all tools of the server. */
export function overrideProblems(items: readonly Item[], key: string, override: ToolOverride): Problem[] {
  const { name } = override;
  const item = items.find((one) => one.key === key);
  const isTaken = name !== undefined && name !== key && items.some((one) => one.key === name);
  const missing = item ? (argumentRules(item, override)?.missing ?? []) : [];
  return [
    ...(isTaken ? [{ path: 'name', message: problemText('tool_name_in_use', { name }) }] : []),
    ...missing.map((one) => ({
      path: `arguments.${one}.hidden`,
      message: problemTable.hidden_required,
    })),
  ];
}

/** What may be a mistake: arguments that the tool does not have. */
export function unknownArguments({ text }: Item, override: ToolOverride): string[] {
  const properties = memberText(memberText(text, 'inputSchema') ?? '{}', 'properties') ?? '{}';
  return (override.arguments ?? []).map(([name]) => name).filter((name) => memberText(properties, name) === undefined);
}

/**
 * Values and defaults that the tool's schema does not allow, in remarks. They are no error: the server has the last
 * word about its arguments, and it may be away.
 */
export function unfitValues({ text }: Item, override: ToolOverride): Remark[] {
  const given = (override.arguments ?? []).flatMap(([name, rule]) => {
    const value = putIn(rule);
    return value === undefined ? [] : [[name, JSON.parse(value) as unknown] as const];
  });
  if (given.length === 0) return [];
  const schema: unknown = JSON.parse(memberText(text, 'inputSchema') ?? '{}');
  if (!isObject(schema)) return [];
  // What is not overridden comes from clients.
  const { required: _required, ...rest } = schema;
  const check = compileSchema(rest);
  return given.flatMap(([name, value]) => {
    const at = childPath('', name);
    const isOfIt = (path: string): boolean => path.startsWith(at) && /^(?:$|[.[])/.test(path.slice(at.length));
    return check({ [name]: value })
      .problems.filter(({ path }) => isOfIt(path))
      .map(({ path, message }) => remark('override_unfit', { path, why: message }));
  });
}

function shownProperty(own: string, { value, default: otherwise, description }: ArgumentOverride): string {
  return editObject(objectText(own), {
    ...(description !== undefined && { description: JSON.stringify(description) }),
    ...(value !== undefined && { const: value, default: null }),
    ...(value === undefined && otherwise !== undefined && { default: otherwise }),
  });
}

/** `true` and `{}` are the same schema. */
function objectText(text = '{}'): string {
  return text.startsWith('{') ? text : '{}';
}

function hasMembers(annotations: ToolOverride['annotations']): annotations is NonNullable<typeof annotations> {
  return annotations !== undefined && Object.keys(annotations).length > 0;
}

function textsOf(annotations: NonNullable<ToolOverride['annotations']>): Edits {
  return Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, JSON.stringify(value)]));
}

function putIn({ value, default: otherwise }: ArgumentOverride): string | undefined {
  return value ?? otherwise;
}

/** What an override does to the arguments of a tool; undefined where it leaves them alone. */
export function argumentRules({ text }: Item, override: ToolOverride | undefined): ArgumentRules | undefined {
  const rules = override?.arguments;
  if (!rules || rules.every(([, rule]) => !rule.hidden && putIn(rule) === undefined)) return undefined;
  const required = memberText(memberText(text, 'inputSchema') ?? '{}', 'required');
  const needed = new Set(required === undefined ? [] : elements(required).map((name): unknown => JSON.parse(name)));
  const missing = rules.filter(([name, rule]) => rule.hidden && putIn(rule) === undefined && needed.has(name));
  return { rules, missing: missing.map(([name]) => name) };
}

/**
 * The arguments that the server gets, as JSON text, for those that a client gave: `given` is `text` parsed. Throws
 * HubError `invalid_input` for a hidden argument, for another value than a fixed one, and where the settings hide an
 * argument that the tool requires and give it no value.
 */
export function withRules(
  tool: string,
  { rules, missing }: ArgumentRules,
  text: string,
  given: Readonly<Record<string, unknown>>,
): string {
  const [without] = missing;
  if (without !== undefined)
    throw refused(tool, `the settings hide its argument "${without}" and give it no value. Ask an admin of the hub`);
  const edits: Record<string, string> = {};
  for (const [name, rule] of rules) {
    const isGiven = Object.hasOwn(given, name);
    if (isGiven && rule.hidden) throw refused(tool, `it has no argument "${name}"`, name);
    if (isGiven && rule.value !== undefined && !isSame(given[name], JSON.parse(rule.value)))
      throw refused(tool, `its argument "${name}" is always ${rule.value.slice(0, 200)}. Leave it out`, name);
    const value = isGiven && rule.value === undefined ? undefined : putIn(rule);
    if (value !== undefined) edits[name] = value;
  }
  return editObject(text, edits);
}

/** `argument`: the one that the client should not have sent. */
function refused(tool: string, why: string, argument?: string): HubError {
  const problems = argument === undefined ? [] : [{ path: jsonPath([argument]), message: why }];
  return new HubError('invalid_input', `Cannot call ${tool}: ${why}.`, { problems });
}

/** Whether two values of JSON are the same, whatever the order of their members. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => isSame(one, b[i]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

/**
 * What a tool says of itself (`annotations`), as JSON text, with what the settings of its server say in its place.
 * Decisions go by it. What a group says is only shown: its editor decides about nothing else of the server.
 */
export function annotationsText({ text }: Item, settings: ItemSettings | undefined): string {
  const own = objectText(memberText(text, 'annotations'));
  const annotations = settings?.override?.annotations;
  return hasMembers(annotations) ? editObject(own, textsOf(annotations)) : own;
}

/** Whether a tool only reads, as its server or the settings of it say. Read once for each tool of a server. */
export function isReadOnly(item: Item, settings: ItemSettings | undefined): boolean {
  const said = settings?.override?.annotations?.['readOnlyHint'];
  if (typeof said === 'boolean') return said;
  let known = readOnlyItems.get(item);
  if (known === undefined) {
    known = onlyReads(item.text);
    readOnlyItems.set(item, known);
  }
  return known;
}

const readOnlyItems = new WeakMap<Item, boolean>();
