// node bench/search/bundle.mjs: before any other script here is run by itself. `npm run bench:search` does it.
import { bundle } from '../../scripts/bundle.mjs';

await bundle({ hub: 'bench/search/hub.ts' }, '.built-bench');
