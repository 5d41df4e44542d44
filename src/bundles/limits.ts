/** Bounds of uploaded bundles, with their reasons. Times in milliseconds, sizes in bytes. */
export const bundleLimits = {
  /** A bundle file, the entries in it, and what they may unpack to (CONTRACT §4, MCPB upload). */
  bundleBytes: 200 * 1024 * 1024,
  bundleEntries: 10_000,
  bundleUnpackedBytes: 1024 * 1024 * 1024,
  /**
   * An entry that inflates to more than this many times its size, once it is past the given bytes, is a bomb; source
   * code reaches 20.
   */
  bundleRatio: 200,
  bundleRatioFromBytes: 16 * 1024 * 1024,
  /** A path inside a bundle; the folder it is unpacked to comes on top, and file systems end at 4 096. */
  bundlePathBytes: 1_024,
  /** `manifest.json` of a bundle; the largest known ones, with every tool described, stay under 100 kB. */
  bundleManifestBytes: 1024 * 1024,
  /** Folders kept side by side for one version of a bundle; each replace makes one and removes another. */
  bundleCopies: 100,
  /** What an interrupted unpacking left is removed once it is this old: no unpacking takes that long. */
  bundleLeftoverMs: 60 * 60_000,
} as const;
