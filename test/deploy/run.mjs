// Builds the image of deploy/Containerfile and runs it as the documents say: not root, without a capability, with a
// read-only root file system, one volume, and no network.
//   npm run test:image                      exit code 77: the programs that it takes are not here
//   npm run test:image -- --built           with the image of the last run
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildImage, lastImage, missing, run, work } from './build-image.mjs';
import { startContainer } from './container.mjs';

const why = missing();
if (why !== undefined) {
  console.log(`The image was not built: ${why}.`);
  process.exit(77);
}
const image = process.argv.includes('--built') ? lastImage() : buildImage();
const volume = join(work, 'volume');
rmSync(volume, { recursive: true, force: true });
mkdirSync(volume, { mode: 0o700 });
run('chown', ['1000:1000', volume]);

let failed = 0;
let passed = 0;
const check = (what, is, found = '') => {
  if (is) passed++;
  else failed++;
  console.log(`${is ? '✓' : '✗'} ${what}${is ? '' : `: ${found.slice(0, 2_000)}`}`);
};

/** A server of a few lines: nothing is installed, and nothing is asked of a network. */
const server = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } },
    'tools/list': { tools: [{ name: 'user', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: String(process.getuid()) }] },
  };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
})`;
const own = { command: 'node', args: ['-e', server] };

const first = startContainer(image, volume);
try {
  await firstStart(first);
} finally {
  const ended = await first.stop();
  check('SIGTERM ends it with exit code 0', ended === 0, `${ended}\n${first.output()}`);
}
check('it wrote to the volume what it keeps', run('ls', ['-A', volume]).includes('mcp_settings.json'));

const second = startContainer(image, volume);
try {
  await second.ready();
  const token = await login(second);
  const { data } = (await second.ask('GET', '/api/servers/own', { token })).body;
  check('after a restart users and servers are there', data?.name === 'own', JSON.stringify(data));
} finally {
  await second.stop();
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function firstStart(hub) {
  await hub.ready();
  const health = hub.exec(image.config.Healthcheck.Test.slice(1));
  check('its health check passes', health.status === 0, health.said);
  const users = hub.exec(['sh', '-c', 'cat /proc/[0-9]*/status | grep ^Uid | sort -u']).said;
  check('every process is one of user 1000', users === 'Uid:\t1000\t1000\t1000\t1000', users);
  const write = hub.exec(['sh', '-c', 'touch /x /opt/toolhub/x /home/node/x /var/x 2>&1; ls /x /opt/toolhub/x']);
  check(
    'nothing can be written to the root file system',
    write.status !== 0 && write.said.includes('Read-only'),
    write.said,
  );
  for (const name of ['node', 'npx', 'uvx', 'git', 'python3', 'bwrap', 'tini', 'toolhub']) {
    const { status, said } = hub.exec([name, '--version']);
    check(`${name} is in it`, status === 0, said);
  }
  const addresses = hub.exec(['node', '-p', 'Object.keys(os.networkInterfaces()).join()']);
  check('there is no network', addresses.said === 'lo', addresses.said);

  const initialize = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const closed = await hub.ask('POST', '/mcp', { body: initialize });
  check('an MCP request without a credential is refused', closed.status === 401, JSON.stringify(closed));
  const token = await login(hub);
  check('the first admin logs in with the password in the volume', token !== undefined);
  if (token === undefined) throw new Error(hub.output());
  const key = await hub.ask('POST', '/api/auth/keys', { token, body: { name: 'test', accessType: 'all' } });
  await hub.ask('POST', '/api/servers', { token, body: { name: 'own', config: own } });
  await hub.until(async () => (await hub.ask('GET', '/api/servers/own', { token })).body.data?.status === 'connected');
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'own-user', arguments: {} } };
  const called = await hub.ask('POST', '/mcp', { token: key.body.data?.token, body: call });
  check(
    'a tool of a server is called with an access key',
    called.body.result?.content?.[0]?.text === '1000',
    JSON.stringify(called),
  );
  const confined = { name: 'confined', config: { ...own, sandbox: {} } };
  await hub.ask('POST', '/api/servers', { token, body: confined });
  const state = await hub.until(async () => {
    const { data } = (await hub.ask('GET', '/api/servers/confined', { token })).body;
    return data?.error || data?.status === 'connected' ? data : undefined;
  });
  const isTold = state.status !== 'connected' && /sandbox/.test(state.error);
  check(
    'a server in a sandbox does not start where the engine allows none, and says so',
    isTold,
    JSON.stringify(state),
  );
  await hub.until(async () => (await hub.ask('GET', '/health')).body.database.state === 'ready');
  check('the embedded database opens', true);
}

async function login(hub) {
  const password = hub.exec(['cat', '/data/hub/first-admin-password']).said;
  return (await hub.ask('POST', '/api/auth/login', { body: { username: 'admin', password } })).body.token;
}
