import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { zip, type ZipEntry } from '../../test/kit/zip.ts';
import { HubError } from '../core/errors.ts';
import type { SettingsDocument } from '../settings/backend.ts';
import { settingsFile } from '../settings/file.ts';
import { openSettings } from '../settings/store.ts';
import { removeBundle } from './origin.ts';
import { type BundleUpload, importBundle } from './upload.ts';

const work = mkdtempSync(join(tmpdir(), 'toolhub-upload-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const host = { platform: 'linux', home: '/home/ada' };

/** A hub's settings and data folder, and what is needed to upload to them. */
async function hub(initial: SettingsDocument = {}) {
  const dataDir = mkdtempSync(join(work, 'data-'));
  const backend = settingsFile(join(dataDir, 'mcp_settings.json'));
  const store = await openSettings({ backend, log: silent, initial });
  afterAll(() => store.close());
  const bundles = () => (existsSync(join(dataDir, 'bundles')) ? readdirSync(join(dataDir, 'bundles')).sort() : []);
  const upload = (archive: Buffer, more: Partial<BundleUpload> = {}) => {
    const file = join(dataDir, 'upload');
    writeFileSync(file, archive);
    const filename = 'some.mcpb';
    return importBundle({
      file,
      filename,
      replace: false,
      userConfig: {},
      change: (edit) => store.change(edit),
      dataDir,
      host,
      ...more,
    });
  };
  const refusal = async (archive: Buffer, more: Partial<BundleUpload> = {}) => {
    const before = [JSON.stringify(store.document), bundles()];
    const error = await upload(archive, more).catch((thrown: unknown) => thrown);
    expect([JSON.stringify(store.document), bundles()]).toEqual(before);
    if (!(error instanceof HubError)) throw new Error('was accepted', { cause: error });
    return error;
  };
  const entry = (name: string) => store.document.mcpServers?.[name];
  return { dataDir, store, bundles, upload, refusal, entry };
}

const script = '#!/bin/sh\necho "$KEY"';
function bundle(more: object = {}, files: ZipEntry[] = []): Buffer {
  const manifest = {
    manifest_version: '0.3',
    name: 'notes',
    version: '1.0.0',
    description: 'Takes notes',
    server: {
      type: 'binary',
      entry_point: 'bin/run',
      mcp_config: {
        command: '${__dirname}/bin/run',
        args: ['--level', '${user_config.level}'],
        env: { KEY: '${user_config.key}' },
      },
    },
    user_config: {
      key: { type: 'string', title: 'Key', description: '', required: true, sensitive: true },
      level: { type: 'number', title: 'Level', description: '', default: 1 },
    },
    ...more,
  };
  const all: ZipEntry[] = [
    { name: 'manifest.json', data: JSON.stringify(manifest) },
    { name: 'bin/run', data: script },
  ];
  return zip([...all, ...files]);
}

describe('an uploaded bundle', () => {
  test('becomes a server that can be started', async () => {
    const { upload, entry, bundles, dataDir } = await hub();
    const answer = await upload(bundle(), { userConfig: { key: 'hunter2' }, owner: 'ada' });
    const folder = join(dataDir, 'bundles', 'notes-1.0.0');
    expect(bundles()).toEqual(['notes-1.0.0']);
    expect(entry('notes')).toEqual({
      type: 'stdio',
      command: join(folder, 'bin/run'),
      args: ['--level', '1'],
      env: { KEY: 'hunter2' },
      cwd: folder,
      description: 'Takes notes',
      enabled: true,
      owner: 'ada',
      bundle: { name: 'notes', version: '1.0.0', folder: 'notes-1.0.0', missing: [], userConfig: {} },
    });
    const { command } = entry('notes') as { command: string };
    expect(execFileSync(command, { env: { KEY: 'runs' } }).toString()).toBe('runs\n');
    expect(answer).toMatchObject({
      manifest: { name: 'notes' },
      server: { name: 'notes' },
      requiredConfig: [],
      notes: [],
    });
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  });

  test('waits, disabled, for what it needs', async () => {
    const { upload, entry } = await hub();
    const { requiredConfig, server } = await upload(bundle(), { filename: 'old.DXT' });
    expect(requiredConfig.map(({ key }) => key)).toEqual(['key']);
    expect([server.config.enabled, entry('notes')?.['enabled']]).toEqual([false, false]);
  });

  test('is refused while its name is taken, before anything is unpacked', async () => {
    const { refusal } = await hub({ mcpServers: { notes: { command: 'x' } } });
    const error = await refusal(bundle());
    expect([error.code, error.message]).toEqual(['conflict', expect.stringContaining('replace=true')]);
  });

  test.each([
    ['invalid_input', 'without a manifest', zip([{ name: 'a', data: '' }])],
    ['invalid_input', 'with the manifest in a folder', zip([{ name: 'notes/manifest.json', data: '{}' }])],
    ['invalid_input', 'with a bad manifest', bundle({ name: '../notes' })],
    ['invalid_input', 'whose program is not in it', bundle({ server: { type: 'binary', entry_point: 'bin/other' } })],
    ['invalid_input', 'that leads outside', bundle({}, [{ name: '../evil', data: 'x' }])],
    ['invalid_input', 'with a file that is damaged', bundle({}, [{ name: 'x', data: 'x', claims: { crc: 5 } }])],
    ['too_large', 'with a manifest of two megabytes', bundle({ long_description: 'x'.repeat(2 ** 21) })],
  ])('%s: %s', async (code, _, archive) => {
    const { refusal } = await hub();
    expect((await refusal(archive)).code).toBe(code);
  });

  test('is refused under another kind of name, or with values that were not asked for', async () => {
    const { refusal } = await hub();
    expect((await refusal(bundle(), { filename: 'notes.zip' })).message).toContain('notes.zip');
    expect((await refusal(bundle(), { userConfig: { other: 1 } })).problems[0]?.path).toBe('userConfig.other');
  });

  test('leaves nothing when the settings cannot be written', async () => {
    const { refusal, store } = await hub();
    let calls = 0;
    const change: BundleUpload['change'] = (edit) => {
      if (++calls > 1) throw new HubError('misconfigured', 'the settings are read-only');
      return store.change(edit);
    };
    expect((await refusal(bundle(), { change })).message).toBe('the settings are read-only');
  });
});

describe('a replaced bundle', () => {
  test('takes the place of the old one, decisions and values kept', async () => {
    const { upload, entry, bundles, store } = await hub();
    await upload(bundle(), { userConfig: { key: 'hunter2', level: 7 } });
    await store.change((draft) => {
      Object.assign(draft.mcpServers?.['notes'] ?? {}, { visibility: 'public', tools: { add: { enabled: false } } });
    });
    const answer = await upload(bundle({ version: '2.0.0' }), { replace: true });
    expect(bundles()).toEqual(['notes-2.0.0']);
    expect(entry('notes')).toMatchObject({
      args: ['--level', '7'],
      env: { KEY: 'hunter2' },
      visibility: 'public',
      tools: { add: { enabled: false } },
      enabled: true,
      bundle: { version: '2.0.0', userConfig: { level: 7 } },
    });
    expect(JSON.stringify([answer, entry('notes')?.['bundle']])).not.toContain('hunter2');
  });

  test('of the same version gets a folder of its own, and the old one goes', async () => {
    const { upload, bundles, entry } = await hub();
    for (const folder of ['notes-1.0.0', 'notes-1.0.0-2', 'notes-1.0.0']) {
      await upload(bundle(), { replace: true });
      expect([bundles(), entry('notes')?.['bundle']]).toMatchObject([[folder], { folder }]);
    }
  });

  test('leaves its folder to another server that runs from it, and the last one takes it along', async () => {
    const { upload, bundles, store, entry } = await hub();
    await upload(bundle());
    await store.change((draft) => void Object.assign(draft.mcpServers ?? {}, { copy: { ...entry('notes') } }));
    await upload(bundle({ version: '2.0.0' }), { replace: true });
    expect(bundles()).toEqual(['notes-1.0.0', 'notes-2.0.0']);
    await store.change((draft) => {
      draft.mcpServers = { notes: draft.mcpServers?.['copy'] ?? {} };
    });
    await upload(bundle({ version: '3.0.0' }), { replace: true });
    expect(bundles()).toEqual(['notes-2.0.0', 'notes-3.0.0']);
  });

  test('runs once it has what it waited for, but not against the operator’s will', async () => {
    const { upload, entry, store } = await hub();
    await upload(bundle());
    await upload(bundle(), { replace: true, userConfig: { key: 'k' } });
    expect(entry('notes')?.['enabled']).toBe(true);
    await store.change((draft) => void Object.assign(draft.mcpServers?.['notes'] ?? {}, { enabled: false }));
    await upload(bundle({ version: '3' }), { replace: true });
    expect(entry('notes')).toMatchObject({ enabled: false, env: { KEY: 'k' } });
  });

  test('never hands the secrets of a server that was no bundle to one', async () => {
    const { upload, entry } = await hub({ mcpServers: { notes: { command: 'x', env: { KEY: 'hunter2' } } } });
    await upload(bundle(), { replace: true });
    expect(JSON.stringify(entry('notes'))).not.toContain('hunter2');
  });
});

describe('what was changed by hand in a replaced bundle', () => {
  const env = { KEY: '${user_config.key}', MODE: 'fast', LEVEL: '${user_config.level}', HOME_OF: '${HOME}/notes' };
  const version = (number: string, more: object = {}) =>
    bundle({
      version: number,
      description: `Takes notes, version ${number}`,
      server: {
        type: 'node',
        entry_point: 'bin/run',
        mcp_config: { command: 'node', args: ['bin/run'], env, ...more },
      },
    });
  async function changed(edit: (entry: Record<string, unknown>, env: Record<string, string>) => void) {
    const some = await hub();
    await some.upload(version('1'), { userConfig: { key: 'hunter2' } });
    await some.store.change((draft) => {
      const entry = draft.mcpServers?.['notes'] ?? {};
      edit(entry, entry['env'] as Record<string, string>);
    });
    return some;
  }

  test('stays, and what was not is taken from the new version', async () => {
    const { upload, entry } = await changed((_, env) =>
      Object.assign(env, { MODE: 'careful', HTTP_PROXY: 'secret@proxy' }),
    );
    const next = { env: { ...env, MODE: 'faster', HOME_OF: '${HOME}/all-notes', NEW: 'yes' } };
    const answer = await upload(version('2', next), { replace: true });
    expect(entry('notes')).toMatchObject({
      description: 'Takes notes, version 2',
      env: {
        KEY: 'hunter2',
        MODE: 'careful',
        LEVEL: '1',
        HOME_OF: '/home/ada/all-notes',
        NEW: 'yes',
        HTTP_PROXY: 'secret@proxy',
      },
    });
    expect(answer.notes).toEqual([]);
    expect(JSON.stringify(answer)).not.toMatch(/hunter2|secret@proxy/);
    // And so it goes on, whatever the version after that says.
    await upload(version('3', next), { replace: true });
    expect(entry('notes')).toMatchObject({ env: { MODE: 'careful', HTTP_PROXY: 'secret@proxy', NEW: 'yes' } });
  });

  test('stays away if it was taken away, and the description stays', async () => {
    const { upload, entry } = await changed((entry, env) => {
      delete env['MODE'];
      entry['description'] = 'Mine';
    });
    await upload(version('2'), { replace: true });
    expect(entry('notes')?.['env']).toEqual({ KEY: 'hunter2', LEVEL: '1', HOME_OF: '/home/ada/notes' });
    expect(entry('notes')?.['description']).toBe('Mine');
  });

  test('gives way to what is given with the upload', async () => {
    const { upload, entry } = await changed((_, env) => Object.assign(env, { LEVEL: '5', KEY: 'changed' }));
    await upload(version('2'), { replace: true });
    expect(entry('notes')).toMatchObject({ env: { LEVEL: '5', KEY: 'changed' } });
    await upload(version('3'), { replace: true, userConfig: { level: 9, key: 'hunter3' } });
    expect(entry('notes')).toMatchObject({ env: { LEVEL: '9', KEY: 'hunter3' } });
  });

  test('goes where it is an argument, and the answer says so', async () => {
    const { upload, entry } = await changed((entry) => (entry['args'] = ['bin/run', '--verbose']));
    const { notes } = await upload(version('2'), { replace: true });
    expect(entry('notes')?.['args']).toEqual(['bin/run']);
    expect(notes.join()).toContain('arguments');
  });

  test('goes to an unknown place: the manifest of the version before is gone', async () => {
    const { upload, entry, dataDir } = await changed((_, env) => Object.assign(env, { MODE: 'careful' }));
    rmSync(join(dataDir, 'bundles', 'notes-1', 'manifest.json'));
    await upload(version('2'), { replace: true });
    expect(entry('notes')).toMatchObject({ env: { MODE: 'fast', KEY: 'hunter2' } });
  });
});

describe('a deleted bundle', () => {
  test('takes its folder along, and nothing else', async () => {
    const { upload, entry, bundles, dataDir } = await hub();
    await upload(bundle());
    await upload(bundle({ name: 'other' }));
    await removeBundle(entry('notes'), dataDir);
    expect(bundles()).toEqual(['other-1.0.0']);
    for (const folder of ['../upload', '..', '.', '', '/etc', 'a/b', 5]) {
      await removeBundle({ bundle: { folder } }, dataDir);
    }
    await removeBundle({ command: 'x' }, dataDir);
    expect([bundles(), existsSync(join(dataDir, 'upload'))]).toEqual([['other-1.0.0'], true]);
  });
});
