import { words } from './analyzer.ts';
import { stem } from './stem.ts';

/**
 * What a tool does to its object (lists, creates, removes…), as far as its name says so, and what a query asks to be
 * done. Words and vectors tell `delete_key` and `create_key` apart only a little; who asks for one has no use for the
 * other.
 */
export type Actions = number;

/** The actions that the name of a tool speaks of, or else the beginning of its description; 0 when neither does. */
export function actionsOfTool(name: string, description: string): Actions {
  const named = bitsOf(words(name.slice(0, nameChars)));
  return named === 0 ? bitsOf(words(description.slice(0, openingChars)).slice(0, openingWords)) : named;
}

/**
 * Which tools do what a query asks for: those with an action of `same`, and with a small doubt those with one of
 * `near`.
 */
export interface Asked {
  readonly same: Actions;
  readonly near: Actions;
}

/** Undefined when the query's first words name no action. */
export function actionAsked(query: string): Asked | undefined {
  const said = words(query.slice(0, queryChars)).slice(0, queryWords + objectWords);
  for (const [at, word] of said.slice(0, queryWords).entries()) {
    if (at < 3 && asksWhich.has(word) && hasPlural(said.slice(at + 1, at + 4))) return asked.get('list');
    const action = actionOf.get(stem(word));
    if (!action) continue;
    // "Show my servers" and "get all runs" want lists, "show the server" wants one.
    const many = action === 'get' && showing.has(word) && hasPlural(said.slice(at + 1, at + 1 + objectWords));
    return asked.get(many ? 'list' : action);
  }
  return undefined;
}

const table = {
  list: { words: 'list enumerate all every browse', alike: ['search'], near: ['get'] },
  get: {
    words: 'get show describe read fetch view retrieve display detail details info information check open inspect look',
    alike: ['search', 'download'],
    near: ['list'],
  },
  search: { words: 'search find query lookup locate discover', alike: ['list', 'get'], near: [] },
  create: {
    words:
      'create add new make insert generate register provision build compose write append draft draw plot render design',
    alike: ['update', 'send', 'upload'],
    near: [],
  },
  update: {
    words: 'update edit modify change set rename alter patch replace adjust configure enable disable',
    alike: ['create'],
    near: [],
  },
  remove: { words: 'delete remove drop erase destroy uninstall purge discard clear revoke', alike: [], near: [] },
  send: { words: 'send post publish reply email notify forward share', alike: ['create'], near: [] },
  run: { words: 'run execute invoke start launch trigger perform', alike: [], near: [] },
  stop: { words: 'stop cancel kill terminate abort pause', alike: [], near: [] },
  upload: { words: 'upload import attach', alike: ['create'], near: [] },
  download: { words: 'download export save', alike: [], near: [] },
  convert: { words: 'convert translate transform', alike: ['compute'], near: [] },
  compute: { words: 'calculate compute evaluate', alike: ['convert'], near: [] },
  move: { words: 'move copy duplicate', alike: [], near: [] },
  examine: { words: 'analyze analyse compare summarize summarise', alike: [], near: [] },
  verify: { words: 'validate verify test', alike: [], near: [] },
} as const satisfies Record<string, { words: string; alike: readonly string[]; near: readonly string[] }>;

type Action = keyof typeof table;

const names = Object.keys(table) as Action[];
const actionOf = new Map(
  names.flatMap((name) => table[name].words.split(' ').map((word) => [stem(word), name] as const)),
);
const asked = new Map(
  names.map((name) => [name, { same: bits([name, ...table[name].alike]), near: bits(table[name].near) }] as const),
);
const showing: ReadonlySet<string> = new Set(['show', 'display', 'view', 'get']);
const asksWhich: ReadonlySet<string> = new Set(['what', 'which']);

const nameChars = 256;
const openingChars = 80;
const openingWords = 3;
const queryChars = 300;
/** Later verbs belong to what is told, not to what is asked. */
const queryWords = 8;
const objectWords = 8;

function bits(actions: readonly Action[]): Actions {
  return actions.reduce((all, action) => all | (1 << names.indexOf(action)), 0);
}

function bitsOf(said: readonly string[]): Actions {
  let all = 0;
  for (const word of said) {
    const action = actionOf.get(stem(word));
    if (action) all |= bits([action]);
  }
  return all;
}

function hasPlural(said: readonly string[]): boolean {
  return said.some((word) => /[^s]s$/.test(word) && !notPlural.has(word));
}

const notPlural: ReadonlySet<string> = new Set([
  'is',
  'was',
  'does',
  'has',
  'this',
  'its',
  'as',
  'us',
  'status',
  'details',
]);
