import { expect, test } from 'vitest';
import { reasonTable, reasonWords } from '../../../core/reasons.ts';
import { exitError, lastWords } from './errors.ts';
import { printedReason, tellingLine, withoutNoise } from './printed-reason.ts';
import { editsBetween } from '../../../core/edits-between.ts';

const npm404 = `npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/@acme%2fmcp-mail - Not found
npm error 404
npm error 404  The requested resource '@acme/mcp-mail@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git folder.
npm notice
npm notice New major version of npm available! 10.8.2 -> 11.6.2
npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-25T07_00_00_000Z-debug-0.log`;

const uv404 = `  × No solution found when resolving tool dependencies:
  ╰─▶ Because mcp-server-mial was not found in the package registry and you require mcp-server-mial, we can conclude that
      your requirements are unsatisfiable.`;

const stack = `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /srv/app/server.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at Module._load (node:internal/modules/cjs/loader:1038:27) {
  code: 'MODULE_NOT_FOUND',
}

Node.js v20.19.0`;

test.each([
  [npm404, 'npm_package_not_found', { package: '@acme/mcp-mail' }],
  ["npm error 404  'mcp-mial@latest' is not in this registry.", 'npm_package_not_found', { package: 'mcp-mial' }],
  [
    'npm ERR! 404 Not Found - GET https://registry.npmjs.org/mcp-mial - Not found',
    'npm_package_not_found',
    { package: 'mcp-mial' },
  ],
  [
    'npm error code ETARGET\nnpm error notarget No matching version found for mcp-mail@99.',
    'package_version_not_found',
    { package: 'mcp-mail@99' },
  ],
  ['npm error could not determine executable to run', 'package_without_program', {}],
  ['npm error code E401\nnpm error Incorrect or missing password.', 'registry_refused', { code: 'E401' }],
  ['npm error code ENOTFOUND\nnpm error errno ENOTFOUND', 'registry_unreachable', { code: 'ENOTFOUND' }],
  ['npm error code ENOSPC', 'disk_full', {}],
  [uv404, 'python_package_not_found', { package: 'mcp-server-mial' }],
  ['ERROR: No matching distribution found for mcp-mial', 'python_package_not_found', { package: 'mcp-mial' }],
  ['docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.', 'docker_not_running', {}],
  [
    'docker: Error response from daemon: pull access denied for acme/x, repository does not exist',
    'image_not_found',
    { image: 'acme/x' },
  ],
  [stack, 'module_not_found', { module: 'express' }],
  [
    "Fatal error: Cannot find module '/root/.npm/_npx/9/node_modules/sdk/server/mcp' imported from /root/.npm/_npx/9/x.js",
    'module_not_found',
    { module: '/root/.npm/_npx/9/node_modules/sdk/server/mcp' },
  ],
  [
    "    code: 'ENOTFOUND',\nTypeError: fetch failed\n  [cause]: Error: getaddrinfo ENOTFOUND mail.example\n    code: 'ENOTFOUND',",
    'peer_unreachable',
    { line: '[cause]: Error: getaddrinfo ENOTFOUND mail.example' },
  ],
  ["    code: 'ECONNREFUSED',", 'peer_unreachable', { line: "code: 'ECONNREFUSED'," }],
  ["Error: Cannot find module '/srv/app/srever.js'", 'script_not_found', { file: '/srv/app/srever.js' }],
  [
    "python3: can't open file '/srv/x.py': [Errno 2] No such file or directory",
    'script_not_found',
    { file: '/srv/x.py' },
  ],
  ["ModuleNotFoundError: No module named 'mcp'", 'module_not_found', { module: 'mcp' }],
  ['sh: 1: mcp-mail: not found', 'program_not_found', { command: 'mcp-mail' }],
  ['FATAL: GITHUB_TOKEN is not set', 'value_missing', { name: 'GITHUB_TOKEN', line: 'FATAL: GITHUB_TOKEN is not set' }],
  [
    'Missing required environment variable: SLACK_BOT_TOKEN',
    'value_missing',
    { name: 'SLACK_BOT_TOKEN', line: 'Missing required environment variable: SLACK_BOT_TOKEN' },
  ],
  ['GitHub: Bad credentials', 'value_refused', { line: 'GitHub: Bad credentials' }],
  [
    'Error: listen EADDRINUSE: address already in use :::8080',
    'port_taken',
    { line: 'Error: listen EADDRINUSE: address already in use :::8080' },
  ],
  [
    'Error: connect ECONNREFUSED 127.0.0.1:5432',
    'peer_unreachable',
    { line: 'Error: connect ECONNREFUSED 127.0.0.1:5432' },
  ],
  ['error: unrecognized arguments: --stdoi', 'wrong_arguments', { line: 'error: unrecognized arguments: --stdoi' }],
])('what is printed is understood: %j', (text, code, values) => {
  expect(printedReason(text.split('\n'))).toEqual({ code, values });
});

test('what is not known gives no reason', () => {
  const lines = ['', 'Server is ready', 'Hello', 'HTTP_PORT 8080', 'npm warn deprecated x@1: use y'];
  expect(printedReason(lines)).toBeUndefined();
});

test('what npm and stack traces repeat is left out, and never everything', () => {
  expect(withoutNoise(npm404.split('\n'))).toEqual([
    'npm error 404 Not Found - GET https://registry.npmjs.org/@acme%2fmcp-mail - Not found',
    "npm error 404  The requested resource '@acme/mcp-mail@*' could not be found or you do not have permission to access it.",
  ]);
  expect(withoutNoise(['npm notice New version', ''])).toEqual(['npm notice New version']);
  expect(tellingLine(stack.split('\n'))).toBe("Error: Cannot find module 'express'");
  expect(tellingLine(['ready', 'bye'])).toBe('bye');
  expect(tellingLine([])).toBe('');
});

test('what npm says of every package is not taken for the reason of an end', () => {
  const words = lastWords();
  words.add('npm warn deprecated x@1: use y');
  expect(exitError('x', 1, null, words.printed).reason?.code).toBe('exited_silently');
  words.add('no such mailbox');
  expect(exitError('x', 1, null, words.printed).reason?.code).toBe('exited');
});

const help = ['Usage:', '  mail [flags]', 'Examples:', '  # an error', '', 'Flags:'];
const flags = Array.from(
  { length: 30 },
  (_, at) => `      --flag${at} string   "stderr" for the standard error stream`,
);

test.each([
  ['before its usage', ['Error: no mailbox is set', 'Set one.', ...help, ...flags], 'Error: no mailbox is set'],
  ['behind it', [...help, ...flags, 'Not a flag: --mailbx'], 'Not a flag: --mailbx'],
  [
    'behind it, by its name',
    ['usage: mail [-h]', '            [--box BOX]', 'mail: error: no box'],
    'mail: error: no box',
  ],
])('what a program says %s is the reason', (_, lines, line) => {
  const words = lastWords();
  for (const one of lines) words.add(one);
  expect(exitError('x', 1, null, words.printed).reason).toEqual({ code: 'exited', values: { code: '1', line } });
  expect(words.printed.output).toContain(lines.at(-1));
});

test('a program that prints its usage alone is told by that', () => {
  const words = lastWords();
  words.add('Usage: mail <folder>');
  expect(exitError('x', 1, null, words.printed).reason?.values['line']).toBe('Usage: mail <folder>');
});

test.each(['folder', 'url'])('how npm may be told of a package is no reason, by its words "git %s"', (word) => {
  expect(tellingLine(['npm error it broke', `npm error 404 tarball, folder, http url, or git ${word}.`])).toBe(
    'npm error it broke',
  );
});

test('a line without an end is searched in no time worth mentioning', () => {
  const lines = ['SET_'.repeat(100_000), `missing ${'A'.repeat(100_000)}`, `npm error 404 '${'@a/'.repeat(100_000)}`];
  expect(printedReason(Array.from({ length: 20 }, (_, at) => lines[at % 3] ?? ''))).toBeUndefined();
});

test('a command is near another when few letters differ', () => {
  expect(editsBetween('npx', 'nxp')).toBe(1);
  expect(editsBetween('nod', 'node')).toBe(1);
  expect(editsBetween('pyhton', 'python')).toBe(1);
  expect(editsBetween('docker', 'podman')).toBe(5);
});

test('every value that the words of a reason name is filled in, and nothing else', () => {
  for (const code of Object.keys(reasonTable) as (keyof typeof reasonTable)[]) {
    const names = [...JSON.stringify(reasonTable[code]).matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name ?? '');
    const { text, advice } = reasonWords({
      code,
      values: Object.fromEntries(names.map((name) => [name, `<${name}>`])),
    });
    expect(text + advice).not.toMatch(/[{}]/);
    for (const name of names) expect(text + advice).toContain(`<${name}>`);
  }
});
