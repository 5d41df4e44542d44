import type { Grant } from './grant.ts';
import { grantId } from './grant.ts';
import type { GrantFile } from './grant-file.ts';
import { createGrantMemory, type Grants } from './grants.ts';

/** Grants of a hub without replicas, in a file of its data folder. `changed` is called after each change. */
export async function openFileGrants(file: GrantFile, changed: () => void = () => undefined): Promise<Grants> {
  const { grants } = await file.load();
  const memory = createGrantMemory(grants, changed);
  /** The last replacement of each grant. */
  const replacing = new Map<string, Promise<unknown>>();
  const save = () => file.save(() => ({ grants: memory.all(), isCopy: false }));

  async function set(grant: Grant): Promise<void> {
    memory.put(grant);
    await save();
  }

  async function replace(old: Grant, work: (old: Grant) => Promise<Grant>): Promise<Grant | undefined> {
    const before = memory.get(old);
    if (before !== undefined && before !== old) return before;
    const next = await work(old);
    // Meanwhile a user signed in again or signed out: that counts.
    if (memory.get(old) !== before) return memory.get(old);
    await set(next);
    return next;
  }

  return {
    ...memory,
    set,
    async delete(key) {
      if (memory.get(key) === undefined) return;
      memory.remove(key);
      await save();
    },
    replace(old, work) {
      const id = grantId(old);
      const earlier = replacing.get(id) ?? Promise.resolve();
      const replaced = earlier
        .catch(() => undefined)
        .then(() => replace(old, work))
        .finally(() => {
          if (replacing.get(id) === replaced) replacing.delete(id);
        });
      replacing.set(id, replaced);
      return replaced;
    },
    close: () => file.close(),
  };
}
