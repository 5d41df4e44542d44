import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { rolldown } from 'rolldown';
import { licences } from './licences.mjs';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
/** What is installed beside the hub: native code, whole servers, and what is loaded only where it is used. */
const installed = Object.keys(dependencies).map((name) => new RegExp(`^${name}(?:/|$)`));

/** CommonJS starts quicker than modules do, and can be compiled ahead (decisions/0027). */
const commonJs = {
  name: 'module-kind',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "commonjs" }\n' });
  },
};

/** The modules of a package that brings CommonJS too, of which nothing that is not used could be left out. */
const modules = {
  name: 'modules-of-opentelemetry',
  async resolveId(source, importer, options) {
    if (!source.startsWith('@opentelemetry/')) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    const module = found?.id.replace('/build/src/', '/build/esm/');
    return module !== undefined && existsSync(module) ? module : found;
  },
};

/**
 * What libraries import of Node when they need it is taken at once: in a script that was compiled ahead, `import()` of
 * it prints a warning of Node between the lines of the log.
 */
const modulesOfNode = {
  name: 'modules-of-node',
  transform: {
    filter: { code: /\bimport\(['"]/ },
    handler: (code) =>
      code.replaceAll(/\bimport\((['"])([\w:/]+)\1\)/g, (written, _quote, id) =>
        isBuiltin(id) ? `Promise.resolve(process.getBuiltinModule('${id}'))` : written,
      ),
  },
};

/**
 * Bundles `entries` (file names by the name of what is made of them) into `folder`, flat and readable, and says the
 * names of the files that it wrote. A bundle must lie in a folder of its own directly below the project: so it finds
 * what is shipped beside it (src/core/shipped.ts).
 */
export async function bundle(entries, folder) {
  const build = await rolldown({
    input: entries,
    platform: 'node',
    external: installed,
    // What Node would take of it requires its own files in a way that no bundler follows.
    resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
    plugins: [modules, modulesOfNode, licences(), commonJs],
  });
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name].js' };
  // ASCII alone takes V8 half of the memory; what comments say stays in the sources.
  const text = { charset: 'ascii', comments: { legal: false, jsdoc: false, annotation: true } };
  const { output } = await build.write({ dir: folder, format: 'cjs', ...text, ...names });
  await build.close();
  return output.map(({ fileName }) => fileName);
}
