// What a job costs a model's context: the same five jobs with all tools listed, by `$smart` and by `$code`.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ready, startHub } from '../lib/contenders.mjs';
import { after } from '../lib/numbers.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'tokens and calls of five jobs of several steps over 500 tools: listed, by $smart and by $code';

/**
 * A job is a program with the tools it needs, as a model would write it at `/mcp/$code`. By the other two ways the same
 * program is what the model has in mind: calls that it makes together are one turn, and every answer passes through the
 * context. `queries` are what it searches for; `check` throws when the job was not done.
 */
const jobs = {
  'errors of a day in six log files': {
    queries: ['list the files in a directory', 'read a text file', 'write a text file'],
    code: (folder) => `
const listing = await tools.files.list_directory({ path: '${folder}/logs' });
const names = textOf(listing).split('\\n').map((line) => line.replace('[FILE] ', ''));
const files = await Promise.all(names.map((name) => tools.files.read_text_file({ path: '${folder}/logs/' + name })));
const rows = files.map((file, i) => names[i] + ': ' + textOf(file).split('\\n').filter((line) => line.includes('ERROR')).length);
await tools.files.write_file({ path: '${folder}/errors.txt', content: rows.join('\\n') });
return rows;
function textOf(answer) { return typeof answer === 'string' ? answer : answer.content; }`,
    check: (folder) => contains(join(folder, 'errors.txt'), 'day-5.log: 10'),
  },
  'a graph of the people in a table': {
    queries: [
      'read a text file',
      'add entities to the knowledge graph',
      'relate entities in the graph',
      'search the graph',
    ],
    code: (folder) => `
const table = await tools.files.read_text_file({ path: '${folder}/people.csv' });
const text = typeof table === 'string' ? table : table.content;
const people = text.trim().split('\\n').slice(1).map((line) => line.split(','));
const teams = [...new Set(people.map(([, team]) => team))];
await tools.memory.create_entities({ entities: [
  ...people.map(([name, team, mail]) => ({ name, entityType: 'person', observations: [mail, team] })),
  ...teams.map((name) => ({ name, entityType: 'team', observations: [] })),
] });
await tools.memory.create_relations({ relations: people.map(([from, to]) => ({ from, to, relationType: 'works in' })) });
const found = await tools.memory.search_nodes({ query: 'Person 7' });
return found.entities.map(({ name, observations }) => name + ': ' + observations[1]);`,
    check: (folder, answer) => {
      if (!JSON.stringify(answer).includes('Person 7: Team 2'))
        throw new Error(`wrong answer: ${JSON.stringify(answer)}`);
    },
  },
  'large files into an archive': {
    queries: ['list a directory with the sizes of its files', 'create a directory', 'move a file'],
    code: (folder) => `
const listing = await tools.files.list_directory_with_sizes({ path: '${folder}/drop' });
const lines = (typeof listing === 'string' ? listing : listing.content).split('\\n');
const large = lines.filter((line) => /^.FILE. .* KB$/.test(line)).map((line) => line.replace('[FILE] ', '').split(' ')[0]);
await tools.files.create_directory({ path: '${folder}/archive' });
await Promise.all(large.map((name) =>
  tools.files.move_file({ source: '${folder}/drop/' + name, destination: '${folder}/archive/' + name })));
return large;`,
    check: (folder) => contains(join(folder, 'archive/dump-3.txt'), 'xxx'),
  },
  'customers of a city with unpaid invoices and open tickets': {
    queries: [
      'list customers of a city',
      'invoices of a customer',
      'support tickets of a customer',
      'add a note to a customer',
    ],
    code: () => `
const customers = await tools.crm.list_customers({ city: 'Bern' });
const invoices = await Promise.all(customers.map(({ id }) => tools.billing.list_invoices({ customerId: id })));
const open = customers.map((one, i) => ({ id: one.id, name: one.name,
  unpaid: invoices[i].filter(({ status }) => status === 'unpaid').reduce((sum, { amount }) => sum + amount, 0) }))
  .filter(({ unpaid }) => unpaid > 0);
const tickets = await Promise.all(open.map(({ id }) => tools.support.list_tickets({ customerId: id })));
const rows = open.map((one, i) => ({ ...one, tickets: tickets[i].filter(({ status }) => status === 'open').length }));
await Promise.all(rows.map(({ id, unpaid, tickets }) =>
  tools.crm.add_note({ customerId: id, note: 'CHF ' + unpaid + ' unpaid, ' + tickets + ' tickets open' })));
return rows;`,
    check: (folder, answer) => {
      if (answer.length !== 8 || answer[0].unpaid !== 600 || answer[0].tickets !== 2)
        throw new Error(`wrong answer: ${JSON.stringify(answer)}`);
    },
  },
  'another address in four settings files': {
    queries: ['search for files by a pattern', 'read several files', 'edit a text file'],
    code: (folder) => `
const found = await tools.files.search_files({ path: '${folder}/services', pattern: '**/*.env' });
const paths = (typeof found === 'string' ? found : found.content).trim().split('\\n');
const read = await tools.files.read_multiple_files({ paths });
const parts = (typeof read === 'string' ? read : read.content).split('\\n---\\n');
const wrong = paths.filter((path) => parts.some((part) => part.startsWith(path) && part.includes('HOST=old.example')));
await Promise.all(wrong.map((path) =>
  tools.files.edit_file({ path, edits: [{ oldText: 'HOST=old.example', newText: 'HOST=new.example' }] })));
return wrong.length;`,
    check: (folder) => contains(join(folder, 'services/s3/app.env'), 'HOST=new.example'),
  },
};

const fillers = [
  'calendar',
  'mail',
  'wiki',
  'drive',
  'chat',
  'form',
  'survey',
  'payroll',
  'vacancy',
  'candidate',
  'training',
]
  .concat(['asset', 'warehouse', 'shipment', 'supplier', 'purchase', 'campaign', 'newsletter', 'coupon', 'review'])
  .concat(['branch', 'pipeline', 'release', 'incident', 'alert', 'dashboard', 'metric', 'secret', 'cluster', 'domain'])
  .concat(['contract', 'signature', 'policy', 'risk', 'audit', 'meeting', 'room', 'travel', 'expense', 'budget']);

export async function run({ note, only }) {
  for (const job of Object.keys(jobs)) {
    const answers = [];
    for (const by of ['list', '$smart', '$code']) {
      if (only && !only.includes(by)) continue;
      const folder = workFolder();
      const hub = await startHub('hub', { servers: serversFor(folder) });
      try {
        const tools = await ready(hub, 500);
        answers.push(await measure({ hub, by, job, folder, note, tools: tools.count }));
      } finally {
        await hub.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }
    // The same job: each way has to come to the same end.
    if (new Set(answers.map((answer) => JSON.stringify(answer))).size > 1)
      throw new Error(`${job}: not the same answers: ${answers.map((answer) => JSON.stringify(answer)).join(', ')}`);
  }
}

/** Does a job by one way, with a new hub and a new folder; gives its answer without what differs by folder. */
async function measure({ hub, by, job, folder, note }) {
  const { queries, code, check } = jobs[job];
  const path = by === 'list' ? '' : `/${by}`;
  const session = await openSession({ ...hub.target, url: `${hub.url}/mcp${path}` });
  const model = modelOf(session, await listedTools(session));
  if (by !== 'list') await indexed(session, queries);
  const searched = by === 'list' ? [] : await model.turn(queries.map((query) => ['search_tools', { query }]));
  const found = new Set(searched.flatMap((text) => JSON.parse(text).tools.map(({ name }) => name)));
  const source = code(folder);
  const answer =
    by === '$code'
      ? await byCode(model, source)
      : await byCalls(model, source, { folder, found: by === '$smart' && found });
  check(folder, answer);
  await session.end();
  note({ job, way: by }, model.spent(JSON.stringify(answer)));
  return JSON.parse(JSON.stringify(answer).replaceAll(folder, ''));
}

async function byCode(model, source) {
  const [text] = await model.turn([['run_code', { code: source }]]);
  const { result, error } = JSON.parse(text);
  if (error) throw new Error(error);
  return result;
}

/** Runs the program here; its calls of one moment are made together, as one turn. */
async function byCalls(model, source, { found }) {
  let waiting = [];
  const flush = async () => {
    const calls = waiting;
    waiting = [];
    const texts = await model.turn(
      calls.map(({ name, given }) => (found ? ['call_tool', { toolName: name, arguments: given }] : [name, given])),
    );
    calls.forEach(({ done }, i) => done(valueOf(texts[i])));
  };
  const call = (name, given) =>
    new Promise((done) => {
      if (found && !found.has(name)) throw new Error(`the search did not find ${name}`);
      if (waiting.length === 0) setImmediate(() => void flush());
      waiting.push({ name, given, done });
    });
  const server = (name) => new Proxy({}, { get: (_, tool) => (given) => call(`${name}-${String(tool)}`, given) });
  const tools = new Proxy({}, { get: (_, name) => server(name) });
  const AsyncFunction = (async () => {}).constructor;
  return new AsyncFunction('tools', source)(tools);
}

function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Tokens as the hub counts them on its page of costs: four characters are one. */
const tokensOf = (text) => Math.ceil(text.length / 4);

/**
 * What a model has in its context: the tools, then what it says and what it is answered. In each turn it reads all of
 * it once more.
 */
function modelOf(session, tools) {
  let context = tokensOf(tools);
  let read = 0;
  let turns = 0;
  let calls = 0;
  const say = (text) => {
    read += context;
    context += tokensOf(text);
    turns++;
  };
  return {
    async turn(asked) {
      say(JSON.stringify(asked.map(([name, given]) => ({ name, arguments: given }))));
      calls += asked.length;
      const answers = [];
      // One after another: the connection of the bench carries one request at a time, and tokens do not depend on it.
      for (const [name, given] of asked) {
        const { result } = JSON.parse(await session.ask('tools/call', JSON.stringify({ name, arguments: given })));
        const text = result.content.map((part) => part.text ?? '').join('\n');
        if (result.isError) throw new Error(`${name}: ${text}`);
        answers.push(text);
      }
      for (const answer of answers) context += tokensOf(answer);
      return answers;
    },
    spent(answer) {
      say(answer);
      return { turns, toolCalls: calls, toolTokens: tokensOf(tools), contextTokens: context, readTokens: read };
    },
  };
}

/** The tools as clients show them to models. */
async function listedTools(session) {
  const { result } = JSON.parse(await session.ask('tools/list', '{}'));
  return JSON.stringify(result.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));
}

async function indexed(session, [query]) {
  const given = JSON.stringify({ name: 'search_tools', arguments: { query } });
  while ((await session.ask('tools/call', given)).includes('still being read into the index')) await after(200);
}

function serversFor(folder) {
  const program = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
  const official = (name) => program(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
  const node = (...args) => ({ command: process.execPath, args });
  const company = (services) => node(program('bench/servers/company.mjs'), services.join(','));
  const servers = {
    files: node(official('filesystem'), folder),
    memory: { ...node(official('memory')), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
    everything: node(official('everything')),
    crm: company(['crm']),
    billing: company(['billing']),
    support: company(['support']),
  };
  for (let i = 0; i < fillers.length; i += 4) servers[`office-${i / 4 + 1}`] = company(fillers.slice(i, i + 4));
  return servers;
}

function workFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const put = (path, content) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  for (let day = 1; day <= 6; day++) {
    const line = (n) =>
      `2026-11-0${day}T10:${String(n).padStart(2, '0')} ${n % 60 < day * 2 ? 'ERROR request failed' : 'INFO request served'} in ${n} ms`;
    put(`logs/day-${day}.log`, Array.from({ length: 60 }, (_, n) => line(n)).join('\n'));
    put(`services/s${day}/app.env`, `NAME=service-${day}\nHOST=${day <= 4 ? 'old' : 'other'}.example\nPORT=80${day}\n`);
    put(`drop/dump-${day}.txt`, 'x'.repeat(day <= 4 ? 8_000 : 200));
  }
  const people = Array.from({ length: 30 }, (_, i) => `Person ${i},Team ${i % 5},person${i}@example.org`);
  put('people.csv', `name,team,mail\n${people.join('\n')}\n`);
  return folder;
}

function contains(path, expected) {
  if (!readFileSync(path, 'utf8').includes(expected)) throw new Error(`${path} does not hold ${expected}`);
}
