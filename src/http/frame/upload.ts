import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { bundleLimits } from '../../bundles/limits.ts';
import { HubError } from '../../core/errors.ts';
import { saying } from '../../core/sentences.ts';
import { diskError, errnoOf } from '../../disk/disk-error.ts';
import { httpLimits } from '../limits.ts';
import { stillAllowed } from './caller.ts';
import { bodyChunks } from './unread.ts';

/** A form with one file, which lies on the disk. */
export interface Upload {
  readonly file: string;
  /** What the uploader called it. */
  readonly filename: string;
  readonly fields: ReadonlyMap<string, string>;
}

export interface UploadPlace {
  readonly folder: string;
  /** Begin of the file's name there. */
  readonly prefix: string;
  /** Names of the form field that may carry the file. */
  readonly names: readonly string[];
  /** Names of the other fields. */
  readonly fields: readonly string[];
}

/**
 * Streams the one file of a `multipart/form-data` request to the disk and hands it to `use`; afterwards the file is
 * gone, whatever happened. Throws HubError `wrong_type` (no form), `too_large`, `invalid_input` (no file, a file too
 * many or under another name, a field that is unknown or there twice, a form that breaks off) and `misconfigured` (the
 * disk).
 */
export async function withUpload<T>(
  request: Request,
  place: UploadPlace,
  use: (upload: Upload) => Promise<T>,
): Promise<T> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(type)) {
    throw new HubError('wrong_type', 'The upload must be multipart/form-data with a boundary, as curl -F sends it.');
  }
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > bundleLimits.bundleBytes + httpLimits.formBytes) throw tooLarge();
  const file = join(place.folder, `${place.prefix}${randomBytes(8).toString('hex')}`);
  try {
    await mkdir(place.folder, { recursive: true, mode: 0o700 }).catch(diskFault(place.folder));
    const form = await receive(request, type, file, place);
    await stillAllowed(request);
    return await use({ file, ...form });
  } finally {
    await rm(file, { force: true });
  }
}

/** Throws HubError `invalid_input` for a boundary that is none (RFC 2046 §5.1.1: at most 70 characters). */
function formParser(type: string) {
  try {
    return Busboy({
      headers: { 'content-type': type },
      limits: {
        fileSize: bundleLimits.bundleBytes,
        files: 1,
        fields: httpLimits.formFields,
        fieldSize: httpLimits.formFieldBytes,
        fieldNameSize: 100,
        headerPairs: 20,
      },
    });
  } catch {
    throw invalidForm('its boundary cannot be used; it may have 70 characters at most');
  }
}

/** Reads the form to its end, the file in it to `file`. */
async function receive(request: Request, type: string, file: string, { folder, names, fields: known }: UploadPlace) {
  const expected = names.map((name) => `"${name}"`).join(' or ');
  const fields = new Map<string, string>();
  let filename: string | undefined;
  let problem: HubError | undefined;
  let written: Promise<void> = Promise.resolve();
  let closed: Promise<void> = Promise.resolve();
  const stop = new AbortController();
  const refuse = (error: HubError) => {
    problem ??= error;
    stop.abort();
  };
  const parser = formParser(type);
  parser.on('file', (name: string, stream: BusboyFileStream, given: string) => {
    if (!names.includes(name)) {
      refuse(invalidForm(`the file must be in the field ${expected}, not ${JSON.stringify(name.slice(0, 100))}`));
      stream.resume();
      return;
    }
    filename = given;
    stream.on('limit', () => refuse(tooLarge()));
    const kept = createWriteStream(file, { flags: 'wx', mode: 0o600 });
    closed = new Promise<void>((resolve) => kept.once('close', () => resolve()));
    written = pipeline(stream, kept, { signal: stop.signal }).catch(diskFault(folder));
    // A disk that is full ends the reading; everything else is heard below.
    written.catch((error: unknown) => {
      if (error instanceof HubError) refuse(error);
    });
  });
  parser.on('field', (name: string, value: string, _: boolean, isCut: boolean) => {
    const shown = JSON.stringify(name.slice(0, 100));
    // A mistyped one must not be lost without a word (CONTRACT §7).
    if (!known.includes(name))
      refuse(invalidForm(`the field ${shown} is unknown. Its fields are the file in ${expected}, ${known.join(', ')}`));
    if (fields.has(name)) refuse(invalidForm(`the field ${shown} is there twice`));
    if (isCut) refuse(invalidForm(`the field ${shown} is longer than ${httpLimits.formFieldBytes} bytes`));
    fields.set(name, value);
  });
  parser.on('filesLimit', () => refuse(invalidForm('it has more than one file')));
  parser.on('fieldsLimit', () => refuse(invalidForm(`it has more than ${httpLimits.formFields} fields`)));
  try {
    const source = Readable.from(bodyChunks(request), { objectMode: false });
    await pipeline(source, parser, { signal: stop.signal });
    await written;
  } catch (error) {
    // The parser does not tell the file that no more is coming.
    stop.abort();
    await written.catch(() => {});
    // A file that is still being opened would be there again after it was removed.
    await closed;
    throw problem ?? invalidForm('it breaks off or is no form', error);
  }
  if (problem) throw problem;
  if (filename === undefined) throw invalidForm(`it has no file. Send the bundle in the field ${expected}`);
  return { filename, fields };
}

/** Rethrows what the file system says in words of ours. */
function diskFault(folder: string) {
  return (error: unknown): never => {
    throw /^E[A-Z]+$/.test(errnoOf(error) ?? '') ? diskError(error, 'Cannot keep the upload', folder) : error;
  };
}

function tooLarge(): HubError {
  return saying('too_large', 'upload_too_large', { megabytes: `${bundleLimits.bundleBytes / 1024 / 1024}` });
}

function invalidForm(reason: string, cause?: unknown): HubError {
  return new HubError('invalid_input', `Cannot read the upload: ${reason}.`, { cause });
}
