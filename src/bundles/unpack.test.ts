import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { zip, type ZipEntry } from '../../test/kit/zip.ts';
import { entryPath } from './entry-path.ts';
import { keepFolder, removeFolder, removeLeftovers, unfinished } from './folders.ts';
import { bundleLimits } from './limits.ts';
import { type BundleBounds, openBundle } from './unpack.ts';

const work = mkdtempSync(join(tmpdir(), 'toolhub-unpack-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

let count = 0;
/** Unpacks an archive into a folder of its own and tells everything that is on the disk afterwards. */
async function unpack(archive: Buffer, bounds: Partial<BundleBounds> = {}) {
  const place = join(work, String(++count));
  const file = `${place}.mcpb`;
  writeFileSync(file, archive);
  const outcome = await attempt(file, place, { ...bundleLimits, ...bounds });
  return { ...outcome, left: existsSync(place) ? readdirSync(place) : [], place };
}

async function attempt(file: string, place: string, bounds: BundleBounds) {
  try {
    const bundle = await openBundle(file, bounds);
    try {
      return { folder: await bundle.unpack(place), files: bundle.files };
    } finally {
      bundle.close();
    }
  } catch (error) {
    return { error: error as Error & { code: string } };
  }
}

async function refusal(entries: readonly ZipEntry[], bounds: Partial<BundleBounds> = {}) {
  const { error, left } = await unpack(zip(entries), bounds);
  return { code: error?.code, message: error?.message, left };
}

describe('a sound bundle', () => {
  test('is unpacked as it was packed, with execute bits and nothing else kept of the modes', async () => {
    const data = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 256));
    const { folder = '' } = await unpack(
      zip([
        { name: 'server/', mode: 0o040700 },
        { name: 'server/index.js', data: 'hello' },
        { name: 'bin/run', data, mode: 0o106751 | 0o100000 },
        { name: 'stored', data: 'as it is', store: true },
        { name: 'empty', data: '' },
        { name: 'from-dos', data: 'x', mode: 0 },
        { name: './deep//er/ünï.txt', data: 'ü' },
      ]),
    );
    const read = (path: string) => readFileSync(join(folder, path));
    const mode = (path: string) => statSync(join(folder, path)).mode & 0o7777;
    expect(read('server/index.js').toString()).toBe('hello');
    expect(read('bin/run').equals(data)).toBe(true);
    expect(read('stored').toString()).toBe('as it is');
    expect(read('empty').length).toBe(0);
    expect(read('deep/er/ünï.txt').toString()).toBe('ü');
    expect([mode('server/index.js'), mode('bin/run'), mode('from-dos')]).toEqual([0o644, 0o755, 0o644]);
  });

  test('made by another program is read, signed or not', async () => {
    const folder = mkdtempSync(join(work, 'zip-'));
    writeFileSync(join(folder, 'manifest.json'), '{}');
    execFileSync('zip', ['-q', '-r', 'made.zip', 'manifest.json'], { cwd: folder });
    const made = readFileSync(join(folder, 'made.zip'));
    const signature = Buffer.concat([Buffer.from('MCPB_SIG_V1'), Buffer.alloc(300, 7), Buffer.from('MCPB_SIG_END')]);
    const announced = zip([{ name: 'manifest.json', data: '{}' }], { comment: signature });
    for (const archive of [made, Buffer.concat([made, signature]), announced]) {
      expect((await unpack(archive)).files).toEqual(new Set(['manifest.json']));
    }
  });

  test('may have exactly as many entries as are allowed', async () => {
    const entries = Array.from({ length: 300 }, (_, i) => ({ name: `d${i % 50}/f${i}`, data: 'x', store: true }));
    expect((await unpack(zip(entries), { bundleEntries: 300 })).files?.size).toBe(300);
    expect((await unpack(zip(entries), { bundleEntries: 299 })).error?.code).toBe('too_large');
  });
});

describe('a bundle cannot write outside its folder', () => {
  const outside = [
    '../evil', 'a/../../evil', '/etc/evil', '//host/share', 'C:/evil', 'c:evil', 'a\\..\\..\\evil', '\\\\host\\share', '..', 'a/..',
    'ok\0/../evil', 'a:stream', 'tail. /x', '.. /x', 'a/.../x', 'line\nbreak',
  ]; // prettier-ignore

  test.each(outside)('by the path %j', async (name) => {
    const found = await refusal([
      { name: 'manifest.json', data: '{}' },
      { name, data: 'evil' },
    ]);
    expect(found).toMatchObject({ code: 'invalid_input', left: [] });
  });

  test('by any path at all: what is accepted lies below the folder', () => {
    const part = fc.constantFrom('..', '.', '', 'a', '...', ' ', 'C:', '\\', '/', '//', '\u0000', 'ü', '~', '-rf');
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string()), { maxLength: 8 }), (parts) => {
        const segments = entryPath(parts.join('/'));
        if (typeof segments === 'string') return;
        const path = join('/root/of/it', ...segments);
        expect(path === '/root/of/it' || path.startsWith('/root/of/it/')).toBe(true);
        expect(path.split('/').slice(4)).toEqual(segments);
      }),
    );
  });

  test.each([
    ['a symbolic link', { name: 'link', data: '/etc/passwd', mode: 0o120777 }],
    ['a symbolic link that stays inside', { name: 'link', data: 'manifest.json', mode: 0o120777 }],
    ['a device', { name: 'dev', mode: 0o020666 }],
    ['a named pipe', { name: 'pipe', mode: 0o010666 }],
    ['a folder that is a file', { name: 'folder', mode: 0o040755, data: 'x' }],
    ['a file without a name', { name: './.', data: 'x' }],
  ])('by %s', async (_, entry) => {
    expect(await refusal([{ name: 'manifest.json', data: '{}' }, entry])).toMatchObject({
      code: 'invalid_input',
      left: [],
    });
  });

  test.each([
    ['the same path twice', 'a/b', 'a/b'],
    ['the same path in other case', 'server/Index.js', 'server/index.js'],
    ['the same path in other Unicode form', 'caf\u00e9', 'cafe\u0301'],
    ['the same path written differently', 'a/b', 'a/./b'],
    ['a file where a folder is', 'a/b', 'a'],
    ['a folder where a file is', 'a', 'A/b'],
  ])('by %s', async (_, first, second) => {
    const found = await refusal([
      { name: first, data: 'one' },
      { name: second, data: 'two' },
    ]);
    expect(found).toMatchObject({ code: 'invalid_input', left: [] });
    expect(found.message).toContain(JSON.stringify(second));
  });
});

describe('a bundle cannot fill the disk or the memory', () => {
  const zeros = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024);

  test('by being large', async () => {
    const found = await refusal([{ name: 'a', data: zeros(2), store: true }], { bundleBytes: 1024 * 1024 });
    expect(found).toMatchObject({ code: 'too_large', left: [], message: expect.stringContaining('1 MB') });
  });

  test('by 20 000 entries, counted or not', async () => {
    const entries = Array.from({ length: 20_000 }, (_, i) => ({ name: `f${i}`, store: true }));
    expect(await refusal(entries)).toMatchObject({ code: 'too_large', left: [] });
    // A directory that counts only three of them has only three.
    expect((await unpack(zip(entries, { entryCount: 3 }))).files?.size).toBe(3);
  });

  test('by what it declares to unpack to, however many entries share the same bytes', async () => {
    const kernel = { name: 'kernel', data: zeros(8) };
    const copies = Array.from({ length: 200 }, (_, i) => ({ name: `copy${i}`, sharesDataOf: 0 }));
    expect(await refusal([kernel, ...copies])).toMatchObject({ code: 'too_large', left: [] });
  });

  test('by unpacking to more than it declares', async () => {
    const lie = { name: 'bomb', data: zeros(30), claims: { size: 10 } };
    expect(await refusal([lie])).toMatchObject({ code: 'invalid_input', left: [] });
  });

  test('by a single entry of zeros', async () => {
    const found = await refusal([{ name: 'bomb', data: zeros(40) }]);
    expect(found).toMatchObject({ code: 'too_large', left: [], message: expect.stringContaining('200 times') });
  });

  test('by many entries that are small enough one by one', async () => {
    const entries = Array.from({ length: 30 }, (_, i) => ({
      name: `f${i}`,
      data: zeros(1),
      claims: { size: 1024 * 1024 },
    }));
    expect(await refusal(entries, { bundleUnpackedBytes: 20 * 1024 * 1024 })).toMatchObject({
      code: 'too_large',
      left: [],
    });
  });
});

describe('a damaged bundle is refused and leaves nothing behind', () => {
  const good = zip([
    { name: 'manifest.json', data: '{"a":1}' },
    { name: 'big', data: Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * i) % 251)) },
  ]);

  test.each([0, 1, 21, 22, 100, good.length >> 1, good.length - 30, good.length - 1])(
    'cut after %i bytes',
    async (length) => {
      const { error, left } = await unpack(good.subarray(0, length));
      expect([error?.code, left]).toEqual(['invalid_input', []]);
    },
  );

  test('by any byte that changed: unpacked to what it was, or refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const bytes = Buffer.from(good);
        bytes[at] = ((bytes[at] ?? 0) + by) % 256;
        const { error, left, folder, place } = await unpack(bytes);
        if (error !== undefined)
          expect([['invalid_input', 'too_large'].includes(error.code), left]).toEqual([true, []]);
        else expect(folder?.startsWith(place)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ['a wrong checksum', { crc: 1 }],
    ['a wrong size', { size: 6 }],
    ['an unknown compression', { method: 99 }],
    ['encryption', { flags: 1 }],
  ])('with %s', async (_, claims) => {
    const found = await refusal([
      { name: 'first', data: 'fine' },
      { name: 'second', data: 'spoiled', claims },
    ]);
    expect(found).toMatchObject({ code: 'invalid_input', left: [] });
  });

  test('that is no zip at all', async () => {
    const { error } = await unpack(Buffer.from('{"mcpServers":{}}'));
    expect(error?.message).toBe('Cannot use the bundle: it is not a complete zip archive.');
  });
});

describe('a disk that takes no more', () => {
  test.runIf(existsSync('/usr/bin/prlimit'))('is the operator’s to mend, and nothing is left on it', async () => {
    const data = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * i) % 251));
    const archive = zip([
      { name: 'first', data: 'fits' },
      { name: 'second', data, store: true },
    ]);
    const fileSizes = (bytes: string) => execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}`]);
    const file = join(work, 'large.mcpb');
    writeFileSync(file, archive);
    fileSizes('1000000:unlimited');
    const place = join(work, 'full');
    const { error } = await attempt(file, place, bundleLimits).finally(() => fileSizes('unlimited:unlimited'));
    expect(error?.code).toBe('misconfigured');
    expect(error?.message).toMatch(/^Cannot unpack the bundle: no room left on the disk/);
    expect(readdirSync(place)).toEqual([]);
  });

  test('or is no folder is named', async () => {
    const file = join(work, 'plain-file');
    writeFileSync(file, '');
    const archive = join(work, 'ok.mcpb');
    writeFileSync(archive, zip([{ name: 'a', data: 'a' }]));
    const { error } = await attempt(archive, join(file, 'bundles'), bundleLimits);
    expect([error?.code, error?.message]).toEqual(['misconfigured', expect.stringContaining('is not a folder')]);
  });
});

describe('folders of bundles', () => {
  test('get the first name that is free, and go as a whole', async () => {
    const parent = mkdtempSync(join(work, 'folders-'));
    const archive = join(work, 'twice.mcpb');
    writeFileSync(archive, zip([{ name: 'a', data: 'a' }]));
    const bundle = await openBundle(archive);
    const names = [];
    for (let i = 0; i < 3; i++) names.push(await keepFolder(await bundle.unpack(parent), parent, 'fetch-1.0.0'));
    bundle.close();
    expect(names).toEqual(['fetch-1.0.0', 'fetch-1.0.0-2', 'fetch-1.0.0-3']);
    await removeFolder(parent, 'fetch-1.0.0-2');
    await removeFolder(parent, 'never-there');
    expect(readdirSync(parent).sort()).toEqual(['fetch-1.0.0', 'fetch-1.0.0-3']);
  });

  test('that were left unfinished go once they are old', async () => {
    const parent = mkdtempSync(join(work, 'left-'));
    for (const name of ['old', 'new']) writeFileSync(join(parent, `${unfinished}${name}`), '');
    utimesSync(join(parent, `${unfinished}old`), 1, 1);
    await removeLeftovers(parent);
    expect(readdirSync(parent)).toEqual([`${unfinished}new`]);
  });
});
