/** The folder of the package. The sources lie one folder deeper than the bundle that is made of them. */
const root = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../', import.meta.url);

/** Where a file is that comes with the hub, by its path in the package: `models/words.bin`. */
export function shipped(path: string): URL {
  return new URL(path, root);
}
