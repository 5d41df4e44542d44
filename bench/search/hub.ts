// The parts of the hub that are measured, and that training and its measuring share. `bundle.mjs` makes
// `.built-bench/hub.js` of it, which the scripts import.
export { terms } from '../../src/smart/words/analyzer.ts';
export { toolDocument } from '../../src/smart/document.ts';
export { loadLocalEmbedder, toolBags } from '../../src/smart/embedder-local.ts';
export { ranking } from '../../src/smart/rank.ts';
export { createSmartIndex } from '../../src/smart/routing.ts';
export { createSearchEngine } from '../../src/smart/search-engine.ts';
export { toolTerms } from '../../src/smart/words/tool-terms.ts';
export { createCooperativeQueue } from '../../src/smart/cooperative-queue.ts';
export { openPins } from '../../src/governance/pins.ts';
