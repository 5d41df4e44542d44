import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { HubError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { diskError, errnoOf } from '../disk/disk-error.ts';
import { closeToOthers } from '../disk/permissions.ts';
import { linkTarget, writeFileAtomic } from '../disk/write-file-atomic.ts';
import type { Loaded, Saved, SettingsBackend, SettingsDocument } from './backend.ts';
import { notJson, parseJsonText } from './document/syntax.ts';
import { settingsLimits } from './limits.ts';
import { watchFile } from './watch-file.ts';

/**
 * Settings in a JSON file that people edit too. Its revision is the hash of its bytes. With a `log` each reading closes
 * the file to other users of the machine (editors create a new file, usually readable for all) and logs it.
 */
export function settingsFile(file: string, log?: Logger): SettingsBackend {
  const path = resolve(file);
  let warned = '';
  const warnOnce = (message: string): void => {
    if (message !== warned) log?.warn(message);
    warned = message;
  };
  return {
    name: `settings file ${path}`,
    load: async () => {
      if (log) closeToOthers(`settings file ${path}`, path, { ...log, warn: warnOnce }, 'file');
      return load(path);
    },
    save: (document, basedOn) => save(path, document, basedOn),
    watch: (changed) => watchFile(path, changed),
  };
}

function load(path: string): Loaded {
  try {
    const bytes = readBytes(path);
    if (bytes === undefined) return { kind: 'missing' };
    const { value, notes } = parseJsonText(textOf(bytes));
    return { kind: 'found', document: value, revision: revisionOf(bytes), notes };
  } catch (error) {
    if (error instanceof HubError) return { kind: 'broken', error };
    return { kind: 'broken', error: diskError(error, `Cannot read settings file ${path}`, path) };
  }
}

async function save(path: string, document: SettingsDocument, basedOn: string | undefined): Promise<Saved> {
  const stale = new Error('stale');
  try {
    const old = readBytes(path);
    if (revisionOf(old) !== basedOn) return { kind: 'stale' };
    const bytes = Buffer.from(layOut(document, old));
    // Looked at again once the new bytes are on the disk: a hand edit between the two looks would be lost.
    const beforeSwap = () => {
      if (revisionOf(readBytes(path)) !== basedOn) throw stale;
    };
    try {
      await writeFileAtomic(path, bytes, { beforeSwap });
    } catch (error) {
      // Docker mounts a single file so that it can be written but not replaced.
      if (errnoOf(error) !== 'EBUSY' || old === undefined) throw error;
      await writeInPlace(path, bytes, old);
    }
    return { kind: 'saved', revision: revisionOf(bytes) ?? '' };
  } catch (error) {
    if (error === stale) return { kind: 'stale' };
    if (error instanceof HubError) throw error;
    throw diskError(error, `Cannot write settings file ${path}, it stays as it was`, dirname(await linkTarget(path)));
  }
}

/**
 * For a file that cannot be replaced. A failure puts the old bytes back; a crash in between is the one case that may
 * leave half a file.
 */
async function writeInPlace(path: string, bytes: Buffer, old: Buffer): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await overwrite(bytes);
  } catch (error) {
    await overwrite(old);
    throw error;
  } finally {
    await file.close();
  }

  async function overwrite(content: Buffer): Promise<void> {
    let written = 0;
    while (written < content.length) {
      written += (await file.write(content, written, content.length - written, written)).bytesWritten;
    }
    await file.truncate(content.length);
    await file.sync();
  }
}

/** The file's content; undefined when there is none. */
function readBytes(path: string): Buffer | undefined {
  try {
    const found = statSync(path);
    // A device or a pipe may never end.
    if (!found.isFile() && !found.isDirectory()) {
      throw new HubError('misconfigured', `Cannot read settings file ${path}: it is no file, but a device or a pipe.`);
    }
    const { size } = found;
    if (size > settingsLimits.settingsBytes) {
      throw new HubError(
        'too_large',
        `Settings file ${path} has ${size} bytes; at most ${settingsLimits.settingsBytes} are read.`,
      );
    }
    return readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function revisionOf(bytes: Buffer): string;
function revisionOf(bytes: Buffer | undefined): string | undefined;
function revisionOf(bytes: Buffer | undefined): string | undefined {
  return bytes && createHash('sha256').update(bytes).digest('hex');
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // What cannot be decoded becomes U+FFFD.
    const text = new TextDecoder().decode(bytes);
    const message = 'the file is not UTF-8 text; save it as UTF-8 (PowerShell: Set-Content -Encoding utf8)';
    throw notJson(text, Math.max(text.indexOf('\ufffd'), 0), message);
  }
}

/** The document as text in the old file's own indentation, line breaks and last line. */
function layOut(document: SettingsDocument, old: Buffer | undefined): string {
  const text = old?.toString() ?? '';
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  ';
  const lines = `${JSON.stringify(document, null, indent.slice(0, 10))}${text === '' || text.endsWith('\n') ? '\n' : ''}`;
  return text.includes('\r\n') ? lines.replaceAll('\n', '\r\n') : lines;
}
