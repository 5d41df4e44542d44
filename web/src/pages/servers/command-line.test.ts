import { expect, test } from 'vitest';
import { fieldsOf } from './command-line.ts';

test.each([
  ['npx -y @scope/server /tmp', 'npx', ['-y', '@scope/server', '/tmp'], {}],
  ['$ uvx mcp-server-fetch', 'uvx', ['mcp-server-fetch'], {}],
  ["API_KEY=abc X='two words' node server.js", 'node', ['server.js'], { API_KEY: 'abc', X: 'two words' }],
  ['docker run -i --rm -e "A=b c" image', 'docker', ['run', '-i', '--rm', '-e', 'A=b c', 'image'], {}],
  [String.raw`node C:\tools\server.js --name a\ b`, 'node', [String.raw`C:\tools\server.js`, '--name', 'a b'], {}],
  ['/opt/tool/run --stdio', '/opt/tool/run', ['--stdio'], {}],
  ['"/opt/my tool/run" stdio', '/opt/my tool/run', ['stdio'], {}],
])('%s is split', (line, command, args, env) => {
  const fields = fieldsOf(line);
  expect([fields?.command, fields?.args.split('\n')]).toEqual([command, args]);
  expect(Object.fromEntries((fields?.env ?? []).map(({ key, value }) => [key, value]))).toEqual(env);
});

test.each(['', 'npx', ' npx ', '/opt/my tool/run', String.raw`C:\Program Files\tool.exe`, 'some words', 'node "open'])(
  '%j stays one command',
  (line) => {
    expect(fieldsOf(line)).toBeUndefined();
  },
);
