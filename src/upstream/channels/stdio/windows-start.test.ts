import { expect, test } from 'vitest';
import { windowsStart } from './windows-start.ts';

const node = 'C:\\Program Files\\nodejs';
const files = new Set([
  `${node}\\node.exe`,
  `${node}\\npx.cmd`,
  `${node}\\node_modules\\npm\\bin\\npx-cli.js`,
  'C:\\Users\\ann\\AppData\\Roaming\\npm\\npm.cmd',
  'C:\\Users\\ann\\AppData\\Roaming\\npm\\node_modules\\npm\\bin\\npm-cli.js',
  'C:\\Users\\ann\\AppData\\Roaming\\npm\\mcp-notes.cmd',
  'C:\\Users\\ann\\.local\\bin\\uvx.exe',
  'D:\\servers\\run.bat',
]);
/** File systems of Windows tell no case apart. */
const isFile = (path: string) => [...files].some((file) => file.toLowerCase() === path.toLowerCase());
const Path = `"${node}";C:\\Users\\ann\\AppData\\Roaming\\npm;;C:\\Users\\ann\\.local\\bin`;
const start = (command: string, args: readonly string[] = [], cwd = 'D:\\servers') =>
  windowsStart(command, args, { env: { Path }, cwd, node: 'C:\\hub\\node.exe', isFile });

test('npx and npm are started as Node with their file, and every argument passes unchanged', () => {
  const args = ['-y', 'a-server', '--query', 'a "b" & calc %PATH%'];
  const npx = `${node}\\node_modules\\npm\\bin\\npx-cli.js`;
  expect(start('npx', args)).toEqual({ command: `${node}\\node.exe`, args: [npx, ...args], isScript: false });
  expect(start('npx.cmd', args).args[0]).toBe(npx);
  // One that npm installed for the user has no Node beside it.
  expect(start('npm', ['exec']).command).toBe('C:\\hub\\node.exe');
});

test('programs are found by PATH and PATHEXT, and started by themselves', () => {
  expect(start('uvx', ['a"b'])).toEqual({
    command: 'C:\\Users\\ann\\.local\\bin\\uvx.exe',
    args: ['a"b'],
    isScript: false,
  });
  expect(start('node').command).toBe(`${node}\\node.exe`);
});

test('a script goes through cmd.exe, and gets no argument that could begin another command there', () => {
  expect(start('mcp-notes', ['a b', '&c'])).toMatchObject({ isScript: true, args: ['a b', '&c'] });
  for (const arg of ['a" & calc & "', '%SECRET%', 'a\nb', 'a\rb'])
    expect(() => start('mcp-notes', [arg])).toThrow(/is a script of Windows/);
});

test('a command is looked for in the current folder only when it names a folder', () => {
  // Given to Windows, it would start D:\\servers\\run.bat.
  for (const name of ['run', 'run.bat', 'missing'])
    expect(() => start(name)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  expect(start('.\\missing', ['a'])).toEqual({ command: '.\\missing', args: ['a'], isScript: false });
  expect(start('.\\run')).toMatchObject({ command: 'D:\\servers\\run.bat', isScript: true });
  expect(start('D:\\servers\\run.bat', [], 'C:\\')).toMatchObject({ isScript: true });
});
