// A server of 2026-07-28 with tasks (extension `io.modelcontextprotocol/tasks`), as the conformance suite asks for it.
// By hand: the official library has no such servers.
//   node tasks-server.mjs  prints its URL once it listens, and ends with the process that forked it.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const revision = '2026-07-28';
const extension = 'io.modelcontextprotocol/tasks';
const capabilities = { tools: {}, extensions: { [extension]: {} } };
const lifeMs = 60_000;

const tasks = new Map();

const text = (words, isError) => ({ content: [{ type: 'text', text: words }], ...(isError && { isError }) });
const form = (message) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
});
const object = { type: 'object' };

class Refusal extends Error {
  constructor(code, message, data) {
    super(message);
    Object.assign(this, { code, data });
  }
}

/** Begins a task; `work(task)` runs it. What the client is told of it is what `shown` says. */
function begin(work) {
  const now = new Date().toISOString();
  const task = { taskId: randomUUID(), status: 'working', createdAt: now, lastUpdatedAt: now, ttlMs: lifeMs };
  tasks.set(task.taskId, task);
  setTimeout(() => tasks.delete(task.taskId), lifeMs).unref();
  work(task);
  return { resultType: 'task', ...shown(task), result: undefined, inputRequests: undefined };
}

function settle(task, change) {
  if (isOver(task)) return;
  Object.assign(task, change, { lastUpdatedAt: new Date().toISOString(), inputRequests: undefined });
}

const isOver = ({ status }) => ['completed', 'failed', 'cancelled'].includes(status);
const after = (ms, task, change) => setTimeout(() => settle(task, change), ms).unref();
/** Functions have no place in JSON. */
const shown = (task) => ({ ...task, pollIntervalMs: 100 });
const completed = (result) => ({ status: 'completed', result });

/** A task that waits for the answers to these questions. */
function asking(inputRequests, done) {
  return begin((task) => Object.assign(task, { status: 'input_required', inputRequests, done }));
}

/** By name: whether it can do without a task, and what it does; `declared`: the client can have one. */
const tools = {
  greet: (args) => text(`Hello, ${args.name}!`),
  slow_compute(args, { declared }) {
    const result = text(`Computed for ${args.seconds} s`);
    if (!declared || args.seconds === 0) return result;
    return begin((task) => after(args.seconds * 1_000, task, completed(result)));
  },
  failing_job: needsTasks(() => begin((task) => after(100, task, completed(text('It failed.', true))))),
  protocol_error_job: needsTasks(() =>
    begin((task) => after(100, task, { status: 'failed', error: { code: -32603, message: 'Broken.' } })),
  ),
  confirm_delete: needsTasks(() => asking({ confirm: form('Delete it?') }, () => text('Deleted.'))),
  multi_input: needsTasks(() => asking({ first: form('First?'), second: form('Second?') }, () => text('Both.'))),
  /** Asks before it becomes a task. */
  test_tool_with_task: needsTasks((_, { params }) => {
    const name = params.inputResponses?.user_name?.content?.name;
    if (name === undefined || params.requestState !== 'asked')
      return { resultType: 'input_required', inputRequests: { user_name: form('Who?') }, requestState: 'asked' };
    return begin((task) => after(100, task, completed(text(`Hello, ${name}!`))));
  }),
};

function needsTasks(run) {
  return (args, call) => {
    if (!call.declared) throw undeclared();
    return run(args, call);
  };
}

function undeclared() {
  const data = { requiredCapabilities: { extensions: { [extension]: {} } } };
  return new Refusal(-32021, `The client does not declare ${extension}.`, data);
}

function taskOf({ declared, params }) {
  if (!declared) throw undeclared();
  const task = tasks.get(params.taskId);
  if (!task) throw new Refusal(-32602, `Unknown task: ${params.taskId}`);
  return task;
}

const methods = {
  'server/discover': () => ({ supportedVersions: [revision], capabilities, ttlMs: 0, cacheScope: 'private' }),
  'tools/list': () => ({
    tools: Object.keys(tools).map((name) => ({ name, description: name, inputSchema: object })),
    ttlMs: 0,
    cacheScope: 'private',
  }),
  'tools/call'(call) {
    const tool = tools[call.params.name];
    if (!tool) throw new Refusal(-32602, `Unknown tool: ${call.params.name}`);
    return tool(call.params.arguments ?? {}, call);
  },
  'tasks/get': (call) => shown(taskOf(call)),
  'tasks/update'(call) {
    const task = taskOf(call);
    for (const key of Object.keys(call.params.inputResponses ?? {})) delete task.inputRequests?.[key];
    if (task.done && Object.keys(task.inputRequests ?? {}).length === 0) settle(task, completed(task.done()));
    return {};
  },
  'tasks/cancel'(call) {
    settle(taskOf(call), { status: 'cancelled' });
    return {};
  },
};

function answer({ id, method, params = {} }) {
  const declared = params._meta?.['io.modelcontextprotocol/clientCapabilities']?.extensions?.[extension] !== undefined;
  try {
    if (!Object.hasOwn(methods, method)) throw new Refusal(-32601, `Method not found: ${method}`);
    const result = { resultType: 'complete', ...methods[method]({ params, declared }) };
    return { status: 200, body: { jsonrpc: '2.0', id, result } };
  } catch (error) {
    const { code = -32603, message, data } = error;
    const status = code === -32601 ? 404 : code === -32021 ? 400 : 200;
    return { status, body: { jsonrpc: '2.0', id, error: { code, message, data } } };
  }
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') return response.writeHead(405).end();
  let given = '';
  request.setEncoding('utf8').on('data', (piece) => (given += piece));
  request.on('end', () => {
    const { status, body } = answer(JSON.parse(given));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
