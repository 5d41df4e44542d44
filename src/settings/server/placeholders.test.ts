import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HubError } from '../../core/errors.ts';
import { parseSettings } from '../document/parse-settings.ts';
import { expandServer, expandText } from './placeholders.ts';

const noFile = (path: string): string => `{${path}}`;

function expand(config: Record<string, unknown>, variables: Record<string, string> = {}) {
  const server = parseSettings({ mcpServers: { s: config } }).settings.servers.get('s');
  if (server === undefined) throw new Error('no server');
  return expandServer(server, variables);
}

function refusal(config: Record<string, unknown>, variables: Record<string, string> = {}): string {
  try {
    expand(config, variables);
  } catch (error) {
    if (error instanceof HubError && error.code === 'misconfigured') return error.message;
    throw error;
  }
  throw new Error('accepted');
}

test('every text of a program is expanded, and what is not set is listed once', () => {
  const config = {
    command: '${BIN}',
    args: ['--key=${KEY}', '${NO}', '${NO:-x}${GONE}'],
    env: { A: '${KEY}', B: '${GONE}' },
    cwd: '${DIR}/sub',
  };
  expect(expand(config, { BIN: 'npx', KEY: 'k', DIR: '/d' })).toEqual({
    transport: { type: 'stdio', command: 'npx', args: ['--key=k', '', 'x'], env: { A: 'k', B: '' }, cwd: '/d/sub' },
    missing: ['NO', 'GONE'],
  });
});

test('a pasted token works with the white space around it', () => {
  const { transport } = expand(
    { url: ' https://x/mcp\n', headers: { Authorization: 'Bearer ${T}' } },
    { T: 'abc \r\n' },
  );
  expect(transport).toMatchObject({ url: 'https://x/mcp', headers: { Authorization: 'Bearer abc' } });
});

test('an argument that is white space stays', () => {
  expect(expand({ command: 'cut', args: ['-d', ' '] }).transport).toMatchObject({ args: ['-d', ' '] });
});

test("headers see the server's own env first, expanded", () => {
  const config = {
    url: 'https://x/mcp',
    env: { TOKEN: 'own-${V}' },
    headers: { 'X-A': '${TOKEN}', 'X-B': '${OTHER}' },
  };
  expect(expand(config, { TOKEN: 'outer', OTHER: 'o', V: '1' }).transport).toMatchObject({
    headers: { 'X-A': 'own-1', 'X-B': 'o' },
  });
});

test('an API description is expanded, the inline document in it is not', () => {
  const openapi = {
    url: '${BASE}/o.json',
    security: { apiKey: { value: ' ${K} ' } },
    schema: { info: { description: '${K}' } },
  };
  expect(expand({ openapi, headers: { A: '${K}' } }, { BASE: 'https://api', K: 'k' }).transport).toMatchObject({
    openapi: {
      url: 'https://api/o.json',
      security: { apiKey: { value: 'k' } },
      schema: { info: { description: '${K}' } },
    },
    headers: { A: 'k' },
  });
});

describe('one text', () => {
  const variables = { A: '1', EMPTY: '', TRICK: '${A}', lower: 'l' };
  test.each([
    ['${A}', '1'],
    ['x${A}y${lower}', 'x1yl'],
    ['${EMPTY:-d}', 'd'],
    ['${EMPTY}', ''],
    ['${NO:-}', ''],
    ['${NO:-a-b:c}', 'a-b:c'],
    ['${NO:-${A}}', '1'],
    ['${NO:-${NOPE:-${A}}!}', '1!'],
    ['${TRICK}', '${A}'],
    ['$A', '$A'],
    ['$100', '$100'],
    ['${A', '${A'],
    ['${NO:-x', '${NO:-x'],
    ['${ A }', '${ A }'],
    ['${env:A}', '${env:A}'],
    ['$${A}', '$1'],
    ['${__proto__:-none}', 'none'],
    ['${constructor:-none}', 'none'],
  ])('%s is %s', (text, expected) => {
    expect(expandText(text, [variables], new Set(), noFile)).toBe(expected);
  });
});

test('what a variable holds is never expanded again', () => {
  const piece = fc.constantFrom('${A}', '${B}', '${C:-${A}}', '$', '{', '}', 'x', '${');
  const text = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, text, (template, a, b) => {
      // With values that cannot be mistaken for placeholders the result is the same, letter for letter, after they are
      // put in.
      const expected = expandText(template, [{ A: '\u0001', B: '\u0002' }], new Set(), noFile)
        .replaceAll('\u0001', () => a || '\u0003')
        .replaceAll('\u0002', () => b || '\u0003');
      fc.pre(a !== '' && b !== '');
      expect(expandText(template, [{ A: a, B: b }], new Set(), noFile)).toBe(expected);
    }),
  );
});

test('the work grows with the text, not with its square', () => {
  // A second for each thousand characters more would be hours here.
  expect(expandText('${A:-'.repeat(1_000_000), [{}], new Set(), noFile)).toHaveLength(5_000_000);
  expect(expandText('${A:-'.repeat(5_000) + '}'.repeat(5_000), [{}], new Set(), noFile)).toMatch(/^(\$\{A:-)+\}+$/);
});

describe('what cannot be connected is refused by name, without its value', () => {
  test.each([
    ['header "X-Key" has a line break', { url: 'https://x', headers: { 'X-Key': 'hunter\n2' } }],
    ['header "X-Key" contains a control character', { url: 'https://x', headers: { 'X-Key': 'hunter\u00002' } }],
    ['header "X-Key" contains a character outside Latin-1', { url: 'https://x', headers: { 'X-Key': 'hunter→' } }],
    ['header "X Key" is no name', { url: 'https://x', headers: { 'X Key': 'hunter' } }],
    ['"url": expected an address', { url: '${HOST}/mcp', headers: {} }],
    ['"url": expected an address like https://example.com/mcp, found one without a host', { url: 'https://${NO}/mcp' }],
    ['"command" is empty', { command: '${NO}' }],
    ['"args[0]" contains a NUL', { command: 'x', args: ['hunter\0'] }],
    ['"env.A" contains a NUL', { command: 'x', env: { A: 'hunter\0' } }],
  ])('%s', (expected, config) => {
    const message = refusal(config);
    expect(message).toContain(`Cannot connect server "s": ${expected}`);
    expect(message).not.toContain('hunter');
  });
});

describe('${file:/path}', () => {
  const files: Record<string, string> = {
    '/run/a': 'of a ${V} ${file:/run/b}',
    '/run/b': 'b',
    '/run/url': 'https://x/mcp',
  };
  const readFile = (path: string): string => {
    const text = files[path];
    if (text === undefined) throw new HubError('misconfigured', `${path} does not exist (ENOENT)`);
    return text;
  };
  const transport = (config: Record<string, unknown>, given: typeof readFile | undefined = readFile) => {
    const server = parseSettings({ mcpServers: { s: config } }).settings.servers.get('s');
    if (server === undefined) throw new Error('no server');
    return expandServer(server, { V: 'v', RUN: '/run' }, given).transport;
  };

  test('works wherever ${NAME} does, and what the file holds is not expanded again', () => {
    expect(
      transport({
        command: '${file:/run/b}',
        args: ['--k=${file:/run/b}-${V}'],
        env: { A: '${file:/run/a}' },
        cwd: '/${file:/run/b}',
      }),
    ).toMatchObject({ command: 'b', args: ['--k=b-v'], env: { A: files['/run/a'] }, cwd: '/b' });
    expect(
      transport({
        url: '${file:/run/url}',
        headers: { Authorization: 'Bearer ${file:/run/b}' },
        oauth: { clientId: 'c', clientSecret: '${file:/run/b}' },
      }),
    ).toMatchObject({ url: 'https://x/mcp', headers: { Authorization: 'Bearer b' }, oauth: { clientSecret: 'b' } });
    expect(transport({ openapi: { url: 'https://x/${file:/run/b}', schema: { x: '${file:/run/b}' } } })).toMatchObject({
      openapi: { url: 'https://x/b', schema: { x: '${file:/run/b}' } },
    });
  });

  test('takes its folder, or all of its path, from variables, and may be a default', () => {
    const env = {
      A: '${file:${RUN}/b}',
      B: '${file:${NO:-/run}/b}',
      C: '${NO:-${file:/run/b}}',
      D: '${V:-${file:/none}}',
    };
    expect(transport({ command: 'x', env })).toMatchObject({ env: { A: 'b', B: 'b', C: 'b', D: 'v' } });
  });

  test('names the server and the file when it cannot be read', () => {
    expect(() => transport({ command: 'x', env: { A: '${file:/none}' } })).toThrow(
      'Cannot connect server "s": /none does not exist (ENOENT). Correct ${file:/none} in its settings, or the file.',
    );
  });

  test('reads nothing for a server that no admin vouches for', () => {
    const server = parseSettings({ mcpServers: { s: { url: 'https://x/${file:/run/b}' } } }).settings.servers.get('s');
    expect(() => server && expandServer(server, {})).toThrow(
      'Cannot connect server "s": only servers of admins may use ${file:…}. Take it out.',
    );
  });

  test('is no oddity to warn of', () => {
    const document = { mcpServers: { s: { command: 'x', env: { A: '${file:/run/b}', B: '${env:X}' } } } };
    expect(parseSettings(document).warnings.map(({ path }) => path)).toEqual(['mcpServers.s.env.B']);
  });
});
