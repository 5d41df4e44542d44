// Which half of the paraphrased tools a tool belongs to: one is trained on when the other is to tell how well that
// works on tools never seen.
import { createHash } from 'node:crypto';

/** By server, so that no sibling of a tool gives it away. */
export function inSecondHalf(tool) {
  return createHash('sha1').update(tool.server).digest()[0] % 2 === 1;
}

/** Numbers in 0..1, the same ones in every run. */
export function random() {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}
let state = 7;
