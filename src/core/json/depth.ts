/** True when something in the value lies deeper than `depth`. Iterative, because a deep value is the point. */
export function isDeeperThan(value: unknown, depth: number): boolean {
  let level: unknown[] = [value];
  for (let at = 0; at <= depth; at++) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      for (const member of Object.values(one)) if (typeof member === 'object' && member !== null) next.push(member);
    }
    if (next.length === 0) return false;
    level = next;
  }
  return true;
}
