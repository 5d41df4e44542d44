/** Texts kept in this browser. Where storage is switched off nothing is kept, and nothing fails. */
export const storage = {
  get(key: string): string | undefined {
    try {
      return localStorage.getItem(`toolhub.${key}`) ?? undefined;
    } catch {
      return undefined;
    }
  },
  set(key: string, value: string | undefined): void {
    try {
      if (value === undefined) localStorage.removeItem(`toolhub.${key}`);
      else localStorage.setItem(`toolhub.${key}`, value);
    } catch {
      // See above.
    }
  },
  /** Removes all whose keys begin so. */
  removeAll(prefix: string): void {
    try {
      for (const key of Object.keys(localStorage))
        if (key.startsWith(`toolhub.${prefix}`)) localStorage.removeItem(key);
    } catch {
      // See above.
    }
  },
};
